package load

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

func drawn(t *testing.T, seed uint64, n int) []string {
	t.Helper()
	shop := newShopper("http://shop", DefaultMix(), seed)
	var urls []string
	for range n {
		var target vegeta.Target
		if err := shop.next(&target); err != nil {
			t.Fatal(err)
		}
		urls = append(urls, target.Method+" "+target.URL)
	}
	return urls
}

func TestSeedDrawsTheSameVisits(t *testing.T) {
	if !slices.Equal(drawn(t, 7, 500), drawn(t, 7, 500)) {
		t.Error("the same seed drew different visits")
	}
	if slices.Equal(drawn(t, 7, 500), drawn(t, 8, 500)) {
		t.Error("another seed drew the same visits")
	}
}

func TestMixIsKept(t *testing.T) {
	count := map[string]int{}
	for _, u := range drawn(t, 1, 10000) {
		_, path, _ := strings.Cut(u, "http://shop/")
		kind := strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune("=?/#", r) })[0]
		count[kind]++
	}
	for kind, want := range map[string]int{"page": 3000, "q": 1500, "products": 5000, "checkout": 500} {
		if got := count[kind]; got < want*9/10 || got > want*11/10 {
			t.Errorf("%d %s of 10,000, want about %d (all: %v)", got, kind, want, count)
		}
	}
}

func TestNobodyOrdersWhatIsSoldOut(t *testing.T) {
	shop := newShopper("http://shop", Mix{Buy: 1}, 1)
	for range 5000 {
		st := shop.draw()
		for _, soldOut := range []string{"sku=97&", "sku=41&", "sku=1940&", "sku=1968&"} {
			if strings.Contains(st.path, soldOut) {
				t.Fatalf("drew %s", st.path)
			}
		}
	}
}

func TestPurchaseGoesAllTheWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := &fakeShop{}
		cfg := gently(t, shop)
		cfg.Mix, cfg.Duration = Mix{Buy: 1}, 5*time.Second // 50 requests: ten purchases of five
		s := mustRun(t, cfg)
		if s.Purchases.Placed < 8 || s.Purchases.Refused != 0 || s.Failed.Count != 0 {
			t.Errorf("%+v, failed by %v\n%s", s.Purchases, s.Causes, strings.Join(shop.seen(), "\n"))
		}
		for _, c := range shop.cookies {
			if c != "customer=c1" {
				t.Fatalf("cookie %q inside a purchase, want the one of its form", c)
			}
		}
		for _, kind := range []Kind{Cart, Checkout, Place, State, Order} {
			if s.Pages[kind].Full == 0 {
				t.Errorf("no %s page in %v", kind, s.Pages)
			}
		}
	})
}

func TestCustomersLookAtTheirOrderAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := &fakeShop{}
		cfg := gently(t, shop)
		cfg.Mix = Mix{Order: 1}
		s := mustRun(t, cfg)
		// While there is no order, each visit starts a purchase.
		if n := s.Pages[Order].Full; n < 80 || s.Failed.Count != 0 || s.Purchases.Placed == 0 || s.Purchases.Placed > 10 {
			t.Errorf("%d looks at an order of %d requests, %+v, failed by %v", n, s.Requests, s.Purchases, s.Causes)
		}
		for _, c := range shop.cookies {
			if c != "customer=c1" {
				t.Fatalf("cookie %q, want the customer's", c)
			}
		}
	})
}

// The customer presses the button again, with the form's own key: it stays one purchase.
func TestFailedPostIsSentAgainWithItsKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := &fakeShop{}
		shop.status = func(path string) int {
			if n := len(shop.seen()); path == "/checkout" && n >= 3 && n <= 5 {
				return http.StatusServiceUnavailable // the post and its first two repetitions
			}
			return 0
		}
		cfg := gently(t, shop)
		cfg.Rate, cfg.Mix = 1, Mix{Buy: 1}
		s := mustRun(t, cfg)
		if len(shop.posted) < 3 || shop.posted[0] != shop.posted[1] || shop.posted[1] != shop.posted[2] {
			t.Errorf("posted keys %v, want the first one again and again", shop.posted)
		}
		if s.Purchases.Placed < 1 || s.Failed.Count != 3 {
			t.Errorf("%+v with %d failed, want a purchase placed after 3 failures", s.Purchases, s.Failed.Count)
		}
	})
}

func TestOrderUnderWayIsAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		shop := &fakeShop{}
		shop.state = func(w http.ResponseWriter, key string) {
			if asked++; asked < 4 {
				w.Header().Set("Refresh", "1")
				w.Write([]byte("on its way</html>"))
				return
			}
			w.Header().Set("Location", "/orders/of-"+key)
			w.WriteHeader(http.StatusSeeOther)
		}
		cfg := gently(t, shop)
		cfg.Rate, cfg.Mix = 1, Mix{Buy: 1}
		s := mustRun(t, cfg)
		if asked < 4 || s.Purchases.Placed == 0 || s.Failed.Count != 0 {
			t.Errorf("asked %d times: %+v, failed by %v", asked, s.Purchases, s.Causes)
		}
	})
}

func TestRefusedPurchaseIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := &fakeShop{state: func(w http.ResponseWriter, key string) { w.Write([]byte("sold out</html>")) }}
		cfg := gently(t, shop)
		cfg.Mix = Mix{Buy: 1}
		s := mustRun(t, cfg)
		if s.Purchases.Refused == 0 || s.Purchases.Placed != 0 || s.Failed.Count != 0 {
			t.Errorf("%+v, failed by %v", s.Purchases, s.Causes)
		}
	})
}

func TestLostPurchaseIsGivenUp(t *testing.T) {
	var p purchases
	st, now := step{kind: Place, purchase: new(purchase)}, time.Now()
	failed, res := Sample{Class: Failed}, &vegeta.Result{}
	tries := 0
	for {
		l, ok := p.advance(st, failed, res, now)
		if !ok {
			break
		}
		st, tries = l.step, tries+1
	}
	if tries != patience {
		t.Errorf("tried again %d times, want %d", tries, patience)
	}
}
