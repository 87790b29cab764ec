package planflip

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Status is how things are.
type Status struct {
	Plan  Plan      // of the hottest product
	Until time.Time // when the flip in force ends; zero: none is, or somebody else has changed the statistics
}

// Broken tells whether there is anything to mend.
func (s Status) Broken() bool { return s.Plan.Flipped || !s.Until.IsZero() }

// State asks for the plan, without running the query, and for the end of the flip. It takes milliseconds.
func State(ctx context.Context, db DB) (s Status, err error) {
	err = db.QueryRow(ctx, `SELECT until FROM demo.plan_flips`).Scan(&s.Until)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return s, fmt.Errorf("plan flip: %w", err)
	}
	s.Plan, err = Explain(ctx, db, Hottest)
	return s, err
}

// Plan is how Postgres runs the query for a product.
type Plan struct {
	Product int
	Text    string // as EXPLAIN prints it
	Flipped bool   // rows of the day are compared one by one, in a join filter; "Nested Loop" alone would be no sign of it

	// These are only known when the query was run, by ExplainAnalyze.
	Ran     bool
	Took    time.Duration // of the execution, without planning
	Removed int64         // rows that join filters compared in vain
}

// Explain asks for the plan without running the query.
func Explain(ctx context.Context, db DB, product int) (Plan, error) {
	return explain(ctx, db, `EXPLAIN `, product)
}

// ExplainAnalyze runs the query, on the database in use, and gives its plan with what it cost. Of the hottest product with a
// flipped plan that is many seconds of work; ctx limits it.
func ExplainAnalyze(ctx context.Context, db DB, product int) (Plan, error) {
	return explain(ctx, db, `EXPLAIN (ANALYZE, TIMING false) `, product) // timing of each row would be most of what it measures
}

var (
	joinFilter = regexp.MustCompile(`Join Filter: .*order_id`)
	removed    = regexp.MustCompile(`Rows Removed by Join Filter: (\d+)`)
	execution  = regexp.MustCompile(`Execution Time: ([\d.]+) ms`)
)

func explain(ctx context.Context, db DB, verb string, product int) (Plan, error) {
	rows, err := db.Query(ctx, verb+selectBoughtTogether, product, salesDay, limit)
	if err != nil {
		return Plan{}, fmt.Errorf("explain: %w", err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return Plan{}, fmt.Errorf("explain: %w", err)
	}
	return readPlan(product, strings.Join(lines, "\n")), nil
}

// readPlan takes from EXPLAIN's text what matters here.
func readPlan(product int, text string) Plan {
	p := Plan{Product: product, Text: text, Flipped: joinFilter.MatchString(text)}
	if m := execution.FindStringSubmatch(text); m != nil {
		ms, err := strconv.ParseFloat(m[1], 64)
		p.Ran, p.Took = err == nil, time.Duration(ms*float64(time.Millisecond))
	}
	for _, m := range removed.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.ParseInt(m[1], 10, 64) // only digits; too many would be 0, and there are no such tables
		p.Removed += n
	}
	return p
}
