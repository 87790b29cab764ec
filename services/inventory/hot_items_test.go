package main

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"watertight.example/pkg/resilience"
)

// TestAHotItemLeavesSlotsToOthers: while somebody sits on the row of one item and its buyers queue up, a buyer of another is served.
func TestAHotItemLeavesSlotsToOthers(t *testing.T) {
	s, _ := newStore(t)
	policy := defaults(t).primaryPolicy()
	policy.Timeout, policy.Breaker = resilience.Timeout{Total: time.Minute}, resilience.Breaker{}
	dep, err := resilience.New("postgres-primary", policy, nil) // with the bulkhead it has in the shop
	if err != nil {
		t.Fatal(err)
	}
	defer dep.Close()
	s.dep = dep
	sitter, err := s.db.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	conn := sitter.Hijack() // not one of the pool's
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), `BEGIN; SELECT FROM items WHERE sku = 42 FOR UPDATE`); err != nil {
		t.Fatal(err)
	}

	const buyers = 20
	served := make(chan error, buyers)
	for range buyers {
		go func() {
			_, err := s.Reserve(t.Context(), uuid.New(), []Line{{42, 1}})
			served <- err
		}()
	}
	eventually(t, "all want it, as many as may wait for the row", func() bool {
		var waiting int
		if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM pg_locks WHERE NOT granted`).Scan(&waiting); err != nil {
			t.Fatal(err)
		}
		return s.hot.wanted(42) == buyers && waiting == s.hot.max
	})
	mustReserve(t, s, uuid.New(), Line{7, 1})
	if len(served) != 0 {
		t.Fatalf("%d buyers of the locked item are through: %v", len(served), <-served)
	}

	if _, err := conn.Exec(t.Context(), `ROLLBACK`); err != nil {
		t.Fatal(err)
	}
	for range buyers {
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
	if len(s.hot.items) != 0 {
		t.Errorf("%d items remembered that nobody wants", len(s.hot.items))
	}
	s.mustBalance(t)
}

// TestWaitingForAHotItemEndsWithTheRequest, as a full bulkhead does, and gives back what was entered before.
func TestWaitingForAHotItemEndsWithTheRequest(t *testing.T) {
	h := newHotItems(3)
	leave, err := h.enter(t.Context(), []Line{{42, 1}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	waiting.Go(func() {
		_, err := h.enter(ctx, []Line{{7, 1}, {42, 1}})
		if !errors.Is(err, &resilience.Rejected{Outcome: resilience.OutcomeRejectedLimit}) {
			t.Errorf("%v, want a rejection", err)
		}
	})
	eventually(t, "it waits", func() bool { return h.wanted(42) == 2 })
	cancel()
	waiting.Wait()
	if h.wanted(7) != 0 || h.wanted(42) != 1 {
		t.Errorf("wanted by %d and %d, want 0 and 1", h.wanted(7), h.wanted(42))
	}
	leave()
	if h.wanted(42) != 0 {
		t.Error("who left is still counted")
	}
}

func (h *hotItems) wanted(sku int32) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if item := h.items[sku]; item != nil {
		return item.wanted
	}
	return 0
}
