package main

import (
	"context"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func products(t testing.TB) []Product {
	t.Helper()
	all, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestCatalogueIsABelievableShop(t *testing.T) {
	all := products(t)
	if len(all) != productCount {
		t.Fatalf("%d products, want %d", len(all), productCount)
	}
	names, descriptions, kinds := map[string]int{}, map[string]int{}, map[string]bool{}
	leftover := regexp.MustCompile(`[{}$]|(?i)lorem|\b[Aa] [aeio]|  `)
	for i, p := range all {
		if p.ID != i+1 || p.Category != i%12 {
			t.Fatalf("product at %d has id %d and category %d", i, p.ID, p.Category)
		}
		if other := names[p.Name]; other != 0 {
			t.Errorf("%d and %d are both %q", other, p.ID, p.Name)
		}
		names[p.Name] = p.ID
		descriptions[p.Description]++
		kinds[p.Kind] = true
		text := p.Name + " " + p.Description + " " + p.Material + " " + p.Colour + " " + p.Size
		if bad := leftover.FindString(text); bad != "" {
			t.Errorf("product %d: %q in %q", p.ID, bad, text)
		}
		if n := strings.Count(p.Description, "."); n < 2 || len(p.Description) > 400 {
			t.Errorf("product %d: description %q", p.ID, p.Description)
		}
	}
	if len(kinds) < 30 {
		t.Errorf("%d kinds of things, want at least 30", len(kinds))
	}
	for text, n := range descriptions {
		if n > 1 {
			t.Errorf("%d products are described as %q", n, text)
		}
	}
}

func TestCatalogueIsTheSameEverywhere(t *testing.T) {
	all := products(t)
	if !reflect.DeepEqual(all, products(t)) {
		t.Error("two runs differ")
	}
	// One product written out, because two runs on one machine agree also when another machine would not.
	want := Product{ID: 42, Category: 5, Kind: "plantpot", Name: "Rowan Terracotta Plant Pot", Material: "terracotta", Colour: "fog grey", Size: "18 cm",
		Description: "A pot with straight walls and a saucer that really belongs to it. The hole is large enough to drain and small enough to keep the soil. Unglazed terracotta that breathes and weathers."}
	if all[41] != want {
		t.Errorf("product 42 is %+v", all[41])
	}
}

func TestNeighboursDiffer(t *testing.T) {
	all := products(t)
	for i, p := range all {
		for _, step := range []int{1, 12} { // in the whole shop, and in a department
			if i+step < len(all) && all[i+step].Kind == p.Kind {
				t.Errorf("%q and %q stand side by side", p.Name, all[i+step].Name)
			}
		}
	}
}

func TestSearch(t *testing.T) {
	c := testCatalogue(t)
	for _, tc := range []struct {
		q        string
		category int
		check    func(Product) bool
	}{
		{"mug", -1, func(p Product) bool { return p.Kind == "mug" }}, // names come first
		{"TEAL  stoneware", -1, func(p Product) bool { return p.Colour == "teal" && strings.Contains(words(p), "stoneware") }},
		{"", 3, func(p Product) bool { return p.Category == 3 }},
		{"oak", 2, func(p Product) bool { return p.Category == 2 && strings.Contains(words(p), "oak") }},
	} {
		found := c.search(tc.q, tc.category)
		if len(found) == 0 {
			t.Errorf("%q in %d: nothing", tc.q, tc.category)
		}
		for i, p := range found[:min(len(found), 20)] {
			if !tc.check(p) {
				t.Errorf("%q in %d: result %d is %+v", tc.q, tc.category, i, p)
			}
		}
	}
	if found := c.search("zeppelin", -1); len(found) != 0 {
		t.Errorf("zeppelin: %v", found)
	}
}

func words(p Product) string { return strings.ToLower(p.Name + " " + p.Material + " " + p.Description) }

// testCatalogue is a filled catalogue without a database.
func testCatalogue(t testing.TB) *catalogue {
	t.Helper()
	c, err := newCatalogue(nil, time.Minute, ourContract().catalogue)
	if err != nil {
		t.Fatal(err)
	}
	c.shelf.Store(c.newShelf(products(t)))
	return c
}

func TestCatalogueFollowsItsDatabaseAndOutlivesIt(t *testing.T) {
	shop := start(t, map[string]string{"CATALOGUE_EVERY": "20ms"})
	b := shop.browser()
	shop.sql("UPDATE products SET name = 'Renamed Mug' WHERE id = 14")
	until(t, "the new name", func() bool { return strings.Contains(b.get("/products/14").body, "Renamed Mug") })

	shop.sql("DELETE FROM products")
	b.get("/products/15").want(t, 200) // an empty table is somebody's mistake
	shop.sql("DROP TABLE products")
	b.get("/products/14").want(t, 200, "Renamed Mug")
	b.get("/?q=mug").want(t, 200, "Renamed Mug")
	b.get("/products/999999").want(t, 404) // the database cannot be asked: the copy's word stands
}

func TestNewProductIsShownAtOnce(t *testing.T) {
	shop := start(t, map[string]string{"CATALOGUE_EVERY": "1h"})
	shop.sql("INSERT INTO products VALUES (5000, 99, 'teapot', 'Brand New Teapot', 'Just in.', 'steel', 'red', 'big')")
	shop.browser().get("/products/5000").want(t, 200, "Brand New Teapot")
}

// sql changes the catalogue behind the service's back.
func (r *running) sql(statement string) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, r.database)
	if err != nil {
		r.t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, statement); err != nil {
		r.t.Fatalf("%s: %v", statement, err)
	}
}

// until asks again and again, without a pause, until cond holds; a minute is for a machine that is busy with something else.
func until(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !cond(); {
		if time.Now().After(end) {
			t.Fatalf("waited too long for %s", what)
		}
	}
}
