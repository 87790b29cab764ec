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
