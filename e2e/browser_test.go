//go:build e2e

package e2e

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"watertight.example/demo/control"
	"watertight.example/demo/faults"
	"watertight.example/demo/incident"
)

const (
	desktop = 1280
	phone   = 360
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

// A visitor breaks recommendations in the control room, sees what is hurt and what is protected within five seconds, mends it, and
// sees it heal.
func TestTheControlRoom(t *testing.T) {
	s := stack(t)
	s.waitWhole(t)
	b := newTab(t)
	b.fits(desktop)
	b.open(s.controlRoom(t))
	b.within(10*time.Second, `document.querySelector('[data-guard="productpage/recommendations"] .chip.closed')`)
	b.shoot("control-room")
	b.do("choose the place", chromedp.SetValue("#place", "Recommendations"))
	b.click("#kinds input[value=hang]")
	b.click("#break button[type=submit]")

	// The breaker opens after five calls of 120 ms that fail and last half a second, the page is taken once a second.
	opened := b.within(5*time.Second, `document.querySelector('[data-guard="productpage/recommendations"] .chip.open')`)
	noted := b.within(5*time.Second, `document.querySelector('[data-page=protected] .state').innerText.startsWith("Degraded")`)
	t.Logf("the breaker is seen open after %s, the degraded page %s later", opened.Round(time.Millisecond), noted.Round(time.Millisecond))
	b.shoot("control-room-broken")
	b.fits(phone)
	b.shoot("control-room-broken-phone")
	b.fits(desktop)

	b.click("#mend")
	healed := b.within(openFor+probeTime+5*time.Second, `document.querySelector('[data-guard="productpage/recommendations"] .chip.closed')`)
	b.within(5*time.Second, `document.querySelector('[data-page=protected] .state').innerText.startsWith("Whole")`)
	t.Logf("the breaker is seen closed %s after the mend", healed.Round(time.Millisecond))
}

// controlRoom opens one on the running stack, as demo control does, and gives its address. The stack has none of its own: its visitors
// would come to both pages during every other test.
func (s *Stack) controlRoom(t testing.TB) string {
	t.Helper()
	twin := func(name string) control.Twin {
		return control.Twin{Twin: incident.Twin{Target: s.URL(name), Internal: s.Internal(name)}, Public: s.URL(name) + "/products/42"}
	}
	cfg := control.Config{Protected: twin("productpage"), Naive: twin("productpage-naive"), Toxiproxy: s.API(), Hosts: []string{"127.0.0.1"},
		Rate: 4, Product: 42, Incident: incident.Times{Baseline: time.Second, Fault: time.Second, Recovery: time.Second}, OpenFor: openFor}
	for _, name := range shopServices {
		cfg.Services = append(cfg.Services, control.Service{Name: name, Internal: s.Internal(name)})
	}
	room, err := control.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- room.Run(ctx) }()
	server := httptest.NewServer(room.Handler())
	t.Cleanup(func() {
		cancel()
		server.CloseClientConnections()
		server.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return server.URL
}
