package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"watertight.example/pkg/storetest"
)

// body asks for quantity pieces of each product.
func body(quantity int, skus ...int) string {
	lines := make([]string, len(skus))
	for i, sku := range skus {
		lines[i] = fmt.Sprintf(`{"sku":%d,"quantity":%d}`, sku, quantity)
	}
	return `{"lines":[` + strings.Join(lines, ",") + `]}`
}

func TestQuote(t *testing.T) {
	database := storetest.Postgres(t)
	base, conn := start(t, database), connect(t, database)
	var made, shown quote
	ask(t, "POST", base+"/quotes", `{"lines":[{"sku":2000,"quantity":3},{"sku":1,"quantity":2}]}`, 201, &made)
	want := []line{{2000, 3, 2399, 7197}, {1, 2, 1000, 2000}} // in the order they were asked for
	if !slices.Equal(made.Lines, want) || made.Total != 9197 || made.Currency != "EUR" {
		t.Errorf("quote %+v, want %v, 9197 EUR", made, want)
	}
	if n := count(t, conn, `SELECT count(*) FROM quotes WHERE expires_at = created_at + interval '15 minutes'`); n != 1 {
		t.Errorf("%d quotes hold for 15 minutes, want 1", n)
	}
	ask(t, "GET", base+"/quotes/"+made.ID.String(), "", 200, &shown)
	if shown.ID != made.ID || !slices.Equal(shown.Lines, want) || shown.Total != made.Total || !shown.ExpiresAt.Equal(made.ExpiresAt) {
		t.Errorf("shown %+v, made %+v", shown, made)
	}

	// A quote holds: a new price is for new quotes.
	if _, err := conn.Exec(t.Context(), `UPDATE prices SET amount = 1, updated_at = now() WHERE sku = 1`); err != nil {
		t.Fatal(err)
	}
	ask(t, "GET", base+"/quotes/"+made.ID.String(), "", 200, &shown)
	if shown.Total != 9197 {
		t.Errorf("the quote changed to %d", shown.Total)
	}
	var second quote
	ask(t, "POST", base+"/quotes", body(1, 1), 201, &second)
	if second.Total != 1 || second.ID == made.ID {
		t.Errorf("the second quote is %+v", second)
	}
}

// An expired quote is still shown: only whoever uses it can say what that means.
func TestExpiredQuoteIsShown(t *testing.T) {
	base := start(t, storetest.Postgres(t), "QUOTE_TTL=1us")
	var made, shown quote
	ask(t, "POST", base+"/quotes", body(1, 7), 201, &made)
	ask(t, "GET", base+"/quotes/"+made.ID.String(), "", 200, &shown)
	if !shown.ExpiresAt.Before(time.Now()) {
		t.Errorf("expires at %v", shown.ExpiresAt)
	}
}

// The largest quote there can be is exact, here and in JavaScript (2^53).
func TestLargestQuote(t *testing.T) {
	database := storetest.Postgres(t)
	base, conn := start(t, database), connect(t, database)
	if _, err := conn.Exec(t.Context(), `UPDATE prices SET amount = 100000000`); err != nil {
		t.Fatal(err)
	}
	skus := make([]int, maxLines)
	for i := range skus {
		skus[i] = i + 1
	}
	var q quote
	ask(t, "POST", base+"/quotes", body(maxQuantity, skus...), 201, &q)
	if want := int64(maxLines * maxQuantity * 100_000_000); q.Total != want || want >= 1<<53 {
		t.Errorf("total %d, want %d", q.Total, want)
	}
}

func TestRefusedQuotesWriteNothing(t *testing.T) {
	database := storetest.Postgres(t)
	base, conn := start(t, database), connect(t, database)
	var problem struct {
		Type    string
		Unknown []int
	}
	ask(t, "POST", base+"/quotes", body(1, 1, 9999, 2, 2001), 422, &problem)
	if problem.Type != "/problems/unknown-sku" || !slices.Equal(problem.Unknown, []int{9999, 2001}) {
		t.Errorf("%+v", problem)
	}
	ask(t, "POST", base+"/quotes", body(1, 9999), 422, &problem)
	if !slices.Equal(problem.Unknown, []int{9999}) {
		t.Errorf("%+v", problem)
	}
	if _, err := conn.Exec(t.Context(), `UPDATE prices SET currency = 'SEK' WHERE sku = 2`); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, "POST", base+"/quotes", body(1, 1, 2), 422, nil); got != "/problems/mixed-currencies" {
		t.Errorf("mixed currencies: problem %q", got)
	}

	good, tooMany := body(1, 1), make([]int, maxLines+1)
	for i := range tooMany {
		tooMany[i] = i + 1
	}
	for name, bad := range map[string]string{
		"empty":          ``,
		"no object":      `[]`,
		"nothing":        `{}`,
		"null":           `{"lines":null}`,
		"null line":      `{"lines":[null]}`,
		"no lines":       body(1),
		"too many lines": body(1, tooMany...),
		"own price":      strings.Replace(good, `"sku":1`, `"sku":1,"unit_amount":1`, 1),
		"trailing data":  good + `{}`,
		"sku twice":      body(1, 7, 8, 7),
		"sku zero":       body(1, 0),
		"sku negative":   body(1, -1),
		"sku too large":  body(1, 1<<31),
		"sku missing":    `{"lines":[{"quantity":1}]}`,
		"sku text":       `{"lines":[{"sku":"1","quantity":1}]}`,
		"sku fraction":   `{"lines":[{"sku":1.5,"quantity":1}]}`,
		"quantity zero":  body(0, 1),
		"quantity minus": body(-1, 1),
		"quantity 100":   body(100, 1),
		"quantity huge":  `{"lines":[{"sku":1,"quantity":9223372036854775808}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			if problem := ask(t, "POST", base+"/quotes", bad, 400, nil); problem == "" {
				t.Error("the answer is no problem")
			}
		})
	}
	ask(t, "POST", base+"/quotes", good+strings.Repeat(" ", 100_000), 413, nil)
	if n := count(t, conn, `SELECT (SELECT count(*) FROM quotes) + (SELECT count(*) FROM quote_lines)`); n != 0 {
		t.Errorf("%d rows were written", n)
	}
	ask(t, "POST", base+"/quotes", good, 201, nil) // what the bad ones were made of is good
}

func TestUnknownQuotes(t *testing.T) {
	base := start(t, storetest.Postgres(t))
	for _, id := range []string{uuid.NewString(), uuid.Nil.String(), "42", "%00", "..%2fprices"} {
		ask(t, "GET", base+"/quotes/"+id, "", 404, nil)
	}
}
