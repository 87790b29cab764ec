package main

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"watertight.example/pkg/service"
)

const (
	perPage  = 24
	maxQuery = 100 // characters of a search
)

// listing is what a visitor of the home page asks for.
type listing struct {
	Query    string
	Category int // -1: all
	Page     int
}

// readListing checks ?q=, ?category= and ?page=. Other parameters are none of our business (campaigns add theirs).
func (s *shop) readListing(query url.Values) (listing, error) {
	l := listing{Category: -1, Page: 1}
	for _, name := range []string{"q", "category", "page"} {
		if len(query[name]) > 1 {
			return l, badParameter(name + " must be given once.")
		}
	}
	l.Query = strings.TrimSpace(query.Get("q"))
	if !utf8.ValidString(l.Query) || utf8.RuneCountInString(l.Query) > maxQuery {
		return l, badParameter("q must be text of at most 100 characters.")
	}
	if slug := query.Get("category"); slug != "" {
		if l.Category = s.catalogue.categoryOf(slug); l.Category < 0 {
			return l, service.NewProblem(http.StatusNotFound, "unknown-category", "There is no such department.")
		}
	}
	if text := query.Get("page"); text != "" {
		page, err := strconv.Atoi(text)
		if err != nil || page < 1 || page > 1<<20 {
			return l, badParameter("page must be a number from 1.")
		}
		l.Page = page
	}
	return l, nil
}

func badParameter(detail string) *service.Problem {
	return service.NewProblem(http.StatusBadRequest, "invalid-parameter", detail)
}

// showHome answers GET /: the front page, a department, or a search.
func (s *shop) showHome(w http.ResponseWriter, r *http.Request) error {
	l, err := s.readListing(r.URL.Query())
	if err != nil {
		return err
	}
	found := s.catalogue.search(l.Query, l.Category)
	v := homeView{listing: l, Total: len(found), Pages: max(1, (len(found)+perPage-1)/perPage), Start: l == listing{Category: -1, Page: 1}}
	if l.Page > v.Pages {
		return service.NewProblem(http.StatusNotFound, "not-found", "There are only "+strconv.Itoa(v.Pages)+" pages.")
	}
	from := (l.Page - 1) * perPage
	title := "Good things that last"
	if l.Category >= 0 {
		v.Category = &s.catalogue.categories[l.Category]
		title = v.Category.Name
	}
	if l.Query != "" {
		title = "Search: " + l.Query
	}
	var popular []Product
	if v.Start {
		popular = s.catalogue.known(s.recommendations.bestSellers())
		popular = popular[:min(6, len(popular))]
		v.Stage, v.Tiles = s.catalogue.known(stage()), s.tiles()
	}
	cards, priced := s.cards(r.Context(), slices.Concat(popular, found[from:min(from+perPage, len(found))]))
	v.Popular, v.Cards = cards[:len(popular)], cards[len(popular):]
	w.Header().Set("Cache-Control", "no-cache")
	if !priced {
		s.markDegraded(w, r, []fallen{{"price", missing}})
	}
	return s.render(w, r, http.StatusOK, "home", title, v)
}

// cards makes cards with all their prices in one call, and tells whether the prices came. A price that did not is not shown.
func (s *shop) cards(ctx context.Context, products []Product) (cards []Recommendation, priced bool) {
	ctx, cancel := context.WithTimeout(ctx, s.contract.gather())
	defer cancel()
	cards = s.priced(ctx, products)
	for _, c := range cards {
		priced = priced || c.Price != nil
	}
	return cards, priced || len(cards) == 0
}

func ids(products []Product) []int {
	out := make([]int, len(products))
	for i, p := range products {
		out[i] = p.ID
	}
	return out
}
