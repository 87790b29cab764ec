//go:build e2e

package e2e

import (
	"testing"
	"time"

	"watertight.example/demo/faults"
)

// A person looks around, buys, looks at the order and takes it back, at both widths.
func TestAPersonBuysInABrowser(t *testing.T) {
	s := stack(t)
	s.waitWhole(t)
	b := newTab(t)
	step := func(name string) {
		b.fits(phone)
		b.shoot("shop-" + name + "-phone")
		b.fits(desktop)
		b.shoot("shop-" + name)
	}
	b.open(s.URL("productpage") + "/")
	b.says("Watertight")
	step("home")
	b.open(s.URL("productpage") + "/products/42")
	b.says("Frequently bought together")
	step("product")
	b.click("#buy button")
	b.within(5*time.Second, `location.pathname === "/checkout"`)
	b.says("Order for")
	step("checkout")
	b.click("main form[method=post] button")
	b.says("Thank you!")
	step("order")
	b.click("form[action$=cancel] button")
	b.says("Your order is cancelled")
	step("cancelled")
	b.open(s.URL("productpage") + "/how-an-order-is-placed")
	b.says("orders dies")
	step("how-an-order-is-placed")
}

// Without recommendations the page says so, where a person sees it.
func TestAPersonSeesADegradedPage(t *testing.T) {
	s := stack(t)
	s.waitWhole(t)
	s.Break(t, faults.Fault{Kind: "refuse"}, "productpage-recommendations", "productpage-inventory")
	b := newTab(t)
	b.open(s.URL("productpage") + "/products/42")
	b.says("Stock counts may lag by up to 2 minutes")
	b.within(5*time.Second, `document.querySelector("details.made summary").innerText.includes("not all of it is live")`)
	b.fits(phone)
	b.shoot("shop-degraded-phone")
	b.fits(desktop)
	b.shoot("shop-degraded")
	s.Mend(t)
	s.waitWhole(t)
}
