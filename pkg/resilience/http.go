package resilience

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// HeaderAttempt numbers an attempt, 1 for the first, so that the next hop can tell a retry from a new request.
const HeaderAttempt = "X-Attempt"

// newHTTPClient makes a client whose connections fit the bulkhead.
func newHTTPClient(d *Dependency) *http.Client {
	idle := max(d.cfg.Bulkhead.Max, d.cfg.Adaptive.Max)
	if idle == 0 {
		idle = 64
	}
	dial := time.Second
	if t := d.cfg.Timeout.Attempt; t > 0 {
		dial = min(dial, t)
	}
	transport := &http.Transport{
		DialContext: (&net.Dialer{Timeout: dial}).DialContext,
		// Every slot keeps its connection. There is no MaxConnsPerHost: net/http would make a second queue of it, one without a bound.
		MaxIdleConns:        idle,
		MaxIdleConnsPerHost: idle,
		// Well below the minute or two after which servers hang up, or a request meets a connection closed the moment before.
		IdleConnTimeout:        30 * time.Second,
		TLSHandshakeTimeout:    dial,
		MaxResponseHeaderBytes: 64 << 10,
		DisableCompression:     true, // within one network, and a small body cannot unpack to a gigabyte
	}
	return &http.Client{
		Transport:     &decorator{next: transport, dep: d},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// decorator adds the headers of the wire contract to each request.
type decorator struct {
	next http.RoundTripper
	dep  *Dependency
}

// RoundTrip implements http.RoundTripper.
func (t *decorator) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if IsHedge(ctx) && !repeatable(req) {
		closeBody(req)
		return nil, errNotHedged
	}
	out := req.Clone(ctx)
	out.Header.Set(HeaderAttempt, strconv.Itoa(AttemptFromContext(ctx)))
	out.Header.Set(HeaderTraceparent, spanFor(ctx).String())
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline)
		if left <= hopMargin(left) {
			closeBody(req)
			return nil, &Rejected{Dependency: t.dep.name, Outcome: OutcomeRejectedDeadline}
		}
		out.Header.Set(HeaderTimeout, FormatTimeout(left))
	}
	ownEveryAttempt(out)
	resp, err := t.next.RoundTrip(out)
	if err != nil && !repeatable(req) {
		err = &mayHaveActed{err}
	}
	return resp, err
}

// CloseIdleConnections makes http.Client.CloseIdleConnections reach the transport.
func (t *decorator) CloseIdleConnections() {
	t.next.(interface{ CloseIdleConnections() }).CloseIdleConnections()
}

// ownEveryAttempt keeps net/http from sending a request again on its own, which it does with an idempotent or keyed one when a kept
// connection breaks: without a pause, a budget or anybody counting. It only does so for a body it can have again, or for none;
// so it gets one that it cannot.
func ownEveryAttempt(req *http.Request) {
	req.GetBody = nil
	if (req.Body == nil || req.Body == http.NoBody) && repeatable(req) {
		req.Body = emptyBody{}
	}
}

type emptyBody struct{}

func (emptyBody) Read([]byte) (int, error) { return 0, io.EOF }
func (emptyBody) Close() error             { return nil }

func closeBody(req *http.Request) {
	if req.Body != nil {
		req.Body.Close()
	}
}

// repeatable tells whether sending req twice does no more than sending it once (RFC 9110, section 9.2.2).
func repeatable(req *http.Request) bool {
	switch req.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodPut, http.MethodDelete:
		return true
	}
	return req.Header.Get("Idempotency-Key") != ""
}

// errNotHedged is what a second attempt gets for a request that must not be sent twice.
var errNotHedged = errors.New("resilience: a request that is neither idempotent nor keyed is not hedged")

// mayHaveActed marks an error after which nobody knows whether the server has done what must not be done twice.
type mayHaveActed struct{ error }

func (e *mayHaveActed) Unwrap() error { return e.error }

type attemptKey struct{}

// AttemptFromContext returns the number of the attempt that fn is running for, 1 for the first and outside Call.
func AttemptFromContext(ctx context.Context) int {
	if n, ok := ctx.Value(attemptKey{}).(int); ok {
		return n
	}
	return 1
}
