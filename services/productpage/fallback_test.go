package main

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

func down(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "down", http.StatusInternalServerError)
}

func TestFullPage(t *testing.T) {
	shop := start(t, nil)
	b := shop.browser()
	a := b.get("/products/42")
	a.want(t, http.StatusOK, "Rowan Terracotta Plant Pot", money(fakeAmount(42), "EUR"), "442 in stock", "Frequently bought together", "To the checkout", "1600 ms", "inventory&#39;s snapshot")
	if got := a.Header.Values("Degraded"); len(got) != 0 {
		t.Errorf("Degraded: %q on a whole page", got)
	}
	_, p := b.json("/products/42")
	if p.Price == nil || p.Price.Amount != fakeAmount(42) || p.Price.Currency != "EUR" || p.Price.Stale ||
		p.Stock == nil || p.Stock.Available != 442 || p.Stock.Snapshot || len(p.Recommendations) != wanted || len(p.Degraded) != 0 {
		t.Errorf("JSON page: %+v", p)
	}
	b.get("/products/97").want(t, http.StatusOK, "Sold out")
	b.get("/products/41").want(t, http.StatusOK, "Only 2 left")
	if strings.Contains(b.get("/products/97").body, "To the checkout") {
		t.Error("what is sold out can be ordered")
	}
}

func TestPriceFallsBackToTheLastKnown(t *testing.T) {
	shop := start(t, nil)
	b := shop.browser()
	b.get("/products/42")
	shop.pricing.become(down)
	b.get("/products/42").want(t, http.StatusOK, money(fakeAmount(42), "EUR"), "Last known price", "To the checkout")
	_, first := b.json("/products/42")
	_, second := b.json("/products/42")
	if first.Price == nil || !first.Price.Stale || !first.Price.AsOf.Equal(second.Price.AsOf) {
		t.Errorf("prices %+v and %+v: a fallback was kept as fresh", first.Price, second.Price)
	}
	a := b.get("/products/43") // never asked for before
	a.want(t, http.StatusOK, "Price unavailable")
	if strings.Contains(a.body, "To the checkout") {
		t.Error("without a price there is a button")
	}
}

func TestAProductWithoutAPriceIsNotDegraded(t *testing.T) {
	shop := start(t, nil)
	shop.pricing.become(func(w http.ResponseWriter, r *http.Request) {
		unknown := []int{}
		for range r.URL.Query()["sku"] {
			unknown = append(unknown, 1)
		}
		send(w, http.StatusOK, object{"prices": []object{}, "unknown": unknown})
	})
	a := shop.browser().get("/products/42")
	a.want(t, http.StatusOK, "has no price at present")
	if got := a.Header.Get("Degraded"); got != "" {
		t.Errorf("Degraded: %q", got)
	}
}

const banner = "Stock counts may lag by up to 2 minutes"

func TestStockFallsBackToTheSnapshot(t *testing.T) {
	shop := start(t, nil)
	b := shop.browser()
	client := shop.redisClient()
	shop.inventory.become(down)
	for _, tc := range []struct {
		name, value string
		shown       bool
	}{
		{"fresh", entryOf(17, time.Now().Add(-90*time.Second)), true},
		{"with members of a later version", strings.Replace(entryOf(17, time.Now()), "{", `{"version":9,`, 1), true},
		{"older than two minutes", entryOf(17, time.Now().Add(-121*time.Second)), false},
		{"from tomorrow", entryOf(17, time.Now().Add(24*time.Hour)), false},
		{"negative", entryOf(-3, time.Now()), false},
		{"without a time", `{"available":17}`, false},
		{"garbage", `{"avail`, false},
		{"a bare number", `17`, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := client.Set(context.Background(), "stock:42", tc.value, 0).Err(); err != nil {
				t.Fatal(err)
			}
			a := b.get("/products/42")
			a.want(t, http.StatusOK, "To the checkout") // orders decides
			if got := a.Header.Get("Degraded"); got != "stock" {
				t.Errorf("Degraded: %q", got)
			}
			if has := strings.Contains(a.body, banner) && strings.Contains(a.body, "17 in stock"); has != tc.shown {
				t.Errorf("count shown: %v, want %v", has, tc.shown)
			}
			if !tc.shown {
				a.want(t, http.StatusOK, "We cannot count our stock right now")
			}
		})
	}
	if a := b.get("/products/43"); strings.Contains(a.body, banner) {
		t.Error("the banner stands over a page without a count")
	}
}

