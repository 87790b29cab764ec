package main

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"time"

	"watertight.example/pkg/resilience"
)

const (
	backoffBase = 250 * time.Millisecond
	backoffCap  = 5 * time.Second // what waited out an outage is sent at most this much later
)

// Poison is parked after so many refusals. A receiver that is away (refused, timeout, 502, 503, open breaker) has refused nothing,
// however often it was tried: what waited out an outage starts with a clean slate. A refusal in the receiver's own words is not going
// to change, but a second look costs little. A 500 may be a bug met by one event, or a receiver in trouble; a 4xx that is no problem
// document comes from somebody between, a misrouted proxy's 404 say.
const (
	parkRefused = 3
	parkUnclear = 20
)

// verdict is what becomes of an event that was sent.
type verdict struct {
	event
	result string
	after  time.Duration // retried: when again
	err    error
}

const (
	delivered = "delivered"
	retried   = "retried"
	parked    = "parked"
)

func judge(e event, err error) verdict {
	v := verdict{event: e, result: retried, after: backoff(e.Attempts), err: err}
	limit := parkAfter(err)
	if limit > 0 {
		v.Refusals++
	}
	var rejected *resilience.Rejected
	var status *resilience.StatusError
	switch {
	case err == nil:
		v.result = delivered
	case limit > 0 && v.Refusals >= limit:
		v.result = parked
	case errors.As(err, &rejected):
		v.after = max(v.after, min(rejected.RetryAfter, backoffCap))
	case errors.As(err, &status):
		v.after = max(v.after, min(status.RetryAfter, time.Minute))
	}
	return v
}

// parkAfter is how many refusals an event gets when the last one is err; 0 when err refuses nothing.
func parkAfter(err error) int {
	status, answered := errors.AsType[*resilience.StatusError](err)
	if !answered {
		return 0
	}
	switch status.Status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return 0
	case http.StatusInternalServerError:
		return parkUnclear
	}
	if status.Status < 400 || status.Status > 499 {
		return 0
	}
	switch problemName(err) {
	case "", "not-found", "method-not-allowed": // about the address, which a receiver of another version may not have: not about the event
		return parkUnclear
	}
	return parkRefused
}

// backoff doubles from backoffBase to backoffCap; the lower half is fixed, the upper is chance, so that events which failed
// together do not come back together.
func backoff(attempts int) time.Duration {
	d := min(backoffBase<<min(attempts-1, 10), backoffCap)
	return d/2 + rand.N(d/2+1)
}
