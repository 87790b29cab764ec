package main

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/google/uuid"

	"watertight.example/pkg/service"
)

const (
	relayBatch   = 20               // events leased at once
	relayWorkers = 4                // sent at once: a backlog must not flood a receiver that just came back
	relayLease   = 15 * time.Second // above the time a batch can take: its events in turns of relayWorkers, a second or two each
)

// event is one row of the outbox.
type event struct {
	ID       int64
	EventID  uuid.UUID
	OrderID  uuid.UUID
	Payload  []byte
	Attempts int // this one included; also the fencing token of its lease
	Refusals int // attempts that the receiver answered with a refusal; what parks an event
}

// relay sends the events of one kind to their receiver: at least once out; the receiver knows an event by its id, so exactly
// once in effect. One relay per kind, so that a receiver in trouble delays nobody else. Safe with many replicas.
type relay struct {
	kind    string
	store   *store
	send    sender
	idle    time.Duration
	wake    chan struct{} // of capacity 1
	metrics *metrics
	log     *slog.Logger
}

func newRelay(s *service.Service, st *store, m *metrics, kind string, idle time.Duration, send sender) *relay {
	return &relay{kind: kind, store: st, send: send, idle: idle, wake: make(chan struct{}, 1), metrics: m, log: s.Log}
}

// poke wakes the relay; it never blocks.
func (r *relay) poke() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// run works until ctx ends or the store fails; the chassis starts it again with back-off.
func (r *relay) run(ctx context.Context) error {
	for {
		full, err := r.round(ctx)
		if err != nil {
			return err
		}
		if full {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-r.wake:
		case <-time.After(r.idle - r.idle/8 + rand.N(r.idle/4+1)): // replicas drift apart
		}
	}
}

// round leases what is due, sends it and writes down what happened. full says that there is probably more that can be sent now.
func (r *relay) round(ctx context.Context) (full bool, err error) {
	events, err := r.store.due(ctx, r.kind, relayBatch)
	if err != nil || len(events) == 0 {
		return false, err
	}
	verdicts := make([]verdict, len(events))
	slots := make(chan struct{}, relayWorkers)
	var wg sync.WaitGroup
	for i, e := range events {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			verdicts[i] = judge(e, r.send(ctx, e))
		})
	}
	wg.Wait()
	full = len(events) == relayBatch
	for _, v := range verdicts {
		r.metrics.event(r.kind, v.result)
		switch v.result {
		case parked:
			r.log.ErrorContext(ctx, "event parked", "kind", r.kind, "event_id", v.EventID, "order_id", v.OrderID, "attempts", v.Attempts, "refusals", v.Refusals, "error", v.err)
		case retried:
			full = false // the receiver is not well: no hurry
		}
	}
	return full, r.store.settle(ctx, verdicts)
}
