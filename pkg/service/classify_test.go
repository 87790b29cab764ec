package service

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/redis/go-redis/v9"

	"watertight.example/pkg/resilience"
)

func TestClassify(t *testing.T) {
	sql := func(code string) error { return fmt.Errorf("find: %w", &pgconn.PgError{Code: code}) }
	answer := func(status int, body string) error {
		return &resilience.StatusError{Status: status, Body: []byte(body)}
	}
	for name, c := range map[string]struct {
		err  error
		want resilience.Outcome
	}{
		"nothing":              {nil, resilience.OutcomeSuccess},
		"no such row":          {fmt.Errorf("find: %w", pgx.ErrNoRows), resilience.OutcomeSuccess},
		"no such key":          {redis.Nil, resilience.OutcomeSuccess},
		"constraint":           {sql("23514"), resilience.OutcomeSuccess},
		"number out of range":  {sql("22003"), resilience.OutcomeSuccess},
		"no such table yet":    {sql("42P01"), resilience.OutcomeSuccess},
		"statement timeout":    {sql("57014"), resilience.OutcomeTimeout},
		"shutting down":        {sql("57P01"), resilience.OutcomeFailure},
		"too many connections": {sql("53300"), resilience.OutcomeFailure},
		"recovery conflict":    {sql("40001"), resilience.OutcomeFailure},
		"wrong node":           {sql("25006"), resilience.OutcomeFailure},
		"no code":              {sql(""), resilience.OutcomeFailure},
		"starting":             {answer(http.StatusServiceUnavailable, `{"type":"/problems/starting"}`), resilience.OutcomeSuccess},
		"shedding":             {answer(http.StatusServiceUnavailable, `{"type":"/problems/overloaded"}`), resilience.OutcomeFailure},
		"a proxy's 503":        {answer(http.StatusServiceUnavailable, `<html>starting</html>`), resilience.OutcomeFailure},
		"a liar's 500":         {answer(http.StatusInternalServerError, `{"type":"/problems/starting"}`), resilience.OutcomeFailure},
		"not found":            {answer(http.StatusNotFound, ``), resilience.OutcomeSuccess},
		"our deadline":         {context.DeadlineExceeded, resilience.OutcomeTimeout},
		"connection refused":   {errors.New("refused"), resilience.OutcomeFailure},
	} {
		if got := Classify(c.err); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// The answer that Classify must recognise is the one the chassis gives.
func TestClassifyKnowsTheGate(t *testing.T) {
	body, err := starting().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if got := Classify(&resilience.StatusError{Status: starting().Status, Body: body}); got != resilience.OutcomeSuccess {
		t.Errorf("a starting service counts as %v", got)
	}
}
