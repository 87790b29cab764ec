package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"watertight.example/pkg/resilience"
)

func TestPoisonIsParkedAndBlocksNobody(t *testing.T) {
	s := open(t, "RELAY_EVERY=10ms", "RECOMMENDATIONS_OPEN_FOR=1ms")
	s.recs.poison = 666
	for name, sku := range map[string]int{"bad": 666, "a": 42, "b": 42, "c": 42} {
		s.order(name, s.pricing.body(Item{sku, 1})).is(t, 201, "")
	}
	s.eventually("the poison parked, the rest delivered", func() bool {
		return s.count(`SELECT count(*) FROM outbox WHERE parked_at IS NOT NULL`) == 1 && s.count(undelivered) == 1
	})
	if n := s.count(`SELECT refusals FROM outbox WHERE parked_at IS NOT NULL`); n != parkRefused {
		t.Errorf("parked after %d refusals, want %d", n, parkRefused)
	}
	if len(s.recs.known()) != 3 {
		t.Errorf("%d purchases delivered, want 3", len(s.recs.known()))
	}
}

func TestAReceiverThatIsAwayParksNothing(t *testing.T) {
	for name, err := range map[string]error{
		"timeout":      context.DeadlineExceeded,
		"refused":      errors.New("connection refused"),
		"breaker open": &resilience.Rejected{Outcome: resilience.OutcomeRejectedOpen, RetryAfter: time.Hour},
		"502":          &resilience.StatusError{Status: 502},
		"503":          &resilience.StatusError{Status: 503, RetryAfter: 3 * time.Second},
		"429":          &resilience.StatusError{Status: 429},
		"409":          &resilience.StatusError{Status: 409},
	} {
		v := judge(event{Attempts: 1000, Refusals: 1000}, err)
		if v.result != retried || v.after < backoffBase/2 || v.after > backoffCap || v.Refusals != 1000 {
			t.Errorf("%s: %s after %v, %d refusals", name, v.result, v.after, v.Refusals)
		}
	}
	if v := judge(event{Attempts: 1}, &resilience.StatusError{Status: 503, RetryAfter: 3 * time.Second}); v.after < 3*time.Second {
		t.Errorf("asked to wait 3 s, waits %v", v.after)
	}
}

// refusedWith is a receiver's own "no", a problem document of this name.
func refusedWith(status int, name string) *resilience.StatusError {
	return &resilience.StatusError{Status: status, Header: http.Header{"Content-Type": {"application/problem+json"}},
		Body: []byte(`{"type":"/problems/` + name + `"}`)}
}

func TestPoisonByAnswer(t *testing.T) {
	for _, c := range []struct {
		name     string
		err      *resilience.StatusError
		refusals int // that park it
	}{
		{"400", refusedWith(400, "malformed-request"), parkRefused},
		{"404", refusedWith(404, "reservation-not-found"), parkRefused},
		{"422", refusedWith(422, "purchase-mismatch"), parkRefused},
		{"404 of a router", refusedWith(404, "not-found"), parkUnclear},
		{"404 of a proxy", &resilience.StatusError{Status: 404}, parkUnclear},
		{"403 of a proxy", &resilience.StatusError{Status: 403}, parkUnclear},
		{"500", &resilience.StatusError{Status: 500}, parkUnclear},
	} {
		err := &resilience.Rejected{Cause: c.err}
		if v := judge(event{Attempts: 1000, Refusals: c.refusals - 2}, err); v.result != retried || v.Refusals != c.refusals-1 {
			t.Errorf("%s: %s after %d refusals, want another try", c.name, v.result, v.Refusals)
		}
		if v := judge(event{Attempts: c.refusals, Refusals: c.refusals - 1}, err); v.result != parked {
			t.Errorf("%s: %s after %d refusals, want it parked", c.name, v.result, c.refusals)
		}
	}
}

// TestAnOutageMakesNoPoison: after any number of vain attempts the first answer, whatever it is, does not park the event.
func TestAnOutageMakesNoPoison(t *testing.T) {
	s := closed(t)
	away := []error{errors.New("connection refused"), context.DeadlineExceeded, &resilience.Rejected{Outcome: resilience.OutcomeRejectedOpen}}
	for name, first := range map[string]error{
		"500": &resilience.StatusError{Status: 500}, "404 of a proxy": &resilience.StatusError{Status: 404}, "422": refusedWith(422, "purchase-mismatch"),
	} {
		s.placeAlone(name)
		s.exec(`UPDATE outbox SET attempts = 5000 WHERE done_at IS NULL`) // an hour or so
		answers := append(slices.Clone(away), first, nil)
		r := s.relayAlone(func(context.Context, event) (err error) {
			err, answers = answers[0], answers[1:]
			return err
		})
		for range len(answers) {
			s.due()
			if _, err := r.round(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if n := s.count(`SELECT count(*) FROM outbox WHERE kind = 'purchase' AND done_at IS NULL`); n != 0 {
			t.Errorf("%s: the event is not delivered", name)
		}
	}
}

// TestParkedEventsCanBeSentAgain with the statement that docs/orders.md gives.
func TestParkedEventsCanBeSentAgain(t *testing.T) {
	const unpark = `UPDATE outbox SET parked_at = NULL, refusals = 0, next_at = now() WHERE parked_at IS NOT NULL`
	if page, err := os.ReadFile("../../docs/orders.md"); err != nil || !strings.Contains(string(page), unpark) {
		t.Errorf("docs/orders.md does not say %q (%v)", unpark, err)
	}
	s := closed(t)
	s.placeAlone("x")
	var answer error = refusedWith(422, "purchase-mismatch")
	r := s.relayAlone(func(context.Context, event) error { return answer })
	for range parkRefused {
		s.due()
		if _, err := r.round(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	const isParked = `SELECT count(*) FROM outbox WHERE parked_at IS NOT NULL AND last_error <> ''`
	if n := s.count(isParked); n != 1 {
		t.Fatalf("%d parked, want 1", n)
	}
	s.exec(unpark)
	for _, answer = range []error{answer, nil} { // one more refusal does not park it again
		s.due()
		if _, err := r.round(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.count(`SELECT count(*) FROM outbox WHERE kind = 'purchase' AND done_at IS NULL`); n != 0 {
		t.Errorf("the event is not delivered after it was unparked")
	}
}
