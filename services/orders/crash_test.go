package main

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/google/uuid"

	"watertight.example/pkg/idempotency"
)

// between are the points between every two steps of placing an order, and what a crash there leaves behind.
var between = []struct {
	dieAt     string
	claimed   bool // the key is taken: a retry is refused until the lease ends
	held      bool // inventory holds stock
	confirmed bool // the order exists
}{
	{"before claim", false, false, false},
	{"after claim", true, false, false},
	{"before quote", true, false, false},
	{"after quote", true, false, false},
	{"before reserve", true, false, false},
	{"after reserve", true, true, false}, // inventory has it, its answer was not read
	{"before finish", true, true, false}, // the answer was read
	{"during finish", true, true, false}, // every row written, the commit not
	{"after finish", true, true, true},   // committed: nothing in Redis, no answer, relay not woken
	{"before remember", true, true, true},
	{"after remember", true, true, true}, // everything done but the answer
}

// TestCrashBetweenEveryTwoSteps kills the process that places an order at each point, starts another, and lets it be found in each
// way there is. Whatever happened, it ends with one order, one answer, its stock sold and its events delivered.
func TestCrashBetweenEveryTwoSteps(t *testing.T) {
	recoveries := map[string]func(s *shop, heir *mortal){
		"the client asks again": func(*shop, *mortal) {},
		"the completer was first": func(s *shop, heir *mortal) {
			if err := (&completer{keys: heir.keys, placing: heir.placing, log: heir.log}).round(s.t.Context()); err != nil {
				s.t.Fatal(err)
			}
		},
		"inventory's sweeper was first": func(s *shop, _ *mortal) { s.sweep(s.resolve) },
		"Redis was emptied":             func(s *shop, _ *mortal) { flush(s.t, s.redis) },
	}
	for _, point := range between {
		for _, how := range slices.Sorted(maps.Keys(recoveries)) {
			t.Run(point.dieAt+"/"+how, func(t *testing.T) {
				s := closed(t)
				in := s.placement(s.pricing.body(Item{42, 1}))
				first := s.crash(point.dieAt, in)
				s.left(point.claimed, point.held, point.confirmed)

				heir := s.mortal("")
				h := heard{}
				if point.claimed && !point.confirmed { // its owner may still be at work, for all anybody knows
					_, err := heir.ask(t.Context(), keyText("x"), in)
					var refusal *idempotency.Refusal
					if !errors.As(err, &refusal) || refusal.Status != http.StatusConflict || refusal.RetryAfter == 0 {
						t.Errorf("before the lease ended: %v, want 409 with Retry-After", err)
					}
				}
				s.expireLeases()
				recoveries[how](s, heir)
				for range 2 {
					s.mustAsk(heir, in, h)
				}
				s.settled(heir, s.resolve)
				s.holds(h)
				s.wantOrders(1)
				if placed := s.confirmed(); len(placed) == 1 && first != uuid.Nil && how != "inventory's sweeper was first" && placed[0].ID != first {
					t.Errorf("order %s, want %s: its first owner reserved under that id", placed[0].ID, first)
				}
			})
		}
	}
}

// TestCrashOfTheHeir kills the completer as well, between every two steps of completing what a first crash left.
func TestCrashOfTheHeir(t *testing.T) {
	for _, point := range []string{"before takeover", "after takeover", "after quote", "after reserve", "before renew", "after renew", "before finish", "during finish", "after finish"} {
		t.Run(point, func(t *testing.T) {
			s := closed(t)
			in := s.placement(s.pricing.body(Item{42, 1}))
			s.crash("after reserve", in)
			s.expireLeases()
			if point == "before renew" || point == "after renew" {
				s.sweep(s.resolve) // the first order id is buried: its heir needs a fresh one
			}
			second := s.mortal(point)
			s.during(second, point)
			_ = (&completer{keys: second.keys, placing: second.placing, log: second.log}).round(t.Context())
			s.reached(second, point)
			s.mend()
			s.expireLeases()

			third, h := s.mortal(""), heard{}
			s.mustAsk(third, in, h)
			s.mustAsk(third, in, h)
			s.settled(third, s.resolve)
			s.holds(h)
			s.wantOrders(1)
		})
	}
}

