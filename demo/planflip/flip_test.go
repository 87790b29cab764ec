package planflip

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestPlanFlip has one database for all its parts; each of them leaves it mended.
func TestPlanFlip(t *testing.T) {
	owner, demo := newDatabase(t)
	for name, part := range map[string]func(t *testing.T, owner, demo string){
		"ten of ten times":          tenFlips,
		"nobody sees a gap":         nobodySeesAGap,
		"the role may do this only": roleMayNotDoMore,
		"every flip ends":           everyFlipEnds,
	} {
		t.Run(name, func(t *testing.T) { part(t, owner, demo) })
	}
}

// everything is a checksum of the table, which no flip may change.
const everything = `SELECT count(*) || ' ' || sum(hashtextextended(o::text, 0)) FROM order_items o`

// Ten of ten tries on the same rows, with a session that has run the query before: it must get the sick plan and the healthy one
// as soon as anybody else. Plans are asserted, not times; how many rows the sick one compares is given by the data.
func tenFlips(t *testing.T, owner, demo string) {
	db, warm := open(t, demo), newSession(t, owner)
	rows, hot, usual := ask[string](t, warm, everything), warm.list(t, Hottest), warm.list(t, 7)
	for range 10 { // more than the five after which a plan could become generic
		warm.list(t, Hottest)
	}
	compared := ask[int64](t, warm, inVain)
	size, before := ask[int64](t, warm, tableSize), healthy(t, db)
	for try := range 10 {
		began := time.Now()
		status, err := Flip(t.Context(), db, time.Hour)
		if err != nil {
			t.Fatalf("flip %d: %v\n%s", try, err, status.Plan.Text)
		}
		took := time.Since(began)
		if left := time.Until(status.Until); left < 59*time.Minute || left > 61*time.Minute {
			t.Errorf("flip %d ends in %s", try, left)
		}
		if p := warm.plan(t); !p.Flipped {
			t.Errorf("flip %d does not reach a warm connection:\n%s", try, p.Text)
		}
		p, err := ExplainAnalyze(t.Context(), db, 7)
		if err != nil || !p.Flipped || p.Removed != compared {
			t.Errorf("flip %d of product 7: %v\n%s", try, err, p.Text)
		}
		if err := Analyze(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if p := warm.plan(t); p.Flipped {
			t.Errorf("the mend of flip %d does not reach a warm connection:\n%s", try, p.Text)
		}
		t.Logf("flipped in %s, product 7 took %s then; mended, product 42 took %s", took, p.Took, healthy(t, db))
	}
	is(t, db, false, false)
	if got := ask[string](t, warm, everything); got != rows {
		t.Errorf("the table's rows are %s, were %s", got, rows)
	}
	if hotNow, usualNow := warm.list(t, Hottest), warm.list(t, 7); hotNow != hot || usualNow != usual {
		t.Errorf("the lists are %s and %s, were %s and %s", hotNow, usualNow, hot, usual)
	}
	// The deleted rows of one flip are left, never those of ten.
	sizeNow, after := ask[int64](t, warm, tableSize), healthy(t, db)
	t.Logf("%d bytes, were %d; product 42 took %s, was %s", sizeNow, size, after, before)
	if sizeNow > size*5/4 {
		t.Errorf("ten flips made the table grow from %d to %d bytes", size, sizeNow)
	}
	if after > 3*before+10*time.Millisecond { // a machine busy with other things; the plan itself is asserted above
		t.Errorf("product 42 took %s before ten flips, %s after", before, after)
	}
}

// inVain is how many pairs of rows the sick plan compares for product 7, less those that belong together.
const inVain = `
WITH day AS (SELECT * FROM order_items WHERE order_day = '` + salesDay + `'), own AS (SELECT * FROM day WHERE product_id = 7)
SELECT (SELECT count(*) FROM own) * (SELECT count(*) FROM day) - (SELECT count(*) FROM day JOIN own USING (order_id) WHERE day.product_id <> 7)`

const tableSize = `SELECT pg_total_relation_size('order_items')`

// healthy is the usual time of the hottest product.
func healthy(t *testing.T, db DB) time.Duration {
	t.Helper()
	var all []time.Duration
	for range 9 {
		p, err := ExplainAnalyze(t.Context(), db, Hottest)
		if err != nil || p.Flipped || !p.Ran {
			t.Fatalf("%v\n%s", err, p.Text)
		}
		all = append(all, p.Took)
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// Whoever reads during a flip sees every row, and what is written meanwhile is neither lost nor doubled.
func nobodySeesAGap(t *testing.T, owner, demo string) {
	db, reader, writer := open(t, demo), connect(t, owner), connect(t, owner)
	const seeded = `SELECT count(*) FROM order_items WHERE order_day = '` + salesDay + `' AND order_id < 1000000`
	whole := ask[int](t, reader, seeded)
	ctx, stop := context.WithCancel(t.Context())
	written := make(chan int)
	go func() {
		n := 0
		for ; ctx.Err() == nil; n++ {
			if _, err := writer.Exec(t.Context(), `INSERT INTO order_items (order_id, product_id, order_day) VALUES ($1, 1, $2)`, 1_000_000+n, salesDay); err != nil {
				t.Error(err)
				break
			}
		}
		written <- n
	}()
	flipped := make(chan error)
	go func() {
		_, err := Flip(t.Context(), db, time.Hour)
		flipped <- err
	}()
	reads := 0
	for done := false; !done; reads++ {
		select {
		case err := <-flipped:
			if err != nil {
				t.Error(err)
			}
			done = true
		default:
		}
		if n := ask[int](t, reader, seeded); n != whole {
			t.Fatalf("read %d saw %d of %d rows", reads, n, whole)
		}
	}
	stop()
	n := <-written
	if got := ask[int](t, reader, `SELECT count(*) FROM order_items WHERE order_id >= 1000000`); got != n || n == 0 || reads < 5 {
		t.Errorf("%d of %d rows that were written meanwhile are there; %d reads", got, n, reads)
	}
	exec(t, reader, `DELETE FROM order_items WHERE order_id >= 1000000`)
	if err := Analyze(t.Context(), db); err != nil {
		t.Error(err)
	}
}

// The role may do what a flip needs, and nothing else.
func roleMayNotDoMore(t *testing.T, _, demo string) {
	db := open(t, demo)
	for _, sql := range []string{
		`UPDATE order_items SET qty = 2`, `TRUNCATE order_items`, `DROP TABLE order_items`, `ALTER TABLE order_items SET (autovacuum_enabled = true)`,
		`SELECT FROM purchases`, `DELETE FROM live_items`, `SELECT FROM best_sellers`, `CREATE TABLE public.mine (i int)`, `CREATE ROLE another`,
	} {
		if _, err := db.Exec(t.Context(), sql); err == nil {
			t.Errorf("demo may %s", sql)
		}
	}
	if _, err := Flip(t.Context(), db, time.Millisecond); err == nil || !strings.Contains(err.Error(), "between 1s and 1h") {
		t.Errorf("a flip for a millisecond: %v", err)
	}
}

// What is explained here is what recommendations runs.
func TestTheQueryIsTheServices(t *testing.T) {
	source := read(t, service+"store.go")
	for _, want := range []string{"const salesDay = \"" + salesDay + "\"\n", "const selectBoughtTogether = `" + selectBoughtTogether + "`\n"} {
		if !strings.Contains(source, want) {
			t.Errorf("services/recommendations/store.go lacks\n%s", want)
		}
	}
}
