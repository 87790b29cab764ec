package resilience

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Rejected is the error of a call that a layer of this package did not start, or did not start again. It says which layer and, if
// known, when to try again. errors.Is matches another *Rejected by its Outcome, and one for the deadline matches
// context.DeadlineExceeded as well.
//
// One value may be shared by many callers: do not change it.
type Rejected struct {
	Dependency string
	Outcome    Outcome       // one of the rejected ones: which layer refused
	RetryAfter time.Duration // when trying again may make sense; 0 if unknown
	Cause      error         // what the attempts before the refusal had died of, if there were any
}

var rejectedTexts = map[Outcome]string{
	OutcomeRejectedOpen:     "not called: the breaker is open",
	OutcomeRejectedHalfOpen: "not called: the breaker is half-open and its probes are out",
	OutcomeRejectedLimit:    "not called: too many calls in flight",
	OutcomeRejectedBudget:   "not called again: the retry budget is used up",
	OutcomeRejectedDeadline: "not called: too little time left",
}

func (e *Rejected) Error() string {
	s := e.Dependency + ": " + rejectedTexts[e.Outcome]
	if e.RetryAfter > 0 {
		s += fmt.Sprintf(" (retry after %v)", e.RetryAfter.Round(time.Millisecond))
	}
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Rejected) Unwrap() error { return e.Cause }

// Is reports whether target is a *Rejected of the same outcome, and of the same dependency if it names one.
func (e *Rejected) Is(target error) bool {
	if target == context.DeadlineExceeded {
		return e.Outcome == OutcomeRejectedDeadline
	}
	t, ok := target.(*Rejected)
	return ok && t.Outcome == e.Outcome && (t.Dependency == "" || t.Dependency == e.Dependency)
}

// TimeoutError is the error of an attempt whose time ran out, its own or what the caller had left. It matches
// context.DeadlineExceeded whatever the error below says.
type TimeoutError struct {
	Dependency string
	Attempt    int // 1 for the first
	After      time.Duration
	Err        error // what fn returned
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("%s: attempt %d timed out after %v: %v", e.Dependency, e.Attempt, e.After.Round(time.Millisecond), e.Err)
}

// Unwrap returns what fn returned.
func (e *TimeoutError) Unwrap() error { return e.Err }

// Is makes a TimeoutError match context.DeadlineExceeded.
func (e *TimeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// Timeout reports true, as a net.Error of this kind does.
func (e *TimeoutError) Timeout() bool { return true }

// AttemptsError joins the errors of a call that was tried more than once, oldest first.
type AttemptsError struct {
	Dependency string
	Errs       []error
}

func (e *AttemptsError) Error() string {
	var b strings.Builder
	b.WriteString(e.Dependency)
	separator := ": "
	for i, err := range e.Errs {
		fmt.Fprintf(&b, "%sattempt %d: %v", separator, i+1, err)
		separator = "; "
	}
	return b.String()
}

// Unwrap returns the errors, the last attempt's first, so that errors.As finds the latest status.
func (e *AttemptsError) Unwrap() []error {
	latestFirst := make([]error, 0, len(e.Errs))
	for i := len(e.Errs) - 1; i >= 0; i-- {
		latestFirst = append(latestFirst, e.Errs[i])
	}
	return latestFirst
}

// Final tells whether err has already been retried, here or further down, or must not be: a server that answers with it should say
// so with HeaderDoNotRetry, or four hops with three attempts each make 81 calls of one.
func Final(err error) bool {
	if _, ok := errors.AsType[*AttemptsError](err); ok {
		return true
	}
	if r, ok := errors.AsType[*Rejected](err); ok && r.Outcome == OutcomeRejectedBudget {
		return true
	}
	s, ok := errors.AsType[*StatusError](err)
	return ok && s.DoNotRetry
}