func entryOf(available int, asOf time.Time) string {
	return fmt.Sprintf(`{"available":%d,"as_of":%q}`, available, asOf.UTC().Format("2006-01-02T15:04:05.000Z"))
}

func (r *running) redisClient() *redis.Client {
	r.t.Helper()
	options, err := redis.ParseURL(r.redis)
	if err != nil {
		r.t.Fatal(err)
	}
	client := redis.NewClient(options)
	r.t.Cleanup(func() { client.Close() })
	return client
}

// A count that inventory itself says is old must not be shown as live.
func TestLiveStockMayNotBeOld(t *testing.T) {
	shop := start(t, nil)
	shop.inventory.become(func(w http.ResponseWriter, _ *http.Request) {
		send(w, http.StatusOK, object{"as_of": time.Now().Add(-10 * time.Minute), "stock": []object{{"sku": 42, "available": 5}}, "unknown": []int{}})
	})
	a := shop.browser().get("/products/42")
	a.want(t, http.StatusOK, "We cannot count our stock right now")
	if strings.Contains(a.body, "Only 5 left") {
		t.Error("a ten-minute-old count is shown as live")
	}
}

func TestRecommendationsFallBack(t *testing.T) {
	shop := start(t, nil)
	b := shop.browser()
	live := linksOf(b.get("/products/42").body)
	until(t, "best sellers", func() bool { return strings.Contains(b.get("/").body, "What others take home") })
	shop.recommendations.become(down)

	a := b.get("/products/42") // the last good list of this product
	a.want(t, http.StatusOK, "Frequently bought together", "This is an earlier list")
	if got := linksOf(a.body); strings.Join(got, " ") != strings.Join(live, " ") {
		t.Errorf("list %v, was %v", got, live)
	}
	a = b.get("/products/49") // never seen, and itself a best seller
	a.want(t, http.StatusOK, "Popular with others", "here is what sells best")
	for _, link := range linksOf(a.body) {
		if link == "/products/49" {
			t.Error("the product is its own recommendation")
		}
	}
}

func TestRecommendationsAreLeftOutWithoutAnything(t *testing.T) {
	shop := start(t, nil)
	shop2 := start(t, map[string]string{"RECOMMENDATIONS_URL": shop.pricing.URL}) // answers 404 from the start
	a := shop2.browser().get("/products/42")
	a.want(t, http.StatusOK, "We cannot look up what goes with this article right now")
	if strings.Contains(a.body, "Frequently bought together") {
		t.Error("an empty section is shown")
	}
}

func linksOf(body string) []string {
	_, list, _ := strings.Cut(body, `<ul class="together">`)
	list, _, _ = strings.Cut(list, "</ul>")
	var links []string
	for _, m := range regexp.MustCompile(`<a href="(/products/\d+)">`).FindAllStringSubmatch(list, -1) {
		links = append(links, m[1])
	}
	return links
}

func TestHomeShowsCardsWithoutPrices(t *testing.T) {
	shop := start(t, nil)
	b := shop.browser()
	before := shop.pricing.count()
	a := b.get("/?category=kitchen")
	a.want(t, http.StatusOK, `class="price">€`)
	if n := shop.pricing.count() - before; n != 1 {
		t.Errorf("%d calls for one page of prices, want 1", n)
	}
	shop.pricing.become(down)
	a = b.get("/?category=kitchen")
	a.want(t, http.StatusOK, `class="name"`)
	if strings.Contains(a.body, `class="price"`) || a.Header.Get("Degraded") != "price" {
		t.Errorf("prices shown, or Degraded: %q", a.Header.Get("Degraded"))
	}
}
