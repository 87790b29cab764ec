package resilience

import (
	"fmt"
	"net/http"
	"time"
)

// Rejected is the error of a call that a layer of this package refused to start, or to start again.
type Rejected struct {
	Dependency string
	Outcome    Outcome       // which layer refused
	RetryAfter time.Duration // when trying again may make sense; 0 if unknown
	Cause      error         // the error before the refusal, if an attempt had been made
}

func (e *Rejected) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Dependency, e.Outcome, e.Cause)
	}
	return fmt.Sprintf("%s: %s", e.Dependency, e.Outcome)
}

// Unwrap returns the cause.
func (e *Rejected) Unwrap() error { return e.Cause }

// StatusError is an HTTP answer other than 2xx.
type StatusError struct {
	Status     int
	RetryAfter time.Duration
	DoNotRetry bool
	Header     http.Header
	Body       []byte // at most 64 KiB
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("status %d %s", e.Status, http.StatusText(e.Status))
}