// TestCrashOfTheRelay kills the relay between every two steps of a delivery: an event may go out twice, it has its effect once.
func TestCrashOfTheRelay(t *testing.T) {
	for kind, delivery := range map[string]string{kindCommit: "commit", kindPurchase: "purchase"} {
		for _, c := range []struct {
			dieAt string
			sent  int // how often the receiver is asked, in all
		}{
			{"before lease", 1}, {"after lease", 1}, {"before " + delivery, 1},
			{"after " + delivery, 2}, {"before settle", 2}, // delivered, but nobody wrote it down
			{"after settle", 1},
		} {
			t.Run(kind+"/"+c.dieAt, func(t *testing.T) {
				s, h := closed(t), heard{}
				s.mustAsk(s.mortal(""), s.placement(s.pricing.body(Item{42, 1})), h)
				first := s.mortal(c.dieAt)
				_, _ = first.relays[kind].round(t.Context())
				s.reached(first, c.dieAt)
				if c.dieAt != "before lease" && c.dieAt != "after settle" { // the dead relay's lease keeps others away for a while
					if full, err := s.mortal("").relays[kind].round(t.Context()); full || err != nil {
						t.Fatal(full, err)
					}
					if n := s.count(undelivered); n != 2 {
						t.Errorf("%d events undelivered, want both", n)
					}
				}
				s.settled(s.mortal(""), s.resolve)
				s.holds(h)
				neighbour, path := &s.inventory.fake, "POST /reservations/"+s.confirmed()[0].ID.String()+"/commit"
				if kind == kindPurchase {
					neighbour, path = &s.recs.fake, "POST /purchases"
				}
				if n := neighbour.asked(path); n != c.sent {
					t.Errorf("sent %d times, want %d", n, c.sent)
				}
			})
		}
	}
}

// crash places an order with a process that dies at the point, and returns the order's id if there is one by then.
func (s *shop) crash(point string, in placement) (id uuid.UUID) {
	s.t.Helper()
	m := s.mortal(point)
	s.during(m, point)
	if answer, err := m.ask(s.t.Context(), keyText("x"), in); err == nil {
		s.t.Fatalf("%s: answered %s", point, answer.Body)
	}
	s.reached(m, point)
	s.mend()
	if s.count(`SELECT count(*) FROM idempotency_keys`) == 1 {
		if err := s.db.QueryRow(s.t.Context(), `SELECT operation_id FROM idempotency_keys`).Scan(&id); err != nil {
			s.t.Fatal(err)
		}
	}
	return id
}

// during makes Postgres' own process die in the middle of the finish, at its commit, when that is the point; m lives on, and must
// not give back what may have been committed.
func (s *shop) during(m *mortal, point string) {
	if point != "during finish" {
		return
	}
	delete(m.on, point)
	m.on["before finish"] = func() {
		s.exec(`
CREATE FUNCTION power_cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER power_cut AFTER INSERT ON outbox DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION power_cut()`)
		m.reached = append(m.reached, point)
	}
}

func (s *shop) mend() { s.exec(`DROP FUNCTION IF EXISTS power_cut() CASCADE`) }

// reached fails a test whose point does not exist (any more): it would prove nothing.
func (s *shop) reached(m *mortal, point string) {
	s.t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if !slices.Contains(m.reached, point) {
		s.t.Fatalf("never came to %q, only to %q", point, m.reached)
	}
}

// left checks what the dead process left behind.
func (s *shop) left(claimed, held, confirmed bool) {
	s.t.Helper()
	got := [3]bool{s.count(`SELECT count(*) FROM idempotency_keys`) == 1, s.inventory.sold(42) == 1, len(s.confirmed()) == 1}
	if want := [3]bool{claimed, held, confirmed}; got != want {
		s.t.Errorf("claimed, held, confirmed: %v, want %v", got, want)
	}
}

// mustAsk is a client that gets a final answer.
func (s *shop) mustAsk(m *mortal, in placement, h heard) {
	s.t.Helper()
	answer, err := m.ask(s.t.Context(), keyText("x"), in)
	if err != nil {
		s.t.Fatalf("asked again: %v", err)
	}
	h.add("x", answer)
}
