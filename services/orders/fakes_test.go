package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
)

// fake is a neighbour whose next answers can be replaced, delayed or refused.
type fake struct {
	URL string
	mu  sync.Mutex
	// intercept sees each request first, outside the lock; true means that it has answered.
	intercept func(w http.ResponseWriter, r *http.Request) bool
	requests  []string // "METHOD path"
}

func (f *fake) serve(t *testing.T, h http.HandlerFunc) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.requests = append(f.requests, r.Method+" "+r.URL.Path)
		intercept := f.intercept
		f.mu.Unlock()
		if intercept != nil && intercept(w, r) {
			return
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		h(w, r)
	}))
	t.Cleanup(server.Close)
	f.URL = server.URL
}

func (f *fake) behave(intercept func(w http.ResponseWriter, r *http.Request) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.intercept = intercept
}

// fail answers every request with a status until behave(nil).
func (f *fake) fail(status int) {
	f.behave(func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(status); return true })
}

func (f *fake) asked(prefix string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.requests {
		if strings.HasPrefix(r, prefix) {
			n++
		}
	}
	return n
}

func problem(w http.ResponseWriter, status int, name string, extra map[string]any) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	members := map[string]any{"type": "/problems/" + name, "status": status}
	for k, v := range extra {
		members[k] = v
	}
	_ = json.NewEncoder(w).Encode(members)
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// fakePricing keeps quotes. Everything costs 19.99.
type fakePricing struct {
	fake
	quotes map[uuid.UUID]quote
}

func newFakePricing(t *testing.T) *fakePricing {
	f := &fakePricing{quotes: map[uuid.UUID]quote{}}
	f.serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			var body struct{ Lines []Item }
			_ = json.NewDecoder(r.Body).Decode(&body)
			reply(w, http.StatusCreated, f.make(body.Lines, time.Hour))
			return
		}
		q, ok := f.quotes[uuid.MustParse(strings.TrimPrefix(r.URL.Path, "/quotes/"))]
		if !ok {
			problem(w, http.StatusNotFound, "quote-not-found", nil)
			return
		}
		reply(w, http.StatusOK, q)
	})
	return f
}

func (f *fakePricing) make(items []Item, ttl time.Duration) quote {
	q := quote{ID: uuid.New(), Currency: "EUR", ExpiresAt: time.Now().Add(ttl)}
	for _, i := range items {
		q.Lines = append(q.Lines, Line{SKU: i.SKU, Quantity: i.Quantity, UnitAmount: 1999, Amount: 1999 * int64(i.Quantity)})
		q.Total += 1999 * int64(i.Quantity)
	}
	f.quotes[q.ID] = q
	return q
}

// body makes a quote and the order that goes with it.
func (f *fakePricing) body(items ...Item) string { return f.bodyFor(time.Hour, items...) }

func (f *fakePricing) bodyFor(ttl time.Duration, items ...Item) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	b, _ := json.Marshal(basket{QuoteID: f.make(items, ttl).ID, Items: items})
	return string(b)
}

func (f *fakePricing) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.quotes)
}

// fakeInventory has ten of everything, and no sku above 2000.
type fakeInventory struct {
	fake
	holds map[string][]Item // by order id
	state map[string]string
	back  map[string]string // order id by event id
}

func newFakeInventory(t *testing.T) *fakeInventory {
	f := &fakeInventory{holds: map[string][]Item{}, state: map[string]string{}, back: map[string]string{}}
	f.serve(t, func(w http.ResponseWriter, r *http.Request) {
		if event, ok := strings.CutPrefix(r.URL.Path, "/restocks/"); ok {
			var body struct {
				OrderID string `json:"order_id"`
			}
			_ = json.NewDecoder(r.Body).Decode(&body)
			f.restock(w, event, body.OrderID)
			return
		}
		id, action, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/reservations/"), "/")
		if action == "commit" {
			f.commit(w, id)
			return
		}
		var body struct{ Lines []Item }
		_ = json.NewDecoder(r.Body).Decode(&body)
		f.reserve(w, id, body.Lines)
	})
	return f
}

