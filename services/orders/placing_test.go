package main

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
)

func TestPlaceAndShow(t *testing.T) {
	s := open(t)
	body := s.pricing.body(Item{7, 1}, Item{42, 2})
	placed := s.order("first", body).is(t, http.StatusCreated, "")
	o := placed.order(t)
	want := []Line{{7, 1, 1999, 1999}, {42, 2, 1999, 3998}}
	if o.State != Confirmed || o.Total != 5997 || o.Currency != "EUR" || len(o.Lines) != 2 || o.Lines[0] != want[0] || o.Lines[1] != want[1] {
		t.Errorf("order = %+v", o)
	}
	if got := placed.header.Get("Location"); got != "/orders/"+o.ID.String() {
		t.Errorf("Location = %q", got)
	}
	shown := s.do("GET", "/orders/"+o.ID.String(), "", alice).is(t, http.StatusOK, "")
	if again := shown.order(t); again.ID != o.ID || !again.CreatedAt.Equal(o.CreatedAt) || again.Total != o.Total || len(again.Lines) != 2 || again.Lines[1] != want[1] {
		t.Errorf("shown = %s, placed = %s", shown.body, placed.body)
	}
	s.do("GET", "/orders/"+o.ID.String(), "", bob).is(t, http.StatusNotFound, "order-not-found")
	if s.inventory.sold(42) != 2 || s.inventory.sold(7) != 1 {
		t.Errorf("held %d and %d, want 2 and 1", s.inventory.sold(42), s.inventory.sold(7))
	}
}

func TestReplayIsByteEqualAndMarked(t *testing.T) {
	s := open(t)
	body := s.pricing.body(Item{42, 1})
	first := s.order("x", body).is(t, http.StatusCreated, "")
	if first.header.Get("Idempotent-Replayed") != "" {
		t.Error("the first answer is marked as a replay")
	}
	// Neither an expired quote nor neighbours that are away change what was placed.
	s.pricing.fail(http.StatusServiceUnavailable)
	s.inventory.fail(http.StatusServiceUnavailable)
	for _, header := range []string{key("x"), `Idempotency-Key: "` + keyText("x") + `"`} {
		again := s.do("POST", "/orders", body, alice, header)
		sameBytes(t, first, again)
		if again.header.Get("Idempotent-Replayed") != "true" {
			t.Error("the replay is not marked")
		}
	}
	s.wantOrders(1)
	// Later, after it was cancelled: still the original answer, never a new order.
	s.exec(`UPDATE orders SET state = 'cancelled'`)
	sameBytes(t, first, s.order("x", body))
	if o := s.do("GET", "/orders/"+first.order(t).ID.String(), "", alice).order(t); o.State != Cancelled {
		t.Errorf("GET shows %s, want what it is now", o.State)
	}
	s.wantOrders(1)
}

func TestASecondIntentIsASecondOrder(t *testing.T) {
	s := open(t)
	body := s.pricing.body(Item{42, 1})
	first, second := s.order("monday", body), s.order("tuesday", body)
	if first.is(t, 201, "").order(t).ID == second.is(t, 201, "").order(t).ID {
		t.Error("two intended purchases of the same thing became one")
	}
	s.wantOrders(2)
}

func TestSameKeyOfAnotherCustomerIsAnotherOrder(t *testing.T) {
	s := open(t)
	body := s.pricing.body(Item{42, 1})
	first := s.order("shared", body).is(t, 201, "")
	second := s.do("POST", "/orders", body, bob, key("shared")).is(t, 201, "")
	if first.order(t).ID == second.order(t).ID {
		t.Error("bob got alice's order")
	}
	s.wantOrders(2)
}

