package main

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
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

func TestOrdersArePrivate(t *testing.T) {
	shop := start(t, nil)
	mine := shop.browser()
	order := mine.buy(t, "/checkout?sku=42&qty=1")
	path := order.Request.URL.Path
	stranger := shop.browser()
	stranger.buy(t, "/checkout?sku=7&qty=1")
	stranger.get(path).want(t, http.StatusNotFound, "We cannot find this order")
	shop.browser().get(path).want(t, http.StatusNotFound)

	site, _ := url.Parse(shop.url)
	genuine := mine.client.Jar.Cookies(site)[0].Value
	id, signature, _ := strings.Cut(genuine, ".")
	for name, value := range map[string]string{"unsigned": id, "half signed": id + "." + signature[:10], "signed for another": uuid.NewString() + "." + signature, "garbage": "x.y.z"} {
		req, _ := http.NewRequest(http.MethodGet, shop.url+path, nil)
		req.Header.Set("Accept", "text/html")
		req.Header.Set("Cookie", cookieName+"="+value)
		req.Header.Set("X-Customer-Id", id) // what only our own services may say
		if a := shop.browser().do(req); a.StatusCode != http.StatusNotFound {
			t.Errorf("%s cookie: %d", name, a.StatusCode)
		}
	}
}

func TestCookie(t *testing.T) {
	shop := start(t, nil)
	a := shop.browser().once().get("/checkout?sku=42&qty=1")
	cookies := a.Cookies()
	if len(cookies) != 1 {
		t.Fatalf("cookies %v", cookies)
	}
	c := cookies[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.MaxAge <= 0 || c.Secure {
		t.Errorf("cookie %+v", c)
	}
	if len(shop.browser().get("/products/42").Cookies()) != 0 {
		t.Error("looking around sets a cookie")
	}
	secure := start(t, map[string]string{"COOKIE_SECURE": "true"})
	if c := secure.browser().once().get("/checkout?sku=42&qty=1").Cookies(); len(c) != 1 || !c[0].Secure {
		t.Errorf("COOKIE_SECURE: %v", c)
	}
}

// Another site's form must not order in the customer's name.
func TestCrossOriginFormsAreRefused(t *testing.T) {
	shop := start(t, nil)
	b := shop.browser()
	form := b.get("/checkout?sku=42&qty=1").form()
	for name, header := range map[string][2]string{
		"cross-site": {"Sec-Fetch-Site", "cross-site"}, "same-site": {"Sec-Fetch-Site", "same-site"},
		"foreign origin": {"Origin", "https://evil.example"}, "null origin": {"Origin", "null"},
	} {
		req, _ := http.NewRequest(http.MethodPost, shop.url+"/checkout", strings.NewReader(form.Encode()))
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Accept", "text/html")
		req.Header.Set(header[0], header[1])
		a := b.do(req)
		if a.StatusCode != http.StatusForbidden || !strings.Contains(a.body, "This form came from elsewhere") || a.Header.Get("Content-Security-Policy") != wantCSP {
			t.Errorf("%s: %d", name, a.StatusCode)
		}
	}
	if n := shop.ledger.count(); n != 0 {
		t.Errorf("%d orders", n)
	}
	b.post("/checkout", form).want(t, http.StatusOK, "Thank you!")
}
