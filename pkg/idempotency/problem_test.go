package idempotency

import (
	"net/http/httptest"
	"testing"
	"time"
)

// Retry-After has whole seconds. Rounded down, a caller comes back too early, and after half a second at once.
func TestRetryAfterIsRoundedUp(t *testing.T) {
	for wait, want := range map[time.Duration]string{
		0: "", time.Millisecond: "1", time.Second: "1", time.Second + 1: "2", 1900 * time.Millisecond: "2", time.Minute: "60",
	} {
		w := httptest.NewRecorder()
		WriteProblem(w, nil, &Refusal{Name: InProgress, Status: 409, RetryAfter: wait})
		if got := w.Header().Get("Retry-After"); got != want {
			t.Errorf("%s: Retry-After = %q, want %q", wait, got, want)
		}
	}
}
