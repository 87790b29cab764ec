package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"watertight.example/pkg/idempotency"
	"watertight.example/pkg/resilience"
)

// placing is the story of this service. An order is placed in four steps, and a crash between any two of them leaves something
// that a retry, the completer or inventory's sweeper brings to the same end:
//
//	claim    the key is ours for the lease; a repetition gets its stored answer here and goes no further
//	quote    the customer is charged what the quote promised, or the order is refused
//	reserve  inventory holds the stock under the order's id: doing it twice is doing it once
//	finish   key, order, lines and events in one transaction: from here on the order exists, and the answer is fixed
//
// The claim comes before the quote is looked at, because a repetition must neither depend on pricing nor be refused for a quote
// that expired after the order was placed. No database transaction is open while another service is asked.
type placing struct {
	keys      *idempotency.Store
	store     *store
	pricing   *pricing
	inventory *inventory
	work      time.Duration // for quote and reservation
	placed    func()        // wakes the relay
	metrics   *metrics
	log       *slog.Logger
}

// placement is one customer's wish, as it is stored with the claim.
type placement struct {
	Customer string `json:"customer"`
	basket
}

// route scopes the keys, together with the customer.
const route = "POST /orders"

// request is the placement under a key. The customer is in the scope, not in the fingerprint.
func (in placement) request(key string) (idempotency.Request, error) {
	payload, err := json.Marshal(in)
	if err != nil {
		return idempotency.Request{}, err
	}
	fingerprint, err := idempotency.FingerprintOf(http.MethodPost, "/orders", nil, in.basket)
	return idempotency.Request{Scope: idempotency.Scope(route, in.Customer), Key: key, Fingerprint: fingerprint, Payload: payload}, err
}

// place claims the key and carries the order out; errors are final or tell when to repeat the request.
func (p *placing) place(ctx context.Context, key string, in placement) (idempotency.Answer, error) {
	req, err := in.request(key)
	if err != nil {
		return idempotency.Answer{}, err
	}
	type claimed struct {
		claim  *idempotency.Claim
		replay *idempotency.Answer
	}
	c, err := resilience.Call(ctx, p.store.postgres, func(ctx context.Context) (c claimed, err error) {
		c.claim, c.replay, err = p.keys.Claim(ctx, req)
		return c, err
	})
	switch {
	case err != nil:
		return idempotency.Answer{}, claimError(err)
	case c.replay != nil:
		return *c.replay, nil
	}
	answer, err := p.carryOut(ctx, c.claim, in)
	if err != nil {
		err = kept{err}
	}
	return answer, err
}

// kept is an error after which the intent stands: the completer carries it out, also when nobody asks again. Whoever is told must not
// be told that nothing was ordered.
type kept struct{ error }

func (k kept) Unwrap() error { return k.error }

// claimError is kept as well, unless it is certain that nothing was claimed: it was not tried, not sent, or Postgres said no.
func claimError(err error) error {
	if rejected, ok := errors.AsType[*resilience.Rejected](err); ok && rejected.Cause == nil {
		return err
	}
	if _, refused := errors.AsType[*pgconn.PgError](err); refused || pgconn.SafeToRetry(err) {
		return err
	}
	return kept{err}
}

// carryOut brings a claimed order to its answer, for the request or for the completer. It outlives the client: half-done
// work is the only way to an order nobody knows of.
func (p *placing) carryOut(ctx context.Context, claim *idempotency.Claim, in placement) (idempotency.Answer, error) {
	ctx, cancel := idempotency.Detach(ctx, p.work)
	defer cancel()
	answer, err := p.attempt(ctx, claim, in)
	if errors.Is(err, errReleased) || violates(err, oneOrderPerID) {
		// The sweeper ended this id while its owner was away. The intent stands: the same again, once, under a fresh one.
		fresh, renewErr := p.keys.Renew(ctx, claim)
		if renewErr != nil {
			return answer, p.giveUp(ctx, claim, renewErr)
		}
		answer, err = p.attempt(ctx, fresh, in)
	}
	if err != nil {
		return answer, p.giveUp(ctx, claim, err)
	}
	return answer, nil
}

func (p *placing) attempt(ctx context.Context, claim *idempotency.Claim, in placement) (idempotency.Answer, error) {
	order, err := p.prepare(ctx, claim, in)
	if refusal, final := refusalOf(err); final {
		return p.refuse(ctx, claim, refusal)
	}
	if err != nil {
		return idempotency.Answer{}, err
	}
	answer, err := created(order)
	if err != nil {
		return answer, err
	}
	err = p.keys.Finish(ctx, claim, answer, func(tx *pgx.Batch) { queueOrder(tx, claim, in, order) })
	if violates(err, oneOrderPerKey) { // the stock just held goes back by the sweeper, on the evidence that no such order exists
		answer, _, err = p.recall(ctx, claim)
		return answer, err
	}
	if err == nil {
		p.metrics.outcome(outcomeConfirmed)
		p.placed()
	}
	return answer, err
}

// prepare asks the others. A *service.Problem is a final refusal, any other error is transient.
func (p *placing) prepare(ctx context.Context, claim *idempotency.Claim, in placement) (Order, error) {
	q, err := p.pricing.quote(ctx, in.QuoteID)
	if err == nil {
		err = q.covers(in.Items, time.Now())
	}
	if refusal, final := refusalOf(err); final {
		if now, ok := p.pricing.requote(ctx, in.Items); ok {
			refusal.WithExtra("quote", now) // the customer decides; nobody is charged another amount than they saw
		}
		return Order{}, refusal
	}
	if err != nil {
		return Order{}, err
	}
	if err := p.inventory.reserve(ctx, claim.OperationID, in.Items); err != nil {
		return Order{}, err
	}
	return Order{ID: claim.OperationID, State: Confirmed, Lines: q.Lines, Total: q.Total, Currency: q.Currency,
		CreatedAt: time.Now().UTC().Truncate(time.Microsecond)}, nil // what Postgres can store, so that GET repeats it exactly
}

// giveUp ends an attempt without an answer. The key is free at once for the next try, unless it is not ours any more or nobody
// knows whether the order was just placed: then only time may free it.
func (p *placing) giveUp(ctx context.Context, claim *idempotency.Claim, err error) error {
	p.metrics.outcome(outcomeOf(err))
	if idempotency.RolledBack(err) {
		if releaseErr := p.keys.Release(ctx, claim); releaseErr != nil {
			p.log.WarnContext(ctx, "key not released, its lease must run out", "error", releaseErr)
		}
	}
	return err
}
