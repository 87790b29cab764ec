package main

import (
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"
)

// ledger is a fake orders service that keeps the promise of its keys.
type ledger struct {
	mu      sync.Mutex
	orders  map[string]Order  // by id
	byKey   map[string]string // customer/key -> id
	refused map[string]string // customer/key -> problem name
	owner   map[string]string
	refuse  string // name of a problem for every new order
}

func (l *ledger) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders", l.place)
	mux.HandleFunc("GET /orders/{id}", func(w http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		defer l.mu.Unlock()
		o, ok := l.orders[r.PathValue("id")]
		if !ok || l.owner[o.ID] != r.Header.Get("X-Customer-Id") {
			refuse(w, http.StatusNotFound, "order-not-found", nil)
			return
		}
		send(w, http.StatusOK, o)
	})
	mux.HandleFunc("POST /orders/{id}/cancel", func(w http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		defer l.mu.Unlock()
		o, ok := l.orders[r.PathValue("id")]
		if !ok || l.owner[o.ID] != r.Header.Get("X-Customer-Id") {
			refuse(w, http.StatusNotFound, "order-not-found", nil)
			return
		}
		o.State = "cancelled"
		l.orders[o.ID] = o
		send(w, http.StatusOK, o)
	})
	mux.HandleFunc("GET /checkouts/{key}", func(w http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		defer l.mu.Unlock()
		scope := r.Header.Get("X-Customer-Id") + "/" + r.PathValue("key")
		switch {
		case l.byKey[scope] != "":
			send(w, http.StatusOK, object{"state": "confirmed", "order_id": l.byKey[scope]})
		case l.refused[scope] != "":
			send(w, http.StatusOK, object{"state": "refused", "problem": object{"type": "/problems/" + l.refused[scope]}})
		default:
			refuse(w, http.StatusNotFound, "checkout-not-found", nil)
		}
	})
	return mux
}

func (l *ledger) place(w http.ResponseWriter, r *http.Request) {
	var in struct {
		QuoteID string `json:"quote_id"`
		Lines   []Line `json:"lines"`
	}
	_ = json.NewDecoder(r.Body).Decode(&in)
	l.mu.Lock()
	defer l.mu.Unlock()
	customer := r.Header.Get("X-Customer-Id")
	scope := customer + "/" + r.Header.Get("Idempotency-Key")
	if id := l.byKey[scope]; id != "" {
		w.Header().Set("Idempotent-Replayed", "true")
		send(w, http.StatusCreated, l.orders[id])
		return
	}
	if l.refuse != "" {
		l.refused[scope] = l.refuse
		extra := map[string]any{}
		if l.refuse == "insufficient-stock" {
			extra["short"] = []object{{"sku": in.Lines[0].SKU, "requested": in.Lines[0].Quantity, "available": 1}}
		}
		refuse(w, http.StatusUnprocessableEntity, l.refuse, extra)
		return
	}
	o := Order{ID: uuid.NewString(), State: "confirmed", Currency: "EUR", CreatedAt: time.Now()}
	for _, line := range in.Lines {
		unit := fakeAmount(line.SKU)
		o.Lines = append(o.Lines, PricedLine{line.SKU, line.Quantity, unit, unit * int64(line.Quantity)})
		o.Total += unit * int64(line.Quantity)
	}
	if l.owner == nil {
		l.owner = map[string]string{}
	}
	l.orders[o.ID], l.byKey[scope], l.owner[o.ID] = o, o.ID, customer
	send(w, http.StatusCreated, o)
}

// count tells how many orders there are.
func (l *ledger) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.orders)
}