func TestSameKeyOtherPayload(t *testing.T) {
	s := open(t)
	body, other := s.pricing.body(Item{42, 1}), s.pricing.body(Item{42, 9})
	s.order("x", body).is(t, 201, "")
	s.order("x", other).is(t, http.StatusUnprocessableEntity, "idempotency-key-reused") // with a replay in Redis
	// The order of lines and white space do not make another payload.
	two := s.pricing.body(Item{1, 1}, Item{2, 1})
	var b basket
	if err := json.Unmarshal([]byte(two), &b); err != nil {
		t.Fatal(err)
	}
	b.Items[0], b.Items[1] = b.Items[1], b.Items[0]
	swapped, _ := json.MarshalIndent(b, " ", "\t")
	first := s.order("two", two).is(t, 201, "")
	sameBytes(t, first, s.order("two", string(swapped)))
	s.wantOrders(2)
}

func TestFiftyConcurrentPostsPlaceOneOrder(t *testing.T) {
	s := open(t)
	second := s.start() // two instances, one key
	body := s.pricing.body(Item{42, 1})
	var created, refused atomic.Int32
	ids := sync.Map{}
	var wg sync.WaitGroup
	for i := range 50 {
		url := []string{s.url, second}[i%2]
		wg.Go(func() {
			a, err := s.send(t.Context(), "POST", url+"/orders", body, alice, key("burst"))
			for err == nil && a.status == http.StatusServiceUnavailable { // a machine too busy for fifty at once: same key, later
				a, err = s.send(t.Context(), "POST", url+"/orders", body, alice, key("burst"))
			}
			switch {
			case err != nil:
				t.Error(err)
			case a.status == http.StatusCreated:
				created.Add(1)
				ids.Store(a.order(t).ID, true)
			case a.status == http.StatusConflict && a.problem() == "request-in-progress" && a.header.Get("Retry-After") == "1":
				refused.Add(1)
			default:
				t.Errorf("%d %s", a.status, a.body)
			}
		})
	}
	wg.Wait()
	if created.Load() == 0 && refused.Load() == 50 { // the first claim was committed and its answer lost on the way to a busy owner: as after a crash
		s.expireLeases()
		if a, err := s.send(t.Context(), "POST", s.url+"/orders", body, alice, key("burst")); err == nil && a.status == http.StatusCreated {
			created.Add(1)
			ids.Store(a.order(t).ID, true)
		}
	}
	distinct := 0
	ids.Range(func(any, any) bool { distinct++; return true })
	if created.Load() < 1 || distinct != 1 {
		t.Errorf("%d answers 201 with %d ids, %d times 409", created.Load(), distinct, refused.Load())
	}
	s.wantOrders(1)
	if n := s.inventory.sold(42); n != 1 {
		t.Errorf("%d held, want 1", n)
	}
}

func TestRefusalsAreStoredAndReplayed(t *testing.T) {
	s := open(t)
	mismatch := s.pricing.body(Item{42, 1})
	mismatch = mismatch[:len(mismatch)-len(`1}]}`)] + `2}]}` // the quote was for one
	unknown, _ := json.Marshal(basket{QuoteID: uuid.New(), Items: []Item{{42, 1}}})
	for name, c := range map[string]struct{ body, problem, member string }{
		"insufficient-stock": {s.pricing.body(Item{42, 11}), "insufficient-stock", "short"},
		"unknown-sku":        {s.pricing.body(Item{9999, 1}), "unknown-sku", "unknown"},
		"quote-expired":      {s.pricing.bodyFor(-time.Second, Item{42, 1}), "quote-expired", "quote"},
		"quote-mismatch":     {mismatch, "quote-mismatch", "quote"},
		"quote-not-found":    {string(unknown), "quote-not-found", "quote"},
	} {
		t.Run(name, func(t *testing.T) {
			first := s.order(name, c.body).is(t, http.StatusUnprocessableEntity, c.problem)
			var members map[string]any
			if err := json.Unmarshal(first.body, &members); err != nil || members[c.member] == nil {
				t.Errorf("no %q in %s", c.member, first.body)
			}
			asked := s.pricing.asked("") + s.inventory.asked("")
			again := s.order(name, c.body)
			sameBytes(t, first, again)
			if again.header.Get("Idempotent-Replayed") != "true" || s.pricing.asked("")+s.inventory.asked("") != asked {
				t.Error("the refusal was decided again instead of replayed")
			}
			s.do("GET", "/checkouts/"+keyText(name), "", alice).is(t, http.StatusOK, "")
		})
	}
	s.wantOrders(0)
}

