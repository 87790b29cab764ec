package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
)

// fakeShop is the rest of the shop: the four services behind the page, healthy and fast unless a test puts something else in
// their place.
type fakeShop struct {
	recommendations, inventory, pricing, orders *fakeService
	ledger                                      *ledger
}

// fakeService is one server whose handler can be replaced while it runs.
type fakeService struct {
	*httptest.Server
	mu      sync.Mutex
	handler http.Handler
	calls   int
}

func newFakeService(t testing.TB, healthy http.Handler) *fakeService {
	f := &fakeService{handler: healthy}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.calls++
		h := f.handler
		f.mu.Unlock()
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { f.CloseClientConnections(); f.Close() })
	return f
}

// become replaces the handler.
func (f *fakeService) become(h http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.handler = h
}

func (f *fakeService) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

func newFakeShop(t testing.TB) *fakeShop {
	l := &ledger{orders: map[string]Order{}, byKey: map[string]string{}, refused: map[string]string{}}
	return &fakeShop{
		recommendations: newFakeService(t, healthyRecommendations()),
		inventory:       newFakeService(t, healthyInventory()),
		pricing:         newFakeService(t, healthyPricing()),
		orders:          newFakeService(t, l.handler()),
		ledger:          l,
	}
}

func send(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func refuse(w http.ResponseWriter, status int, name string, extra map[string]any) {
	if extra == nil {
		extra = map[string]any{}
	}
	extra["type"], extra["title"], extra["status"] = "/problems/"+name, name, status
	w.Header().Set("Content-Type", "application/problem+json")
	if status == http.StatusConflict || status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(extra)
}

type object map[string]any

// fakeAmount is the price of a product everywhere in these tests.
func fakeAmount(sku int) int64 { return int64(sku*37%9000) + 499 }

func healthyRecommendations() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /products/{id}/bought-together", func(w http.ResponseWriter, r *http.Request) {
		id, _ := strconv.Atoi(r.PathValue("id"))
		items := []object{}
		for i := 1; i <= 6; i++ {
			items = append(items, object{"product_id": (id+i*31-1)%productCount + 1, "together": 20 - i})
		}
		send(w, http.StatusOK, object{"product_id": id, "items": items})
	})
	mux.HandleFunc("GET /best-sellers", func(w http.ResponseWriter, r *http.Request) {
		items := []object{}
		for i := range 12 {
			items = append(items, object{"product_id": 42 + i*7, "sold": 900 - i})
		}
		send(w, http.StatusOK, object{"items": items})
	})
	return mux
}

func healthyInventory() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /stock", func(w http.ResponseWriter, r *http.Request) {
		stock := []object{}
		for _, text := range r.URL.Query()["sku"] {
			sku, _ := strconv.Atoi(text)
			available := 400 + sku%1000
			if sku%97 == 0 {
				available = 0
			} else if sku%41 == 0 {
				available = 1 + sku%5
			}
			stock = append(stock, object{"sku": sku, "available": available})
		}
		send(w, http.StatusOK, object{"as_of": time.Now(), "stock": stock, "unknown": []int{}})
	})
	return mux
}

func healthyPricing() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /prices", func(w http.ResponseWriter, r *http.Request) {
		prices := []object{}
		for _, text := range r.URL.Query()["sku"] {
			sku, _ := strconv.Atoi(text)
			prices = append(prices, object{"sku": sku, "amount": fakeAmount(sku), "currency": "EUR"})
		}
		send(w, http.StatusOK, object{"prices": prices, "unknown": []int{}})
	})
	mux.HandleFunc("POST /quotes", func(w http.ResponseWriter, r *http.Request) {
		send(w, http.StatusCreated, quoteFor(r))
	})
	return mux
}

// quoteFor makes an honest quote for a request's lines.
func quoteFor(r *http.Request) Quote {
	var in struct{ Lines []Line }
	_ = json.NewDecoder(r.Body).Decode(&in)
	q := Quote{ID: uuid.NewString(), Currency: "EUR", ExpiresAt: time.Now().Add(15 * time.Minute)}
	for _, l := range in.Lines {
		unit := fakeAmount(l.SKU)
		q.Lines = append(q.Lines, PricedLine{l.SKU, l.Quantity, unit, unit * int64(l.Quantity)})
		q.Total += unit * int64(l.Quantity)
	}
	return q
}