func (f *fakeInventory) reserve(w http.ResponseWriter, id string, items []Item) {
	switch {
	case f.state[id] == "released":
		problem(w, http.StatusUnprocessableEntity, "reservation-released", nil)
		return
	case f.state[id] != "" && !slices.Equal(f.holds[id], items):
		problem(w, http.StatusUnprocessableEntity, "reservation-mismatch", nil)
		return
	case f.state[id] != "":
		reply(w, http.StatusOK, map[string]any{"order_id": id, "state": f.state[id]})
		return
	}
	for _, i := range items {
		if i.SKU > 2000 {
			problem(w, http.StatusUnprocessableEntity, "unknown-sku", map[string]any{"unknown": []int{i.SKU}})
			return
		}
		if left := 10 - f.taken(i.SKU); left < i.Quantity {
			problem(w, http.StatusUnprocessableEntity, "insufficient-stock", map[string]any{
				"short": []map[string]int{{"sku": i.SKU, "requested": i.Quantity, "available": left}}})
			return
		}
	}
	f.holds[id], f.state[id] = items, "held"
	reply(w, http.StatusCreated, map[string]any{"order_id": id, "state": "held"})
}

func (f *fakeInventory) commit(w http.ResponseWriter, id string) {
	if f.state[id] == "" {
		problem(w, http.StatusNotFound, "reservation-not-found", nil)
		return
	}
	if f.state[id] == "released" {
		problem(w, http.StatusUnprocessableEntity, "reservation-released", nil)
		return
	}
	f.state[id] = "committed"
	reply(w, http.StatusOK, map[string]any{"order_id": id, "state": "committed"})
}

func (f *fakeInventory) restock(w http.ResponseWriter, event, order string) {
	if f.state[order] != "held" && f.state[order] != "committed" {
		problem(w, http.StatusNotFound, "reservation-not-found", nil)
		return
	}
	f.state[order], f.back[event] = "committed", order
	reply(w, http.StatusOK, map[string]any{"event_id": event, "order_id": order, "lines": f.holds[order]})
}

// returned is the events by which an order's goods came back.
func (f *fakeInventory) returned(id uuid.UUID) (events []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for event, order := range f.back {
		if order == id.String() {
			events = append(events, event)
		}
	}
	return events
}

func (f *fakeInventory) taken(sku int) (n int) {
	for id, items := range f.holds {
		for _, i := range items {
			if i.SKU == sku && f.state[id] != "released" {
				n += i.Quantity
			}
		}
	}
	return n
}

// sold is how many of a sku are held or sold.
func (f *fakeInventory) sold(sku int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.taken(sku)
}

func (f *fakeInventory) set(id uuid.UUID, state string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.state[id.String()] = state
}

func (f *fakeInventory) stateOf(id uuid.UUID) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state[id.String()]
}

// fakeRecommendations knows each event once.
type fakeRecommendations struct {
	fake
	events map[uuid.UUID]purchase
	poison int // a sku that is refused for ever
}

func newFakeRecommendations(t *testing.T) *fakeRecommendations {
	f := &fakeRecommendations{events: map[uuid.UUID]purchase{}}
	f.serve(t, func(w http.ResponseWriter, r *http.Request) {
		var p purchase
		if err := json.NewDecoder(r.Body).Decode(&p); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if p.Items[0].SKU == f.poison {
			problem(w, http.StatusUnprocessableEntity, "purchase-mismatch", nil)
			return
		}
		f.events[p.EventID] = p
		reply(w, http.StatusCreated, p)
	})
	return f
}

func (f *fakeRecommendations) known() map[uuid.UUID]purchase {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := map[uuid.UUID]purchase{}
	for k, v := range f.events {
		c[k] = v
	}
	return c
}

// all is the state of every reservation.
func (f *fakeInventory) all() map[uuid.UUID]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := map[uuid.UUID]string{}
	for id, state := range f.state {
		c[uuid.MustParse(id)] = state
	}
	return c
}
