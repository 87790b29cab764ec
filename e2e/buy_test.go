//go:build e2e

package e2e

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// orderPath is where a customer ends up after buying.
var orderPath = regexp.MustCompile(`^/orders/[0-9a-f-]{36}$`)

// TestACustomerBuys walks the whole way a customer walks: browse, search, open
// a product, order it, look at the order. What the customer was told must then
// be true in inventory and in recommendations.
func TestACustomerBuys(t *testing.T) {
	s := stack(t)
	v := newVisitor(t, s.URL("productpage"))

	home := v.get("/")
	want(t, home, http.StatusOK)
	if n := countProducts(home); n < 12 {
		t.Fatalf("the home page shows %d products", n)
	}
	found := v.get("/?q=lamp")
	want(t, found, http.StatusOK)
	if n := countProducts(found); n == 0 {
		t.Fatal("a search for lamps finds none")
	}

	const sku = 42 // the hot product: it certainly has recommendations
	before := s.available(t, sku)
	want(t, v.get("/products/42"), http.StatusOK)
	var facts facts
	eventually(t, "a whole page", func() bool { // the first one after a start may find its sources cold
		facts = pageFacts(t, s, sku)
		return len(facts.Degraded) == 0
	})
	if facts.Price == nil || facts.Price.Amount <= 0 || facts.Price.Currency != "EUR" {
		t.Errorf("price: %+v", facts.Price)
	}
	if facts.Stock == nil || facts.Stock.Available != before {
		t.Errorf("stock on the page %+v, in inventory %d", facts.Stock, before)
	}
	if len(facts.Recommendations) == 0 {
		t.Error("the hot product has no recommendations")
	}

	order := buy(t, v, sku)
	if !strings.Contains(strings.ToLower(order.text()), "thank") {
		t.Errorf("the order page does not thank the customer: %s", clip(order.text()))
	}
	if after := s.available(t, sku); after != before-1 {
		t.Errorf("available stock went from %d to %d, want one less", before, after)
	}
	id := strings.TrimPrefix(order.url.Path, "/orders/")
	eventually(t, "the reservation is committed", func() bool {
		var state string
		s.queryRow(t, "inventory", `SELECT state FROM reservations WHERE id = $1`, id).scan(&state)
		return state == "committed"
	})
	eventually(t, "the purchase reached recommendations", func() bool {
		return s.purchased(t, id)
	})
}

// TestReloadAndDoublePostAreOneOrder does what impatient customers do. The key
// in the form names one intent, so sending it again must show the same order.
func TestReloadAndDoublePostAreOneOrder(t *testing.T) {
	s := stack(t)
	v := newVisitor(t, s.URL("productpage"))
	const sku = 1003
	before := s.available(t, sku)

	form := v.submit(v.get("/products/1003"), "/checkout", nil)
	want(t, form, http.StatusOK)
	_, action, values := form.form(t, "/checkout")

	first := placed(t, v, v.post(action, values))
	second := placed(t, v, v.post(action, values))
	if first.url.Path != second.url.Path {
		t.Errorf("the same form sent twice made two orders: %s and %s", first.url.Path, second.url.Path)
	}
	if again := v.get(first.url.Path); again.status != http.StatusOK {
		t.Errorf("reloading the order answers %d", again.status)
	}
	if after := s.available(t, sku); after != before-1 {
		t.Errorf("available stock went from %d to %d, want one less", before, after)
	}
}

// TestASecondIntendedPurchaseIsASecondOrder guards against the opposite mistake:
// article 1's key is a hash of user, product and amount, which swallows the
// customer's second coffee.
func TestASecondIntendedPurchaseIsASecondOrder(t *testing.T) {
	s := stack(t)
	v := newVisitor(t, s.URL("productpage"))
	const sku = 1005
	before := s.available(t, sku)
	first, second := buy(t, v, sku), buy(t, v, sku)
	if first.url.Path == second.url.Path {
		t.Error("two purchases of the same thing became one order")
	}
	if after := s.available(t, sku); after != before-2 {
		t.Errorf("available stock went from %d to %d, want two less", before, after)
	}
}

// TestSeveralThingsInOneOrder orders two products in one checkout.
func TestSeveralThingsInOneOrder(t *testing.T) {
	s := stack(t)
	v := newVisitor(t, s.URL("productpage"))
	mug, pot := s.available(t, 1007), s.available(t, 1009)
	form := v.get("/checkout?sku=1007&qty=2&sku=1009&qty=1")
	want(t, form, http.StatusOK)
	placed(t, v, v.submit(form, "/checkout", nil))
	if got := s.available(t, 1007); got != mug-2 {
		t.Errorf("sku 1007: %d available, want %d", got, mug-2)
	}
	if got := s.available(t, 1009); got != pot-1 {
		t.Errorf("sku 1009: %d available, want %d", got, pot-1)
	}
}

// TestAForeignOrderIsNotFound opens one customer's order as another.
func TestAForeignOrderIsNotFound(t *testing.T) {
	s := stack(t)
	order := buy(t, newVisitor(t, s.URL("productpage")), 1011)
	stranger := newVisitor(t, s.URL("productpage")).get(order.url.Path)
	want(t, stranger, http.StatusNotFound)
}

// TestSoldOutIsARefusalNotAnError orders something that is not there.
func TestSoldOutIsARefusalNotAnError(t *testing.T) {
	s := stack(t)
	v := newVisitor(t, s.URL("productpage"))
	const soldOut = 97
	form := v.get("/checkout?sku=97&qty=1")
	want(t, form, http.StatusOK)
	p := v.submit(form, "/checkout", nil)
	if orderPath.MatchString(p.url.Path) {
		t.Fatalf("a sold-out product was ordered: %s", p.url)
	}
	if p.status >= 500 {
		t.Errorf("the refusal is a %d: %s", p.status, clip(p.text()))
	}
	if got := s.available(t, soldOut); got != 0 {
		t.Errorf("%d available of a sold-out product", got)
	}
}

// buy goes from the product page to the order page.
func buy(t testing.TB, v *visitor, sku int) *page {
	t.Helper()
	form := v.submit(v.get("/products/"+strconv.Itoa(sku)), "/checkout", url.Values{"qty": {"1"}})
	want(t, form, http.StatusOK)
	return placed(t, v, v.submit(form, "/checkout", nil))
}

// placed waits on the in-progress page, as a browser would, until it has become
// the order's page.
func placed(t testing.TB, v *visitor, p *page) *page {
	t.Helper()
	eventually(t, "the order is placed", func() bool {
		if !orderPath.MatchString(p.url.Path) && p.status == http.StatusOK {
			p = v.get(p.url.Path)
		}
		return orderPath.MatchString(p.url.Path)
	})
	want(t, p, http.StatusOK)
	return p
}

func want(t testing.TB, p *page, status int) {
	t.Helper()
	if p.status != status {
		t.Fatalf("%s answered %d, want %d:\n%s", p.url, p.status, status, clip(p.text()))
	}
}

func countProducts(p *page) int {
	seen := map[string]bool{}
	for _, link := range p.links() {
		if productPath.MatchString(link) {
			seen[link] = true
		}
	}
	return len(seen)
}

var productPath = regexp.MustCompile(`^/products/\d+$`)
