package main

import (
	"slices"
	"strings"
	"testing"

	"watertight.example/pkg/storetest"
)

func TestPrices(t *testing.T) {
	base := start(t, storetest.Postgres(t))
	var got struct {
		Prices  []price
		Unknown []int
	}
	ask(t, "GET", base+"/prices?sku=2000&sku=1&sku=9999&sku=1&sku=2001", "", 200, &got)
	if want := []price{{1, 1000, "EUR"}, {2000, 2399, "EUR"}}; !slices.Equal(got.Prices, want) {
		t.Errorf("prices %v, want %v", got.Prices, want)
	}
	if want := []int{2001, 9999}; !slices.Equal(got.Unknown, want) {
		t.Errorf("unknown %v, want %v", got.Unknown, want)
	}
	var text map[string]any
	ask(t, "GET", base+"/prices?sku=1", "", 200, &text)
	if list, ok := text["unknown"].([]any); !ok || len(list) != 0 {
		t.Errorf("unknown is %v, want an empty list", text["unknown"])
	}
	ask(t, "GET", base+"/prices?sku=2001", "", 200, &text)
	if list, ok := text["prices"].([]any); !ok || len(list) != 0 {
		t.Errorf("prices is %v, want an empty list", text["prices"])
	}
	ask(t, "GET", base+"/prices?sku=1"+strings.Repeat("&sku=2", 49), "", 200, &got)
}

func TestBadPriceQuestions(t *testing.T) {
	base := start(t, storetest.Postgres(t))
	for _, query := range []string{
		"", "?sku=", "?sku=0", "?sku=-1", "?sku=1.5", "?sku=one", "?sku=1%27--", "?sku=2147483648", "?sku=99999999999999999999", "?sku=1&sku=x", "?product=1",
		"?sku=1" + strings.Repeat("&sku=2", 50),
	} {
		if problem := ask(t, "GET", base+"/prices"+query, "", 400, nil); problem != "/problems/invalid-parameter" {
			t.Errorf("%s: problem %q", query, problem)
		}
	}
}

// Every product has a price in its category's band, and one that could stand on a tag; all of them are the same everywhere.
func TestSeed(t *testing.T) {
	database := storetest.Postgres(t)
	start(t, database)
	conn := connect(t, database)
	for sql, want := range map[string]int64{
		`SELECT count(*) FROM prices WHERE sku BETWEEN 1 AND 2000 AND currency = 'EUR'`: 2000,
		`SELECT count(*) FROM prices`:                                           2000,
		`SELECT sum(amount * sku) FROM prices`:                                  10_903_794_877,
		`SELECT count(*) FROM prices WHERE amount % 100 NOT IN (0, 50, 90, 99)`: 0,
		`SELECT count(*) FROM prices JOIN (VALUES (0, 9, 89), (1, 6, 149), (2, 4, 129), (3, 19, 249), (4, 12, 149), (5, 5, 119), (6, 9, 299),
			(7, 8, 79), (8, 3, 45), (9, 4, 59), (10, 7, 159), (11, 6, 199)) AS band (category, low, high) ON category = (sku - 1) % 12
			WHERE amount NOT BETWEEN low * 100 AND high * 100`: 0,
	} {
		if got := count(t, conn, sql); got != want {
			t.Errorf("%s: %d, want %d", sql, got, want)
		}
	}
}

func TestPricesAreChecked(t *testing.T) {
	database := storetest.Postgres(t)
	start(t, database)
	conn := connect(t, database)
	for _, set := range []string{"amount = 0", "amount = -1", "amount = 100000001", "currency = 'eur'", "currency = 'EURO'", "currency = NULL", "sku = 0"} {
		if _, err := conn.Exec(t.Context(), "UPDATE prices SET "+set+" WHERE sku = 1"); err == nil {
			t.Errorf("%s was accepted", set)
		}
	}
}
