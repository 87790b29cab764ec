package resilience

import (
	"context"
	"errors"
	"net/http"
	"os"
)

// DefaultClassify says what an error of fn means for the health of the dependency:
//
//   - a *StatusError below 500 is an answer, hence a success, but for 408, 425 and 429;
//   - running out of time is a timeout, whoever set it;
//   - a *Rejected comes from a dependency further down, or from this process: it says nothing about this one;
//   - everything else is a failure, context.Canceled too: that the caller has left is seen by its context, not by an error
//     that anything inside fn may have made.
func DefaultClassify(err error) Outcome {
	if err == nil {
		return OutcomeSuccess
	}
	if r, ok := errors.AsType[*Rejected](err); ok {
		if r.Cause != nil { // it was called, and that is what came of it
			return DefaultClassify(r.Cause)
		}
		return r.Outcome
	}
	if s, ok := errors.AsType[*StatusError](err); ok {
		return classifyStatus(s.Status)
	}
	if errors.Is(err, errNotHedged) {
		return OutcomeCanceled
	}
	if isTimeout(err) {
		return OutcomeTimeout
	}
	return OutcomeFailure
}

func classifyStatus(status int) Outcome {
	switch {
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests, status >= 500:
		return OutcomeFailure
	}
	return OutcomeSuccess
}

// isTimeout looks through every wrapping: *url.Error answers Timeout for the error it holds, but not for one that an instrumenting
// transport has wrapped before.
func isTimeout(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		return true
	}
	for ; err != nil; err = errors.Unwrap(err) {
		if t, ok := err.(interface{ Timeout() bool }); ok && t.Timeout() {
			return true
		}
	}
	return false
}
