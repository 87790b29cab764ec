package resilience

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"time"
)

// pause returns how long to wait after attempt n (1 for the first): between half the ceiling and the ceiling, which doubles
// each time up to Cap. The random half spreads callers that failed together, the fixed half keeps them from coming
// straight back (AWS Architecture Blog, "Exponential Backoff And Jitter", there called equal jitter).
func (r Retry) pause(n int) time.Duration {
	half := r.ceiling(n) / 2
	return half + time.Duration(rand.Int64N(int64(half)+1))
}

func (r Retry) ceiling(n int) time.Duration {
	c := r.Base
	for ; n > 1 && c < r.Cap; n-- { // doubling step by step stops at Cap long before it could overflow
		c *= 2
	}
	return min(c, r.Cap)
}

// retryAfter returns what the dependency asked us to wait.
func retryAfter(err error) time.Duration {
	if s, ok := errors.AsType[*StatusError](err); ok {
		return s.RetryAfter
	}
	return 0
}

// DefaultRetryable tells whether another attempt may mend err: a connection that could not be made or broke, running out of an attempt's
// time, and the statuses 408, 425, 429, 502, 503, 504, and 409 with a Retry-After ("still in progress").
//
// It is false for everything else, for an answer with HeaderDoNotRetry, and, except where the server cannot have acted, for an HTTP
// request that HTTPClient knows to be neither idempotent nor keyed.
func DefaultRetryable(err error) bool {
	if _, ok := errors.AsType[*Rejected](err); ok {
		return false
	}
	if s, ok := errors.AsType[*StatusError](err); ok {
		return s.retryable()
	}
	if isConnect(err) {
		return true // nothing was sent
	}
	if _, ok := errors.AsType[*mayHaveActed](err); ok {
		return false
	}
	return isTimeout(err) || isBroken(err)
}

func (e *StatusError) retryable() bool {
	switch {
	case e.DoNotRetry:
		return false
	case e.Status == http.StatusTooEarly, e.Status == http.StatusTooManyRequests: // refused before any work
		return true
	case e.mayHaveActed:
		return false
	case e.Status == http.StatusConflict:
		return e.Header.Get("Retry-After") != ""
	}
	return e.Status == http.StatusRequestTimeout || e.Status == http.StatusBadGateway ||
		e.Status == http.StatusServiceUnavailable || e.Status == http.StatusGatewayTimeout
}

// isConnect reports whether err is that of a connection that was never made.
func isConnect(err error) bool {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return true
	}
	_, ok := errors.AsType[*net.DNSError](err) // the name of a container that is restarting does not exist for a moment
	return ok
}

// isBroken reports whether err is that of a connection which ended before the whole answer had come.
func isBroken(err error) bool {
	broken := []error{
		io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, syscall.ECONNRESET, syscall.ECONNREFUSED, syscall.ECONNABORTED,
		syscall.EPIPE, syscall.EHOSTUNREACH, syscall.ENETUNREACH,
	}
	if slices.ContainsFunc(broken, func(target error) bool { return errors.Is(err, target) }) {
		return true
	}
	// net/http keeps these two to itself.
	s := err.Error()
	return strings.Contains(s, "server closed idle connection") || strings.Contains(s, "GOAWAY")
}

type onceKey struct{}

// OneAttempt returns a context for a call that must not be repeated, though its Dependency retries others: a write that is
// neither idempotent nor carries a key.
func OneAttempt(ctx context.Context) context.Context { return context.WithValue(ctx, onceKey{}, true) }

func onlyOnce(ctx context.Context) bool { return ctx.Value(onceKey{}) != nil }
