package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
)

// body is a purchase of one piece of each product.
func body(event, order string, products ...int) string {
	lines := make([]string, len(products))
	for i, p := range products {
		lines[i] = fmt.Sprintf(`{"sku":%d,"quantity":1}`, p)
	}
	return fmt.Sprintf(`{"event_id":%q,"order_id":%q,"lines":[%s],"occurred_at":"2025-03-02T10:00:00.123456789Z"}`, event, order, strings.Join(lines, ","))
}

// together is how often b was bought with product.
func together(t *testing.T, base string, product, b int) int64 {
	t.Helper()
	var got struct{ Items []pair }
	ask(t, "GET", fmt.Sprintf("%s/products/%d/bought-together?limit=20", base, product), "", 200, &got)
	i := slices.IndexFunc(got.Items, func(p pair) bool { return p.ProductID == b })
	if i < 0 {
		return 0
	}
	return got.Items[i].Together
}

func TestPurchaseCountsAtOnceAndOnce(t *testing.T) {
	database := seeded(t)
	base, conn := start(t, database, "ROLL_IN_EVERY=1h"), connect(t, database)
	event, order := uuid.NewString(), uuid.NewString()

	var first, again, shown purchase
	ask(t, "POST", base+"/purchases", body(event, order, 500, 100), 201, &first)
	if n := together(t, base, 100, 500); n != 1 {
		t.Errorf("100 was bought with 500 %d times, want 1", n)
	}
	if want := []line{{100, 1}, {500, 1}}; !slices.Equal(first.Lines, want) {
		t.Errorf("lines %v, want %v", first.Lines, want)
	}
	for range 3 {
		ask(t, "POST", base+"/purchases", body(event, order, 100, 500), 200, &again)
	}
	ask(t, "GET", base+"/purchases/"+event, "", 200, &shown)
	for _, p := range []purchase{again, shown} {
		if p.EventID != first.EventID || p.OrderID != first.OrderID || !p.OccurredAt.Equal(first.OccurredAt) || !slices.Equal(p.Lines, first.Lines) {
			t.Errorf("repeated: %+v, first: %+v", p, first)
		}
	}
	if n := together(t, base, 100, 500); n != 1 {
		t.Errorf("after repetitions 100 was bought with 500 %d times, want 1", n)
	}
	if n := count(t, conn, `SELECT sold FROM best_sellers WHERE product_id = 100`); n != 26 {
		t.Errorf("100 was sold %d times, want 25 of the seed and 1", n)
	}
	for _, other := range []string{body(event, uuid.NewString(), 100, 500), body(event, order, 100)} {
		if problem := ask(t, "POST", base+"/purchases", other, 422, nil); problem != "/problems/purchase-mismatch" {
			t.Errorf("problem %q for another purchase under the same event id", problem)
		}
	}
	// A second, intended purchase of the same things is another event.
	ask(t, "POST", base+"/purchases", body(uuid.NewString(), uuid.NewString(), 100, 500), 201, nil)
	if n := together(t, base, 100, 500); n != 2 {
		t.Errorf("after a second purchase 100 was bought with 500 %d times, want 2", n)
	}
}

func TestSameEventAtOnce(t *testing.T) {
	database := seeded(t)
	base, conn := start(t, database, "ROLL_IN_EVERY=1h"), connect(t, database)
	store := testStore(t, database)
	p := purchase{EventID: uuid.New(), OrderID: uuid.New(), Lines: []line{{100, 1}, {500, 2}}}
	var created [12]bool
	var all sync.WaitGroup
	for i := range created {
		all.Go(func() {
			var err error
			if created[i], err = store.record(t.Context(), p); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := len(slices.DeleteFunc(created[:], func(c bool) bool { return !c })); n != 1 {
		t.Errorf("%d of 12 recorded the event, want 1", n)
	}
	if n := count(t, conn, `SELECT sold FROM best_sellers WHERE product_id = 500`); n != 27 {
		t.Errorf("500 was sold %d times, want 25 of the seed and 2", n)
	}
	if n := together(t, base, 100, 500); n != 1 {
		t.Errorf("100 was bought with 500 %d times, want 1", n)
	}
}

// Purchases of the same products in opposite order must wait for each other, not deadlock.
func TestPurchasesDoNotDeadlock(t *testing.T) {
	store := testStore(t, seeded(t))
	var all sync.WaitGroup
	for _, lines := range [][]line{{{100, 1}, {500, 1}, {900, 1}}, {{900, 1}, {500, 1}, {100, 1}}} {
		for range 4 {
			all.Go(func() {
				for range 25 {
					if _, err := store.record(t.Context(), purchase{EventID: uuid.New(), OrderID: uuid.New(), Lines: lines}); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	all.Wait()
}

func TestBadPurchasesWriteNothing(t *testing.T) {
	database := seeded(t)
	base, conn := start(t, database, "ROLL_IN_EVERY=1h"), connect(t, database)
	event, order := uuid.NewString(), uuid.NewString()
	good := body(event, order, 1)
	tooMany := make([]int, 21)
	for i := range tooMany {
		tooMany[i] = i + 1
	}
	for name, bad := range map[string]string{
		"empty":              ``,
		"no object":          `[]`,
		"nothing":            `{}`,
		"null":               strings.Replace(good, `"`+event+`"`, `null`, 1),
		"unknown field":      strings.Replace(good, `{`, `{"price":1,`, 1),
		"field twice":        strings.Replace(good, `{`, `{"order_id":"`+order+`",`, 1),
		"trailing data":      good + good,
		"event no uuid":      strings.Replace(good, event, "42", 1),
		"event zero":         strings.Replace(good, event, uuid.Nil.String(), 1),
		"order no uuid":      strings.Replace(good, order, "../../orders", 1),
		"order zero":         strings.Replace(good, order, uuid.Nil.String(), 1),
		"no time":            strings.Replace(good, `,"occurred_at":"2025-03-02T10:00:00.123456789Z"`, ``, 1),
		"time no time":       strings.Replace(good, "2025-03-02T10:00:00.123456789Z", "yesterday", 1),
		"no lines":           body(event, order),
		"too many lines":     body(event, order, tooMany...),
		"sku twice":          body(event, order, 7, 8, 7),
		"sku zero":           body(event, order, 0),
		"sku unknown":        body(event, order, 2001),
		"sku negative":       body(event, order, -1),
		"sku text":           strings.Replace(good, `"sku":1`, `"sku":"1"`, 1),
		"sku fraction":       strings.Replace(good, `"sku":1`, `"sku":1.5`, 1),
		"sku huge":           strings.Replace(good, `"sku":1`, `"sku":1e30`, 1),
		"quantity zero":      strings.Replace(good, `"quantity":1`, `"quantity":0`, 1),
		"quantity too large": strings.Replace(good, `"quantity":1`, `"quantity":100`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			if problem := ask(t, "POST", base+"/purchases", bad, 400, nil); problem == "" {
				t.Error("the answer is no problem")
			}
		})
	}
	ask(t, "POST", base+"/purchases", good+strings.Repeat(" ", 100_000), 413, nil)
	if n := count(t, conn, `SELECT (SELECT count(*) FROM purchases) + (SELECT count(*) FROM live_items) + (SELECT sum(sold) FROM best_sellers) - 49997`); n != 0 {
		t.Errorf("%d rows or sales were written", n)
	}
	ask(t, "POST", base+"/purchases", good, 201, nil) // what the bad ones were made of is good
}
