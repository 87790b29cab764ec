package planflip

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// session is a connection as the service's pool has it: with the query prepared once, and planned for its values each time.
type session struct{ *pgx.Conn }

func newSession(t *testing.T, url string) session {
	t.Helper()
	conn := connect(t, url)
	exec(t, conn, `SET plan_cache_mode = force_custom_plan`)
	if _, err := conn.Prepare(t.Context(), "bought_together", selectBoughtTogether); err != nil {
		t.Fatal(err)
	}
	return session{conn}
}

// list is the answer for a product.
func (s session) list(t *testing.T, product int) string {
	t.Helper()
	rows, err := s.Query(t.Context(), "bought_together", product, salesDay, limit)
	if err != nil {
		t.Fatal(err)
	}
	pairs, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ Product, Together int }])
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(pairs)
}

// plan is what this session would do with its prepared statement for the hottest product.
func (s session) plan(t *testing.T) Plan {
	t.Helper()
	rows, err := s.Query(t.Context(), fmt.Sprintf(`EXPLAIN EXECUTE bought_together(%d, '%s', %d)`, Hottest, salesDay, limit), pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return readPlan(Hottest, strings.Join(lines, "\n"))
}
