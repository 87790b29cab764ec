package main

import (
	"cmp"
	"slices"
	"strings"
)

// search returns the products of a category (-1: any) that have all words of q, those with all of them in the name first.
func (c *catalogue) search(q string, category int) []Product {
	s := c.shelf.Load()
	words := strings.Fields(strings.ToLower(q))
	var found []Product
	for i, p := range s.products {
		if (category < 0 || p.Category == category) && containsAll(s.words[i], words) {
			found = append(found, p)
		}
	}
	if len(words) > 0 {
		slices.SortStableFunc(found, func(a, b Product) int { return cmp.Compare(rank(a, words), rank(b, words)) })
	}
	return found
}

func rank(p Product, words []string) int {
	if containsAll(strings.ToLower(p.Name), words) {
		return 0
	}
	return 1
}

func containsAll(text string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// categoryOf finds a category by its name in the address; -1 for none.
func (c *catalogue) categoryOf(slug string) int {
	return slices.IndexFunc(c.categories, func(k Category) bool { return k.Slug == slug })
}
