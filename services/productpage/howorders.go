package main

import (
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"

	"watertight.example/pkg/service"
)

// orderSequences are how an order is placed, and how it is placed all the same when orders dies or freezes on the way. Each crash is
// a row of a test in services/orders: crash_test.go, takeover_test.go.
var orderSequences = [...]sequence{
	{
		Name:  "order-placed",
		Title: "An order is placed",
		Lead:  "The form's key names the intent. The claim is committed before anybody else is asked, and key, order and events become real in one transaction: no transaction is open while another service works.",
		Steps: []step{
			{asks, customer, productPage, "the form, with its key"},
			{asks, productPage, ordersOne, "POST /orders"},
			{asks, ordersOne, ordersDB, "claim the key: 10 s"},
			{asks, ordersOne, pricingService, "the quote"},
			{asks, ordersOne, inventoryService, "reserve, by order id"},
			{asks, ordersOne, ordersDB, "key + order + events"},
			{answers, ordersOne, productPage, "201"},
			{answers, productPage, customer, "Thank you!"},
			{asks, ordersOne, inventoryService, "commit the reservation"},
			{asks, ordersOne, recsService, "purchase, by event id"},
		},
	},
	{
		Name:  "order-crash-before-finish",
		Title: "orders dies with the stock in hand",
		Lead:  "Stock is held and no order exists. When the lease has run out, another instance takes the key over and works under the same order id, so the second reservation is the first one. The customer asks again and gets that order.",
		Steps: []step{
			{asks, customer, ordersOne, "POST, key K"},
			{asks, ordersOne, ordersDB, "claim: order id A"},
			{asks, ordersOne, inventoryService, "reserve for A"},
			{dies, ordersOne, ordersOne, "kill -9"},
			{asks, customer, ordersTwo, "POST, key K"},
			{answers, ordersTwo, customer, "409, Retry-After"},
			{asks, ordersTwo, ordersDB, "lease over: take K"},
			{asks, ordersTwo, inventoryService, "reserve for A, again"},
			{answers, inventoryService, ordersTwo, "held already"},
			{asks, ordersTwo, ordersDB, "key + order + events"},
			{asks, customer, ordersTwo, "POST, key K"},
			{answers, ordersTwo, customer, "201, order A"},
		},
	},
	{
		Name:  "order-crash-after-finish",
		Title: "orders dies before it can say so",
		Lead:  "The order exists and nobody was told. Whoever asks with the same key gets the stored answer, byte for byte; the events are in the database, too, and any instance delivers them.",
		Steps: []step{
			{asks, customer, ordersOne, "POST, key K"},
			{asks, ordersOne, ordersDB, "claim: order id A"},
			{asks, ordersOne, inventoryService, "reserve for A"},
			{asks, ordersOne, ordersDB, "key + order + events"},
			{dies, ordersOne, ordersOne, "kill -9"},
			{asks, customer, ordersTwo, "POST, key K"},
			{asks, ordersTwo, ordersDB, "claim: K is done"},
			{answers, ordersTwo, customer, "201, replayed"},
			{asks, ordersTwo, inventoryService, "commit A"},
			{asks, ordersTwo, recsService, "purchase, by event id"},
		},
	},
	{
		Name:  "order-frozen-owner",
		Title: "orders freezes, and wakes up too late",
		Lead:  "A paused process does not know that it was paused. Every claim has an attempt number, and the last transaction carries it: the database refuses what an owner with an old number wants to finish.",
		Steps: []step{
			{asks, customer, ordersOne, "POST, key K"},
			{asks, ordersOne, ordersDB, "claim: attempt 1"},
			{asks, ordersOne, inventoryService, "reserve for A"},
			{dies, ordersOne, ordersOne, "freezes"},
			{asks, ordersTwo, ordersDB, "take K: attempt 2"},
			{asks, ordersTwo, inventoryService, "reserve for A, again"},
			{asks, ordersTwo, ordersDB, "key + order + events"},
			{notes, ordersOne, ordersOne, "wakes up"},
			{asks, ordersOne, ordersDB, "finish as attempt 1"},
			{answers, ordersDB, ordersOne, "fenced: nothing written"},
			{answers, ordersOne, customer, "201, order A"},
		},
	},
}

// showHowOrders answers GET /how-an-order-is-placed.
func (s *shop) showHowOrders(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "public, max-age=3600")
	return s.render(w, r, http.StatusOK, "howorders", "How an order is placed once", orderSequences[:])
}

// showSequence answers GET /sequences/{name}.svg.
func (s *shop) showSequence(w http.ResponseWriter, r *http.Request) error {
	for _, q := range orderSequences {
		if q.Name == chi.URLParam(r, "name") {
			body := q.SVG()
			w.Header().Set("Content-Type", "image/svg+xml")
			w.Header().Set("Cache-Control", "public, max-age=3600")
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
			_, _ = w.Write(body)
			return nil
		}
	}
	return service.NewProblem(http.StatusNotFound, "not-found", "There is no such picture.")
}
