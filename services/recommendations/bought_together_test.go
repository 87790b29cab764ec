package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// The history is the same on every machine, in the sizes the plan flip was measured with.
func TestSeed(t *testing.T) {
	conn := connect(t, seeded(t))
	for sql, want := range map[string]int64{
		`SELECT count(*) FROM order_items`:                                                             649_997,
		`SELECT count(DISTINCT order_day) FROM order_items`:                                            61,
		`SELECT count(DISTINCT product_id) FROM order_items`:                                           lastProduct,
		`SELECT count(*) FROM order_items WHERE order_day = '` + salesDay + `'`:                        49_997,
		`SELECT count(*) FROM order_items WHERE order_day = '` + salesDay + `' AND product_id = 42`:    856,
		`SELECT sum(order_id % 1009 * product_id) FROM order_items`:                                    327_017_749_546,
		`SELECT count(*) FROM best_sellers`:                                                            lastProduct,
		`SELECT sum(sold) FROM best_sellers`:                                                           49_997,
		`SELECT sold FROM best_sellers WHERE product_id = 42`:                                          856,
		`SELECT n_mod_since_analyze FROM pg_stat_user_tables WHERE relname = 'order_items'`:            0,
		`SELECT count(*) FROM pg_class WHERE 'autovacuum_enabled=false' = ANY(reloptions)`:             1,
		`SELECT cardinality(most_common_vals::text::date[]) FROM pg_stats WHERE attname = 'order_day'`: 61,
	} {
		if got := count(t, conn, sql); got != want {
			t.Errorf("%s: %d, want %d", sql, got, want)
		}
	}
}

// After the seed the planner joins by order: through the primary key, or with a hash, whichever the sample of ANALYZE makes a
// little cheaper. The sick plan compares each row of one side with each of the other, order by order, in a join filter. The
// plan is asserted, not the time: that depends on the machine.
func TestPlanAfterSeed(t *testing.T) {
	conn := connect(t, seeded(t))
	if _, err := conn.Exec(t.Context(), "SET plan_cache_mode = force_custom_plan"); err != nil {
		t.Fatal(err)
	}
	sick := regexp.MustCompile(`Join Filter: .*order_id`)
	for _, product := range []int{7, 42} {
		rows, err := conn.Query(t.Context(), "EXPLAIN "+selectBoughtTogether, product, salesDay, 8)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		plan := strings.Join(lines, "\n")
		if !strings.Contains(plan, "order_items_product_day") || sick.MatchString(plan) {
			t.Errorf("product %d is joined row by row:\n%s", product, plan)
		}
	}
}

func TestBoughtTogether(t *testing.T) {
	base := start(t, seeded(t), "ROLL_IN_EVERY=1h")
	var got struct {
		ProductID int `json:"product_id"`
		Items     []pair
	}
	ask(t, "GET", base+"/products/7/bought-together?limit=3", "", 200, &got)
	if want := []pair{{19, 15}, {1995, 15}, {2, 10}}; got.ProductID != 7 || !slices.Equal(got.Items, want) {
		t.Errorf("product 7: %+v, want %v", got, want)
	}
	ask(t, "GET", base+"/products/42/bought-together", "", 200, &got)
	if len(got.Items) != 8 || slices.ContainsFunc(got.Items, func(p pair) bool { return p.ProductID == 42 }) {
		t.Errorf("product 42: %+v, want 8 others", got)
	}
	var best struct{ Items []seller }
	ask(t, "GET", base+"/best-sellers?limit=2", "", 200, &best)
	if want := []seller{{42, 856}, {2, 25}}; !slices.Equal(best.Items, want) {
		t.Errorf("best sellers: %v, want %v", best.Items, want)
	}
	ask(t, "GET", base+"/best-sellers", "", 200, &best)
	if len(best.Items) != 12 {
		t.Errorf("%d best sellers, want 12", len(best.Items))
	}
}

func TestBadQuestions(t *testing.T) {
	base := start(t, seeded(t), "ROLL_IN_EVERY=1h")
	for path, want := range map[string]struct {
		status  int
		problem string
	}{
		"/products/0/bought-together":                      {404, "/problems/unknown-product"},
		"/products/2001/bought-together":                   {404, "/problems/unknown-product"},
		"/products/-7/bought-together":                     {404, "/problems/unknown-product"},
		"/products/seven/bought-together":                  {404, "/problems/unknown-product"},
		"/products/7%00/bought-together":                   {404, "/problems/unknown-product"},
		"/products/99999999999999999999/bought-together":   {404, "/problems/unknown-product"},
		"/products/..%2f..%2fetc%2fpasswd/bought-together": {404, ""},
		"/products/7/bought-together?limit=0":              {400, "/problems/invalid-parameter"},
		"/products/7/bought-together?limit=21":             {400, "/problems/invalid-parameter"},
		"/products/7/bought-together?limit=":               {400, "/problems/invalid-parameter"},
		"/products/7/bought-together?limit=8&limit=9":      {400, "/problems/invalid-parameter"},
		"/best-sellers?limit=all":                          {400, "/problems/invalid-parameter"},
		"/purchases/42":                                    {404, "/problems/purchase-not-found"},
		"/purchases/3f9d8f0a-0000-4000-8000-000000000000":  {404, "/problems/purchase-not-found"},
	} {
		if got := ask(t, "GET", base+path, "", want.status, nil); got != want.problem && want.problem != "" {
			t.Errorf("%s: problem %q, want %q", path, got, want.problem)
		}
	}
}
