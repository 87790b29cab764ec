package main

import (
	"context"
	"encoding/json"
	"net/http"

	"watertight.example/pkg/idempotency"
	"watertight.example/pkg/service"
)

// refuse stores a final "no" — unless this intent was placed long ago and only its key row is gone. By then its quote has
// expired, so every such repetition passes here, and the usual order pays nothing for the question.
func (p *placing) refuse(ctx context.Context, claim *idempotency.Claim, refusal *service.Problem) (idempotency.Answer, error) {
	if answer, found, err := p.recall(ctx, claim); found || err != nil {
		return answer, err
	}
	answer, err := asAnswer(refusal)
	if err == nil {
		err = p.keys.Finish(ctx, claim, answer, nil)
	}
	if err == nil {
		p.metrics.outcome(outcomeRefused)
	}
	return answer, err
}

// recall restores the key row of an order whose key was reaped, and with it the answer its customer got.
func (p *placing) recall(ctx context.Context, claim *idempotency.Claim) (answer idempotency.Answer, found bool, err error) {
	old, found, err := p.store.orderOf(ctx, claim.Scope, claim.Key)
	if err != nil || !found {
		return answer, found, err
	}
	old.State = Confirmed // as it was then, whatever became of it
	if answer, err = created(old.Order); err != nil {
		return answer, true, err
	}
	restored := *claim
	restored.Fingerprint = old.fingerprint
	if err := p.keys.Finish(ctx, &restored, answer, nil); err != nil {
		return answer, true, err
	}
	p.metrics.outcome(outcomeRecalled)
	if old.fingerprint != claim.Fingerprint {
		return answer, true, idempotency.Reused()
	}
	answer.Replayed = true
	return answer, true, nil
}

// created is the answer of a placed order.
func created(o Order) (idempotency.Answer, error) {
	body, err := json.Marshal(o)
	return idempotency.Answer{Status: http.StatusCreated, Body: body, Header: http.Header{
		"Content-Type": {"application/json"}, "Location": {"/orders/" + o.ID.String()}}}, err
}
