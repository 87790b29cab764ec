package service

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/redis/go-redis/v9"

	"watertight.example/pkg/resilience"
)

// Classify says what an error tells about the health of a dependency of ours; it is the Classify of every [Service.Dependency]
// whose Config names none. It is [resilience.DefaultClassify], and knows besides:
//
//   - Postgres and Redis: "no such row", "no such key", and what the rows or the statement refused (SQLSTATE classes 22, 23 and
//     42) are answers of a healthy store; 57014 is a timeout, for it comes from our statement_timeout;
//   - a service of ours that answers "starting" is up and fast and says when to come back. To open a breaker on that would keep
//     us away from it for longer than it needs: after a cold start the whole shop would look broken for an open period.
func Classify(err error) resilience.Outcome {
	if errors.Is(err, pgx.ErrNoRows) || errors.Is(err, redis.Nil) {
		return resilience.OutcomeSuccess
	}
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		return classifySQL(refused.Code)
	}
	if status, ok := errors.AsType[*resilience.StatusError](err); ok && isStarting(status) {
		return resilience.OutcomeSuccess
	}
	return resilience.DefaultClassify(err)
}

func classifySQL(code string) resilience.Outcome {
	if code == "57014" {
		return resilience.OutcomeTimeout
	}
	switch code[:min(2, len(code))] {
	case "22", "23", "42":
		return resilience.OutcomeSuccess
	}
	return resilience.OutcomeFailure
}

// isStarting recognises the answer of [Service.gate].
func isStarting(status *resilience.StatusError) bool {
	if status.Status != http.StatusServiceUnavailable {
		return false
	}
	var p struct{ Type string }
	return json.Unmarshal(status.Body, &p) == nil && p.Type == starting().Type
}
