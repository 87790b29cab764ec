package main

import (
	"net/url"
	"strconv"
)

// homeView is what the home page's template needs.
type homeView struct {
	listing
	Category *Category // nil: all
	Start    bool      // the plain front page
	Stage    []Product // a few pretty ones at its top
	Tiles    []tile
	Popular  []Recommendation
	Cards    []Recommendation
	Total    int
	Pages    int
}

// stage are the products at the top of the front page.
func stage() []int { return []int{14, 112, 20, 43} }

// tile shows a department by one of its products.
type tile struct {
	Category
	Product Product
}

// tiles shows each department by its first product.
func (s *shop) tiles() []tile {
	tiles := make([]tile, 0, len(s.catalogue.categories))
	for i, c := range s.catalogue.categories {
		if found := s.catalogue.search("", i); len(found) > 0 {
			tiles = append(tiles, tile{c, found[0]})
		}
	}
	return tiles
}

// Link is the address of another page of the same listing.
func (l homeView) Link(page int) string {
	query := url.Values{}
	if l.Query != "" {
		query.Set("q", l.Query)
	}
	if l.Category != nil {
		query.Set("category", l.Category.Slug)
	}
	if page > 1 {
		query.Set("page", strconv.Itoa(page))
	}
	if len(query) == 0 {
		return "/"
	}
	return "/?" + query.Encode()
}

// Numbers are the page numbers to link: the ends and the neighbours; 0 is a gap.
func (l homeView) Numbers() []int {
	var out []int
	for n := 1; n <= l.Pages; n++ {
		near := n >= l.Page-1 && n <= l.Page+1
		if n == 1 || n == l.Pages || near {
			out = append(out, n)
		} else if out[len(out)-1] != 0 {
			out = append(out, 0)
		}
	}
	return out
}
