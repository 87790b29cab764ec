package service

import (
	"context"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"watertight.example/pkg/resilience"
)

// minRequestTimeout is the least a request must have left to be worth starting: below it the answer would come too late, and
// the work would only be taken from somebody who still waits.
const minRequestTimeout = 5 * time.Millisecond

// writeSlack is what a handler has, after its deadline, to send the answer that says so.
const writeSlack = 2 * time.Second

// window is when a request came and how long its caller will wait; Timeout starts from it again.
type window struct {
	ctx     context.Context // ends when the client goes away, not at a deadline
	arrived time.Time
	asked   time.Duration // 0: the caller did not say
	patient bool          // RESILIENCE_WITHOUT=deadline: whatever was asked, and whatever a route says
}

type windowKey struct{}

// deadline bounds a request by min(X-Request-Timeout-Ms, REQUEST_TIMEOUT). The header is relative, so clocks need not agree.
// A header that makes no sense is ignored and counted: refusing would let one bad client version take a whole page down.
func (s *Service) deadline(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		win := window{ctx: r.Context(), arrived: time.Now(), patient: s.base.Without == Deadline}
		if v := r.Header.Get(resilience.HeaderTimeout); v != "" {
			asked, err := resilience.ParseTimeout(v)
			switch {
			case err != nil:
				s.http.badTimeouts.Inc()
			case asked < minRequestTimeout && !win.patient:
				WriteProblem(w, r, deadlineTooShort())
				return
			default:
				win.asked = asked
			}
		}
		ctx := context.WithValue(r.Context(), windowKey{}, win)
		serveWithin(w, r.WithContext(ctx), next, win.limit(s.base.RequestTimeout))
	})
}

// Timeout gives a group of routes a deadline of its own instead of REQUEST_TIMEOUT: d after the request's arrival, or the
// caller's X-Request-Timeout-Ms when that is sooner. It may be longer than REQUEST_TIMEOUT; have a reason.
func Timeout(d time.Duration) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler { return &timed{own: d, next: next} }
}

// timed is a handler with a deadline of its own: a type, so that longestRequest finds it.
type timed struct {
	own  time.Duration
	next http.Handler
}

// ServeHTTP implements http.Handler.
func (t *timed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	win, ok := r.Context().Value(windowKey{}).(window)
	if !ok { // without the chassis
		win = window{ctx: r.Context(), arrived: time.Now()}
	}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(r.Context()))
	defer cancel(nil)
	defer context.AfterFunc(win.ctx, func() { cancel(context.Cause(win.ctx)) })()
	serveWithin(w, r.WithContext(ctx), t.next, win.limit(t.own))
}

// longestRequest is the longest time any request may take here: REQUEST_TIMEOUT, or the longest Timeout of a group of routes.
func (s *Service) longestRequest() time.Duration {
	longest := s.base.RequestTimeout
	_ = chi.Walk(s.root, func(_, _ string, _ http.Handler, middlewares ...func(http.Handler) http.Handler) error {
		for _, wrap := range middlewares {
			if group, ok := wrap(http.NotFoundHandler()).(*timed); ok {
				longest = max(longest, group.own)
			}
		}
		return nil
	})
	return longest
}

// limit is the instant the request must be over.
func (win window) limit(own time.Duration) time.Time {
	if win.patient {
		return win.arrived.Add(2 * boundless)
	}
	if win.asked > 0 {
		own = min(own, win.asked)
	}
	return win.arrived.Add(own)
}

// serveWithin runs next with a context deadline. The connection's write deadline follows it, because WriteTimeout of the
// server knows nothing of routes (and does not end the context: golang/go#59602).
func serveWithin(w http.ResponseWriter, r *http.Request, next http.Handler, limit time.Time) {
	ctx, cancel := context.WithDeadline(r.Context(), limit)
	defer cancel()
	_ = http.NewResponseController(w).SetWriteDeadline(limit.Add(writeSlack)) // a recorder in a test has none
	next.ServeHTTP(w, r.WithContext(ctx))
}

func deadlineTooShort() *Problem {
	return NewProblem(http.StatusServiceUnavailable, "deadline-too-short", "The time given is too short to do anything useful.").
		WithRetryAfter(retrySoon)
}
