package main

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"watertight.example/pkg/resilience"
)

// due makes every event that waits due now.
func (s *shop) due() {
	s.exec(`UPDATE outbox SET next_at = now() - interval '1 second' WHERE done_at IS NULL AND parked_at IS NULL`)
}

const undelivered = `SELECT count(*) FROM outbox WHERE done_at IS NULL`

func TestEventsArriveOnceInEffect(t *testing.T) {
	s := open(t, "RELAY_EVERY=10ms")
	orders := map[uuid.UUID]bool{}
	for _, name := range []string{"a", "b", "c"} {
		orders[s.order(name, s.pricing.body(Item{42, 1})).is(t, 201, "").order(t).ID] = true
	}
	s.eventually("all events delivered", func() bool { return s.count(undelivered) == 0 })
	for _, p := range s.recs.known() {
		if !orders[p.OrderID] || len(p.Items) != 1 || p.Items[0] != (Item{42, 1}) || p.OccurredAt.IsZero() {
			t.Errorf("purchase = %+v", p)
		}
	}
	if n := len(s.recs.known()); n != 3 {
		t.Errorf("%d purchases, want 3", n)
	}
	for id := range orders {
		if got := s.inventory.stateOf(id); got != "committed" {
			t.Errorf("reservation of %s is %q, want committed", id, got)
		}
	}
}

// relayAlone gives a relay that only the test drives.
func (s *shop) relayAlone(send func(context.Context, event) error) *relay {
	p := s.patient(s.db)
	return &relay{kind: kindPurchase, store: p.store, send: send, idle: time.Hour, wake: make(chan struct{}, 1),
		metrics: newMetrics(prometheus.NewRegistry()), log: slog.New(slog.DiscardHandler)}
}

