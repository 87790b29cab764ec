package main

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestLifeOfAnOrder: the database holds whoever writes SQL to the states an order may be born in, go to, and end in.
func TestLifeOfAnOrder(t *testing.T) {
	s := closed(t)
	born := `INSERT INTO orders SELECT gen_random_uuid(), '%s', 'POST /orders bob', 'k%[1]s', sha256('x'), 'bob', gen_random_uuid(), 1, 'EUR'`
	become := `UPDATE orders SET state = '%s' WHERE state = '%s'`
	for _, step := range []struct {
		sql   string
		legal bool
	}{
		{fmt.Sprintf(born, Cancelled), false},
		{fmt.Sprintf(born, Confirmed), true},
		{`INSERT INTO orders (id, state) VALUES (gen_random_uuid(), 'abandoned')`, true},
		{fmt.Sprintf(become, Abandoned, Confirmed), false},
		{fmt.Sprintf(become, Confirmed, Abandoned), false},
		{fmt.Sprintf(become, Cancelled, Abandoned), false},
		{fmt.Sprintf(become, Cancelled, Confirmed), true},
		{fmt.Sprintf(become, Confirmed, Cancelled), false},
		{fmt.Sprintf(become, Abandoned, Cancelled), false},
		{`DELETE FROM orders`, false},
		{`TRUNCATE orders CASCADE`, false},
	} {
		_, err := s.db.Exec(t.Context(), step.sql)
		var refused *pgconn.PgError // of a trigger, which names no constraint
		if (err == nil) != step.legal || (err != nil && !(errors.As(err, &refused) && refused.Code == "23514" && refused.ConstraintName == "")) {
			t.Errorf("%s: %v", step.sql, err)
		}
	}
}
