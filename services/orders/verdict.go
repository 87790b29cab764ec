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

// Poison is parked: a refusal (4xx) is not going to change, but a second look costs little; a 500 may be a bug met by one
// event, or a receiver in trouble. A receiver that is away (refused, timeout, 502, 503, open breaker) never parks anything.
const (
	parkRefused = 3
	parkBroken  = 20
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
	var rejected *resilience.Rejected
	var status *resilience.StatusError
	switch {
	case err == nil:
		v.result = delivered
	case errors.As(err, &status) && e.Attempts >= parkAfter(status.Status):
		v.result = parked
	case errors.As(err, &rejected):
		v.after = max(v.after, min(rejected.RetryAfter, backoffCap))
	case status != nil:
		v.after = max(v.after, min(status.RetryAfter, time.Minute))
	}
	return v
}

// parkAfter is how many attempts an event gets against a receiver that answers with status.
func parkAfter(status int) int {
	switch {
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly, status == http.StatusTooManyRequests:
	case status >= 400 && status < 500:
		return parkRefused
	case status == http.StatusInternalServerError:
		return parkBroken
	}
	return 1 << 31
}

// backoff doubles from backoffBase to backoffCap; the lower half is fixed, the upper is chance, so that events which failed
// together do not come back together.
func backoff(attempts int) time.Duration {
	d := min(backoffBase<<min(attempts-1, 10), backoffCap)
	return d/2 + rand.N(d/2+1)
}
