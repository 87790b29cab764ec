package resilience

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"time"
)

// HeaderAttempt numbers an attempt, HeaderDoNotRetry marks an answer as final.
const (
	HeaderAttempt    = "X-Attempt"
	HeaderDoNotRetry = "X-Do-Not-Retry"
)

const maxErrorBody = 64 << 10

// CheckResponse returns nil for a 2xx answer. For any other it reads at most 64 KiB of the body, closes it, and returns a *StatusError.
func CheckResponse(resp *http.Response) error {
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		return nil
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	e := &StatusError{Status: resp.StatusCode, Header: resp.Header, Body: body, DoNotRetry: resp.Header.Get(HeaderDoNotRetry) == "1"}
	if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s >= 0 {
		e.RetryAfter = time.Duration(s) * time.Second
	}
	return e
}

type decorator struct{ next http.RoundTripper }

func (t decorator) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	req = req.Clone(ctx)
	if deadline, ok := ctx.Deadline(); ok {
		req.Header.Set(HeaderTimeout, FormatTimeout(time.Until(deadline)))
	}
	req.Header.Set(HeaderAttempt, strconv.Itoa(AttemptFromContext(ctx)))
	trace, ok := TraceFromContext(ctx)
	if !ok {
		trace = NewTrace()
	}
	req.Header.Set("traceparent", trace.Child().String())
	return t.next.RoundTrip(req)
}

func newHTTPClient(cfg Config) *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = max(cfg.Bulkhead.Max, 16)
	return &http.Client{
		Transport:     decorator{transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

type attemptKey struct{}

// AttemptFromContext returns the number of the attempt ctx belongs to, 1 for the first.
func AttemptFromContext(ctx context.Context) int {
	if n, ok := ctx.Value(attemptKey{}).(int); ok {
		return n
	}
	return 1
}
