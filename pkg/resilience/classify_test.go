package resilience

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"testing"
)

func TestDefaultClassify(t *testing.T) {
	instrumented := func(err error) error {
		return &url.Error{Op: "Get", URL: "http://x", Err: fmt.Errorf("traced: %w", err)}
	}
	for name, c := range map[string]struct {
		err  error
		want Outcome
	}{
		"nil":                        {nil, OutcomeSuccess},
		"404":                        {&StatusError{Status: 404}, OutcomeSuccess},
		"409":                        {&StatusError{Status: 409}, OutcomeSuccess},
		"408":                        {&StatusError{Status: 408}, OutcomeFailure},
		"429":                        {&StatusError{Status: 429}, OutcomeFailure},
		"500":                        {fmt.Errorf("wrapped: %w", &StatusError{Status: 500}), OutcomeFailure},
		"deadline":                   {context.DeadlineExceeded, OutcomeTimeout},
		"socket deadline":            {instrumented(os.ErrDeadlineExceeded), OutcomeTimeout},
		"net.Error":                  {instrumented(&net.DNSError{IsTimeout: true}), OutcomeTimeout},
		"refused":                    {instrumented(errors.New("connection refused")), OutcomeFailure},
		"canceled, by whom?":         {context.Canceled, OutcomeFailure},
		"not called further down":    {fmt.Errorf("stock: %w", &Rejected{Outcome: OutcomeRejectedOpen}), OutcomeRejectedOpen},
		"in vain further down":       {&Rejected{Outcome: OutcomeRejectedBudget, Cause: &StatusError{Status: 503}}, OutcomeFailure},
		"a hedge that was not sent":  {instrumented(errNotHedged), OutcomeCanceled},
		"all attempts, timeout last": {&AttemptsError{Errs: []error{errDown, context.DeadlineExceeded}}, OutcomeTimeout},
	} {
		if got := DefaultClassify(c.err); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
