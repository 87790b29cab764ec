package idempotency

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Names of the problems this package refuses with: the last segment of an RFC 9457 "type".
const (
	KeyMissing     = "idempotency-key-missing" // 400
	KeyInvalid     = "idempotency-key-invalid" // 400
	Malformed      = "malformed-request"       // 400: the body broke off
	BodyTooLarge   = "body-too-large"          // 413
	KeyReused      = "idempotency-key-reused"  // 422
	InProgress     = "request-in-progress"     // 409 + Retry-After
	OutcomeUnknown = "outcome-unknown"         // 503 + Retry-After
	Unavailable    = "dependency-unavailable"  // 503 + Retry-After
)

// ErrFenced is the cause of a refusal when another owner took the key over: this owner's attempt is too old and
// nothing it tried to store was stored.
var ErrFenced = errors.New("idempotency: another owner took over this key")

// Refusal is the one error type of this package: a request that was not executed, or whose outcome is not
// known, and what its caller should do next. Detail is fit for the caller; Cause is for logs only.
type Refusal struct {
	Name       string
	Status     int
	Detail     string
	RetryAfter time.Duration // 0: repeating the request as it is will not help
	Cause      error
}

func (r *Refusal) Error() string {
	msg := "idempotency: " + r.Name
	if r.Detail != "" {
		msg += ": " + r.Detail
	}
	if r.Cause != nil {
		msg += ": " + r.Cause.Error()
	}
	return msg
}

// Unwrap gives the cause.
func (r *Refusal) Unwrap() error { return r.Cause }

func keyInvalid(detail string) *Refusal {
	return &Refusal{Name: KeyInvalid, Status: 400, Detail: detail}
}

// unreadable is a body that could not be read to its end.
func unreadable(cause error) *Refusal {
	var tooLarge *http.MaxBytesError // the Middleware's limit, or a lower one in front of it
	if errors.As(cause, &tooLarge) {
		return &Refusal{Name: BodyTooLarge, Status: 413, Cause: cause,
			Detail: fmt.Sprintf("The body must not be larger than %d bytes.", tooLarge.Limit)}
	}
	return &Refusal{Name: Malformed, Status: 400, Detail: "The body broke off.", Cause: cause}
}

// Reused is the refusal of a key that was used with a different request. It does not say what differed: the caller may be
// guessing somebody's request.
func Reused() *Refusal {
	return &Refusal{Name: KeyReused, Status: 422, Detail: "This key was used with a different request. Use a new key for a new intent."}
}

func inProgress(cause error) *Refusal {
	return &Refusal{Name: InProgress, Status: 409, RetryAfter: time.Second, Cause: cause,
		Detail: "A request with this key is being processed. Repeat it with the same key."}
}

func outcomeUnknown(cause error) *Refusal {
	return &Refusal{Name: OutcomeUnknown, Status: 503, RetryAfter: time.Second, Cause: cause,
		Detail: "The outcome is not known yet. Repeat the request with the same key to learn it."}
}

func unavailable(cause error) *Refusal {
	return &Refusal{Name: Unavailable, Status: 503, RetryAfter: time.Second, Cause: cause,
		Detail: "The request could not be accepted. Repeat it with the same key."}
}