func TestTransientFailuresLeaveTheKeyUsable(t *testing.T) {
	s := open(t, "INVENTORY_OPEN_FOR=1ms", "PRICING_OPEN_FOR=1ms")
	for name, f := range map[string]*fake{"pricing": &s.pricing.fake, "inventory": &s.inventory.fake} {
		t.Run(name, func(t *testing.T) {
			body := s.pricing.body(Item{42, 1})
			for _, broken := range []func(){
				func() { f.fail(http.StatusServiceUnavailable) },
				func() { f.fail(http.StatusInternalServerError) },
				func() {
					f.behave(func(w http.ResponseWriter, _ *http.Request) bool {
						_, _ = w.Write([]byte("<html>It works!</html>"))
						return true
					})
				},
				func() {
					f.behave(func(w http.ResponseWriter, _ *http.Request) bool {
						reply(w, http.StatusOK, map[string]string{"order_id": uuid.NewString(), "state": "held"}) // somebody else's
						return true
					})
				},
				func() { f.fail(http.StatusNotFound) }, // no problem details: a misrouted proxy, not "no such quote"
			} {
				broken()
				a := s.order(name, body).is(t, http.StatusServiceUnavailable, "dependency-unavailable")
				if a.header.Get("Retry-After") == "" {
					t.Error("no Retry-After")
				}
				// The completer will place it: nobody may be told that nothing was ordered.
				s.do("GET", a.header.Get("Location"), "", alice).is(t, http.StatusOK, "")
			}
			f.behave(nil)
			a := s.order(name, body).is(t, http.StatusCreated, "")
			if a.header.Get("Idempotent-Replayed") != "" {
				t.Error("the first success is marked as a replay")
			}
		})
	}
	s.wantOrders(2)
}

func TestLostReservationAnswerHoldsOnce(t *testing.T) {
	s := open(t)
	body := s.pricing.body(Item{42, 3})
	var lost atomic.Bool
	lost.Store(true)
	s.inventory.behave(func(w http.ResponseWriter, r *http.Request) bool {
		if !lost.Load() {
			return false
		}
		w2 := discard{}
		var b struct{ Lines []Item }
		_ = json.NewDecoder(r.Body).Decode(&b)
		s.inventory.mu.Lock()
		s.inventory.reserve(w2, r.URL.Path[len("/reservations/"):], b.Lines)
		s.inventory.mu.Unlock()
		w.WriteHeader(http.StatusBadGateway) // it was done, and nobody hears of it
		return true
	})
	s.order("x", body).is(t, 503, "dependency-unavailable")
	lost.Store(false)
	s.order("x", body).is(t, 201, "")
	if n := s.inventory.sold(42); n != 3 {
		t.Errorf("%d held, want 3: the retry must use the same reservation", n)
	}
	s.wantOrders(1)
}

type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) WriteHeader(int)             {}

func TestClientThatLeavesStillGetsItsOrder(t *testing.T) {
	s := open(t)
	body := s.pricing.body(Item{42, 1})
	reserving, goOn := make(chan struct{}), make(chan struct{})
	var first atomic.Bool
	s.inventory.behave(func(http.ResponseWriter, *http.Request) bool {
		if first.CompareAndSwap(false, true) {
			close(reserving)
			<-goOn
		}
		return false
	})
	ctx, hangUp := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() {
		_, err := s.send(ctx, "POST", s.url+"/orders", body, alice, key("left"))
		gone <- err
	}()
	<-reserving
	hangUp()
	if err := <-gone; err == nil {
		t.Fatal("the client got an answer")
	}
	close(goOn)
	s.eventually("the order of the client that left", func() bool { return s.count(`SELECT count(*) FROM orders`) == 1 })
	if a := s.order("left", body).is(t, 201, ""); a.header.Get("Idempotent-Replayed") != "true" {
		t.Error("its retry was not a replay")
	}
	s.wantOrders(1)
}
