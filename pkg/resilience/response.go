package resilience

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// HeaderDoNotRetry with the value 1 marks an answer as final: it has been retried further down, see Final.
const HeaderDoNotRetry = "X-Do-Not-Retry"

const (
	maxErrorBody  = 64 << 10
	maxRetryAfter = time.Hour
)

// StatusError is an HTTP answer other than 2xx.
type StatusError struct {
	Status     int
	RetryAfter time.Duration // from Retry-After, at most an hour; 0 without one
	DoNotRetry bool          // the server said so
	Header     http.Header
	Body       []byte // the first 64 KiB

	mayHaveActed bool // the request is neither idempotent nor keyed
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("answered %d %s", e.Status, http.StatusText(e.Status))
}

// CheckResponse returns nil for a 2xx answer and leaves its body alone. For any other it reads at most 64 KiB of the body, closes it
// and returns a *StatusError. Use it inside fn.
func CheckResponse(resp *http.Response) error {
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		return nil
	}
	defer resp.Body.Close()
	// A body read to its end lets the connection be used again; one that never ends must not keep us.
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	return &StatusError{
		Status:       resp.StatusCode,
		RetryAfter:   ParseRetryAfter(resp.Header.Get("Retry-After"), time.Now()),
		DoNotRetry:   resp.Header.Get(HeaderDoNotRetry) == "1",
		Header:       resp.Header,
		Body:         body,
		mayHaveActed: resp.Request != nil && !repeatable(resp.Request),
	}
}

// ParseRetryAfter reads a Retry-After header, seconds or a date (RFC 9110, section 10.2.3), as a time to wait from now,
// between 0 and an hour. Anything else is 0.
func ParseRetryAfter(v string, now time.Time) time.Duration {
	if at, err := http.ParseTime(v); err == nil {
		return min(max(at.Sub(now), 0), maxRetryAfter)
	}
	seconds, err := strconv.ParseUint(v, 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) { // a number that is too large is the longest hint, not none
		return 0
	}
	return time.Duration(min(seconds, uint64(maxRetryAfter/time.Second))) * time.Second
}
