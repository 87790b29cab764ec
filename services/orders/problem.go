package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"watertight.example/pkg/idempotency"
	"watertight.example/pkg/resilience"
	"watertight.example/pkg/service"
)

// refuse is a final "no" of the business: stored, and replayed to whoever asks with the same key.
func refuse(name, detail string) *service.Problem {
	return service.NewProblem(http.StatusUnprocessableEntity, name, detail)
}

// refusalOf finds a final "no" in an error.
func refusalOf(err error) (*service.Problem, bool) {
	var p *service.Problem
	return p, errors.As(err, &p)
}

// problemName is the name of another service's problem answer, "" for every other error. A bare status is not
// enough: a 404 of a misrouted proxy must not become "no such quote".
func problemName(err error) string {
	name, ok := problemMember(err, "type").(string)
	if !ok {
		return ""
	}
	name, ok = strings.CutPrefix(name, "/problems/")
	if !ok {
		return ""
	}
	return name
}

// problemMember is one member of another service's problem answer with a 4xx status, or nil.
func problemMember(err error, member string) any {
	var status *resilience.StatusError
	if !errors.As(err, &status) || status.Status < 400 || status.Status > 499 {
		return nil
	}
	if !strings.HasPrefix(status.Header.Get("Content-Type"), "application/problem+json") {
		return nil
	}
	var members map[string]any
	if json.Unmarshal(status.Body, &members) != nil {
		return nil
	}
	return members[member]
}

// asProblem turns what pkg/idempotency refuses with into the chassis' problem; other errors pass.
func asProblem(err error) error {
	var r *idempotency.Refusal
	if !errors.As(err, &r) {
		return err
	}
	return service.NewProblem(r.Status, r.Name, r.Detail).WithRetryAfter(r.RetryAfter).Wrap(err)
}

// asAnswer is the final answer that tells the customer a refusal.
func asAnswer(p *service.Problem) (idempotency.Answer, error) {
	body, err := json.Marshal(p)
	if err != nil {
		return idempotency.Answer{}, err
	}
	return idempotency.Answer{Status: p.Status, Header: http.Header{"Content-Type": {"application/problem+json"}}, Body: body}, nil
}
