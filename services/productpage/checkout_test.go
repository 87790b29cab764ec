package main

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// form reads the hidden fields of the checkout form.
func (a answer) form() url.Values {
	values := url.Values{}
	for _, m := range regexp.MustCompile(`<input type="hidden" name="(\w+)" value="([^"]*)">`).FindAllStringSubmatch(a.body, -1) {
		values.Add(m[1], m[2])
	}
	return values
}

// order opens a checkout and presses the button.
func (b *browser) order(t testing.TB, path string) answer {
	t.Helper()
	page := b.get(path)
	page.want(t, http.StatusOK, "Order for")
	return b.post("/checkout", page.form())
}

// buy orders and expects the page of the order.
func (b *browser) buy(t testing.TB, path string) answer {
	t.Helper()
	a := b.order(t, path)
	a.want(t, http.StatusOK, "Thank you!")
	if !strings.HasPrefix(a.Request.URL.Path, "/orders/") {
		t.Fatalf("ended at %s", a.Request.URL)
	}
	return a
}

func TestBuying(t *testing.T) {
	shop := start(t, nil)
	b := shop.browser()
	page := b.get("/checkout?sku=42&qty=2&sku=7")
	total := money(2*fakeAmount(42)+fakeAmount(7), "EUR")
	page.want(t, http.StatusOK, "Order for "+total, "Rowan Terracotta Plant Pot", "until <time")
	form := page.form()
	if !isUUID(form.Get("key")) || !isUUID(form.Get("quote")) || strings.Join(form["sku"], " ") != "42 7" || strings.Join(form["qty"], " ") != "2 1" {
		t.Fatalf("form %v", form)
	}

	placed := b.once().post("/checkout", form)
	placed.want(t, http.StatusSeeOther)
	if got := placed.Header.Get("Location"); got != "/checkout/"+form.Get("key") {
		t.Errorf("Location %q", got)
	}
	order := b.get("/checkout/" + form.Get("key"))
	order.want(t, http.StatusOK, "Thank you!", total, "confirmed")

	for name, again := range map[string]answer{
		"posted again":        b.post("/checkout", form),
		"reloaded":            b.get("/checkout/" + form.Get("key")),
		"back at the form":    b.get(page.Request.URL.RequestURI()),
		"order page reloaded": b.get(order.Request.URL.Path),
	} {
		if again.StatusCode != 200 || again.Request.URL.Path != order.Request.URL.Path {
			t.Errorf("%s: %d at %s", name, again.StatusCode, again.Request.URL)
		}
	}
	if n := shop.ledger.count(); n != 1 {
		t.Errorf("%d orders from one form", n)
	}
	b.buy(t, "/checkout?sku=42&qty=2&sku=7") // the same thing, wanted again
	if n := shop.ledger.count(); n != 2 {
		t.Errorf("%d orders from two intents", n)
	}
}

func TestDoublePostIsOneOrder(t *testing.T) {
	shop := start(t, nil)
	b := shop.browser()
	form := b.get("/checkout?sku=42&qty=1").form()
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() { b.post("/checkout", form).want(t, http.StatusOK, "Thank you!") })
	}
	wg.Wait()
	if n := shop.ledger.count(); n != 1 {
		t.Errorf("%d orders", n)
	}
}

// The order was placed, the answer got lost: the same key asks again.
func TestLostAnswerIsAskedForAgain(t *testing.T) {
	shop := start(t, nil)
	b := shop.browser()
	var posts atomic.Int32
	honest := shop.ledger.handler()
	shop.orders.become(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && posts.Add(1) == 1 {
			honest.ServeHTTP(discard{http.Header{}}, r)
			reset(w, r)
			return
		}
		honest.ServeHTTP(w, r)
	})
	b.buy(t, "/checkout?sku=42&qty=1")
	if posts.Load() != 2 || shop.ledger.count() != 1 {
		t.Errorf("%d posts, %d orders; want 2 and 1", posts.Load(), shop.ledger.count())
	}
}

// discard is an answer nobody gets.
type discard struct{ h http.Header }

func (d discard) Header() http.Header       { return d.h }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}

func TestConflictWaitsAndReplays(t *testing.T) {
	shop := start(t, nil)
	b := shop.browser()
	var keys []string
	honest := shop.ledger.handler()
	shop.orders.become(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			keys = append(keys, r.Header.Get("Idempotency-Key"))
			if len(keys) == 1 {
				refuse(w, http.StatusConflict, "request-in-progress", nil)
				return
			}
		}
		honest.ServeHTTP(w, r)
	})
	b.buy(t, "/checkout?sku=42&qty=1")
	if len(keys) != 2 || keys[0] != keys[1] {
		t.Errorf("keys %v", keys)
	}
}

// As long as nobody knows what became of it, the page says so, asks again by itself, and ends at the order.
func TestOrderInProgress(t *testing.T) {
	shop := start(t, nil)
	b := shop.browser()
	form := b.get("/checkout?sku=42&qty=1").form()
	shop.orders.become(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.Header().Set("X-Do-Not-Retry", "1")
			refuse(w, http.StatusServiceUnavailable, "outcome-unknown", nil)
			return
		}
		send(w, http.StatusOK, object{"state": "in_progress"})
	})
	a := b.post("/checkout", form)
	a.want(t, http.StatusOK, "Placing your order", `<meta http-equiv="refresh" content="2">`)
	if a.Request.URL.Path != "/checkout/"+form.Get("key") {
		t.Errorf("at %s", a.Request.URL)
	}
	shop.orders.become(down)
	b.get(a.Request.URL.Path).want(t, http.StatusOK, "We cannot see yet what became of it", `http-equiv="refresh"`)

	shop.orders.become(shop.ledger.handler().ServeHTTP)
	b.get(a.Request.URL.Path).want(t, http.StatusNotFound, "The same form never orders twice")
	b.post("/checkout", form).want(t, http.StatusOK, "Thank you!")
}