func TestLostDeliveryAnswersAreRepeatedWithTheSameEventID(t *testing.T) {
	s := closed(t)
	s.placeAlone("x")
	seen := map[uuid.UUID]int{}
	answers := []error{errors.New("connection reset"), &resilience.Rejected{Outcome: resilience.OutcomeRejectedOpen}, nil}
	r := s.relayAlone(func(_ context.Context, e event) error {
		seen[e.EventID]++
		return answers[seen[e.EventID]-1]
	})
	for range answers {
		s.due()
		if _, err := r.round(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	s.due()
	if _, err := r.round(t.Context()); err != nil { // delivered: not sent again
		t.Fatal(err)
	}
	if len(seen) != 1 {
		t.Fatalf("events = %v, want one id", seen)
	}
	for id, n := range seen {
		if n != 3 {
			t.Errorf("event %s sent %d times, want 3", id, n)
		}
	}
}

func TestPoisonIsParkedAndBlocksNobody(t *testing.T) {
	s := open(t, "RELAY_EVERY=10ms", "RECOMMENDATIONS_OPEN_FOR=1ms")
	s.recs.poison = 666
	for name, sku := range map[string]int{"bad": 666, "a": 42, "b": 42, "c": 42} {
		s.order(name, s.pricing.body(Item{sku, 1})).is(t, 201, "")
	}
	s.eventually("the poison parked, the rest delivered", func() bool {
		return s.count(`SELECT count(*) FROM outbox WHERE parked_at IS NOT NULL`) == 1 && s.count(undelivered) == 1
	})
	if n := s.count(`SELECT attempts FROM outbox WHERE parked_at IS NOT NULL`); n != parkRefused {
		t.Errorf("parked after %d attempts, want %d", n, parkRefused)
	}
	if len(s.recs.known()) != 3 {
		t.Errorf("%d purchases delivered, want 3", len(s.recs.known()))
	}
}

func TestAReceiverThatIsAwayParksNothing(t *testing.T) {
	for name, err := range map[string]error{
		"timeout":      context.DeadlineExceeded,
		"refused":      errors.New("connection refused"),
		"breaker open": &resilience.Rejected{Outcome: resilience.OutcomeRejectedOpen, RetryAfter: time.Hour},
		"502":          &resilience.StatusError{Status: 502},
		"503":          &resilience.StatusError{Status: 503, RetryAfter: 3 * time.Second},
		"429":          &resilience.StatusError{Status: 429},
		"409":          &resilience.StatusError{Status: 409},
	} {
		v := judge(event{Attempts: 1000}, err)
		if v.result != retried || v.after < backoffBase/2 || v.after > backoffCap {
			t.Errorf("%s: %s after %v", name, v.result, v.after)
		}
	}
	if v := judge(event{Attempts: 1}, &resilience.StatusError{Status: 503, RetryAfter: 3 * time.Second}); v.after < 3*time.Second {
		t.Errorf("asked to wait 3 s, waits %v", v.after)
	}
}

func TestPoisonByStatus(t *testing.T) {
	for status, attempts := range map[int]int{400: parkRefused, 404: parkRefused, 422: parkRefused, 500: parkBroken} {
		err := &resilience.Rejected{Cause: &resilience.StatusError{Status: status}}
		if v := judge(event{Attempts: attempts - 1}, err); v.result != retried {
			t.Errorf("%d, attempt %d: %s, want another try", status, attempts-1, v.result)
		}
		if v := judge(event{Attempts: attempts}, err); v.result != parked {
			t.Errorf("%d, attempt %d: %s, want it parked", status, attempts, v.result)
		}
	}
}

func TestBackoffGrowsToItsCap(t *testing.T) {
	for attempt, ceiling := range map[int]time.Duration{1: backoffBase, 2: 2 * backoffBase, 3: 4 * backoffBase, 6: backoffCap, 1000: backoffCap} {
		for range 100 {
			if d := backoff(attempt); d < ceiling/2 || d > ceiling {
				t.Fatalf("attempt %d waits %v, want %v to %v", attempt, d, ceiling/2, ceiling)
			}
		}
	}
}

func TestLeasedEventsAreNotSentByOthersAndLateFailuresAreFenced(t *testing.T) {
	s := closed(t)
	s.placeAlone("x")
	s.due()
	st := s.patient(s.db).store
	first, err := st.due(t.Context(), kindPurchase, 10)
	if err != nil || len(first) != 1 {
		t.Fatalf("due = %v, %v, want one event", first, err)
	}
	if other, err := st.due(t.Context(), kindPurchase, 10); err != nil || len(other) != 0 {
		t.Fatalf("another relay got %v, %v while the lease runs", other, err)
	}
	s.due() // the lease ends: its relay froze
	second, err := st.due(t.Context(), kindPurchase, 10)
	if err != nil || len(second) != 1 || second[0].Attempts != 2 {
		t.Fatalf("due = %+v, %v, want attempt 2", second, err)
	}
	late := verdict{event: first[0], result: parked, err: errors.New("late")}
	if err := st.settle(t.Context(), []verdict{late}); err != nil {
		t.Fatal(err)
	}
	if n := s.count(`SELECT count(*) FROM outbox WHERE parked_at IS NOT NULL`); n != 0 {
		t.Error("a relay that lost its lease parked the event")
	}
	if err := st.settle(t.Context(), []verdict{{event: first[0], result: delivered}}); err != nil { // but a delivery is one, whoever made it
		t.Fatal(err)
	}
	if n := s.count(`SELECT count(*) FROM outbox WHERE kind = 'purchase' AND done_at IS NULL`); n != 0 {
		t.Error("a late delivery was not written down")
	}
}

func TestReapKeepsWhatIsNotDelivered(t *testing.T) {
	s := closed(t)
	s.placeAlone("a")
	s.placeAlone("b")
	s.exec(`UPDATE outbox SET done_at = CASE WHEN kind = 'purchase' THEN now() - interval '25 hours' ELSE NULL END, created_at = now() - interval '3 days'`)
	if err := s.patient(s.db).store.reap(t.Context(), 24*time.Hour); err != nil {
		t.Fatal(err)
	}
	if n := s.count(`SELECT count(*) FROM outbox`); n != 2 {
		t.Errorf("%d events left, want the 2 that are not delivered", n)
	}
	waiting, parked, err := s.patient(s.db).store.backlog(t.Context())
	if err != nil || waiting[kindCommit] != 2 || parked[kindCommit] != 0 || waiting[kindPurchase] != 0 {
		t.Errorf("backlog = %v, %v, %v", waiting, parked, err)
	}
}
