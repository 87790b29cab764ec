package main

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
)

func TestRefusals(t *testing.T) {
	shop := start(t, nil)
	b := shop.browser()
	for problem, texts := range map[string][]string{
		"insufficient-stock": {"There is not enough left", "Order what is left", "sku=42"},
		"quote-expired":      {"The price promise has run out", "Open the checkout again"},
		"unknown-sku":        {"An article we do not sell"},
		"of-the-future":      {"The order was refused"},
	} {
		shop.ledger.refuse = problem
		form := b.get("/checkout?sku=42&qty=2").form()
		a := b.post("/checkout", form)
		a.want(t, http.StatusUnprocessableEntity, append(texts, "Nothing was ordered")...)
		again := b.get("/checkout/" + form.Get("key")) // also later, and after a reload
		again.want(t, http.StatusOK, "Your order was not placed")
	}
	if n := shop.ledger.count(); n != 0 {
		t.Errorf("%d orders", n)
	}
	// What is offered instead is a checkout that works: with what there is, under a new key.
	shop.ledger.refuse = "insufficient-stock"
	a := b.order(t, "/checkout?sku=42&qty=2")
	shop.ledger.refuse = ""
	link := regexp.MustCompile(`class="button" href="(/checkout[^"]*)"`).FindStringSubmatch(a.body)
	if link == nil {
		t.Fatal("no way on")
	}
	order := b.buy(t, strings.ReplaceAll(link[1], "&amp;", "&"))
	order.want(t, http.StatusOK, money(fakeAmount(42), "EUR"))
}

// Orders is gone: the customer keeps the form, and the same key becomes one order when it is back.
func TestOrdersDown(t *testing.T) {
	shop := start(t, map[string]string{"ORDERS_OPEN_FOR": "1ms"})
	b := shop.browser()
	form := b.get("/checkout?sku=42&qty=1").form()
	shop.orders.become(down)
	a := b.post("/checkout", form)
	a.want(t, http.StatusServiceUnavailable, "Your order is not placed yet", "Send again")
	if a.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	if got := a.form(); got.Get("key") != form.Get("key") || got.Get("quote") != form.Get("quote") {
		t.Errorf("the form to send again is %v, was %v", got, form)
	}
	b.get("/orders/"+uuid.NewString()).want(t, http.StatusServiceUnavailable, "Part of the shop is taking a break")
	b.get("/products/42").want(t, http.StatusOK)

	shop.orders.become(shop.ledger.handler().ServeHTTP)
	until(t, "the order", func() bool { return b.post("/checkout", a.form()).StatusCode == http.StatusOK })
	if n := shop.ledger.count(); n != 1 {
		t.Errorf("%d orders", n)
	}
}

// Orders refuses for now and keeps the intent, which its completer turns into an order: the customer is not told that nothing was ordered.
func TestOrdersKeepsTheIntent(t *testing.T) {
	shop := start(t, map[string]string{"ORDERS_OPEN_FOR": "1ms"})
	b := shop.browser()
	form := b.get("/checkout?sku=42&qty=1").form()
	shop.orders.become(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "/checkouts/"+form.Get("key"))
		down(w, r)
	})
	a := b.post("/checkout", form)
	if a.want(t, http.StatusOK, "looks again"); a.Request.URL.Path != "/checkout/"+form.Get("key") {
		t.Errorf("ended at %s", a.Request.URL)
	}
}

// Whatever orders sends, the customer sees a page of ours.
func TestHostileOrders(t *testing.T) {
	shop := start(t, map[string]string{"ORDERS_OPEN_FOR": "1ms"})
	b := shop.browser()
	for _, h := range hostilities() {
		if h.name == "hang" || h.name == "trickle" || h.name == "1 GB" { // each takes the whole checkout's time; see TestEverythingHangs
			continue
		}
		t.Run(h.name, func(t *testing.T) {
			shop.orders.become(shop.ledger.handler().ServeHTTP)
			form := b.get("/checkout?sku=42&qty=1").form()
			shop.orders.become(h.handler)
			a := b.post("/checkout", form)
			if a.StatusCode == http.StatusInternalServerError || !strings.Contains(a.body, "Watertight") || strings.Contains(a.body, "<script") {
				t.Errorf("status %d\n%.400s", a.StatusCode, a.body)
			}
			if strings.Contains(a.body, "Thank you") {
				t.Error("thanks for an order that was not placed")
			}
		})
	}
	if n := shop.ledger.count(); n != 0 {
		t.Errorf("%d orders", n)
	}
}

func TestNoQuoteNoButton(t *testing.T) {
	shop := start(t, nil)
	b := shop.browser()
	shop.pricing.become(down)
	a := b.get("/checkout?sku=42&qty=1")
	a.want(t, http.StatusOK, "We cannot promise a price at the moment", "Try again")
	if strings.Contains(a.body, "Order for") || a.Header.Get("Degraded") != "price" {
		t.Errorf("a button without a price, or Degraded: %q", a.Header.Get("Degraded"))
	}
}

// A quote that is not for these lines, or does not add up, is not shown to anybody.
func TestDishonestQuotes(t *testing.T) {
	shop := start(t, map[string]string{"PRICING_OPEN_FOR": "1ms"})
	honest := healthyPricing()
	for name, bend := range map[string]func(*Quote){
		"total too small":   func(q *Quote) { q.Total-- },
		"amount too small":  func(q *Quote) { q.Lines[0].Amount--; q.Total-- },
		"negative":          func(q *Quote) { q.Lines[0].UnitAmount, q.Lines[0].Amount, q.Total = -1, -2, -2 },
		"another product":   func(q *Quote) { q.Lines[0].SKU++ },
		"another quantity":  func(q *Quote) { q.Lines[0].Quantity++ },
		"no lines":          func(q *Quote) { q.Lines = nil },
		"an id with a path": func(q *Quote) { q.ID = "../../admin" },
		"over already":      func(q *Quote) { q.ExpiresAt = q.ExpiresAt.AddDate(-1, 0, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			shop.pricing.become(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodPost {
					honest.ServeHTTP(w, r)
					return
				}
				q := quoteFor(r)
				bend(&q)
				send(w, http.StatusCreated, q)
			})
			shop.browser().get("/checkout?sku=42&qty=2").want(t, http.StatusOK, "We cannot promise a price")
		})
	}
}
