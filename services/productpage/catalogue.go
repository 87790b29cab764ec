package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// catalogue is everything the shop sells, in memory. The copy is replaced as a whole by each refresh and never changed, so
// readers need no lock; when the database is away the last copy serves on. Safe for concurrent use.
type catalogue struct {
	store      *store
	every      time.Duration
	categories []Category
	shelf      atomic.Pointer[shelf]
	flight     flight[[]Product]
}

// shelf is one copy of the products, ordered by id.
type shelf struct {
	products []Product
	place    map[int]int // id -> index
	words    []string    // what a search looks through, same index
}

var errNoProduct = errors.New("no such product")

func newCatalogue(st *store, every time.Duration, budget part) (*catalogue, error) {
	a, err := loadAssortment()
	return &catalogue{store: st, every: every, categories: a.Categories, flight: flight[[]Product]{patience: budget.Total}}, err
}

// refresh loads a new copy. An empty table is an error: a shop does not lose its whole assortment, somebody's mistake does.
func (c *catalogue) refresh(ctx context.Context) error {
	products, err := c.store.all(ctx)
	if err != nil {
		return err
	}
	if len(products) == 0 {
		return errors.New("the catalogue is empty")
	}
	c.shelf.Store(c.newShelf(products))
	return nil
}

func (c *catalogue) newShelf(products []Product) *shelf {
	s := &shelf{products: products, place: make(map[int]int, len(products)), words: make([]string, len(products))}
	for i := range products {
		p := &products[i]
		if p.Category >= len(c.categories) { // an id of the future: show it somewhere rather than crash
			p.Category = len(c.categories) - 1
		}
		s.place[p.ID] = i
		s.words[i] = strings.ToLower(p.Name + " " + p.Colour + " " + p.Material + " " + c.categories[p.Category].Name + " " + p.Description)
	}
	return s
}

// keepFresh is the worker that refreshes until ctx ends. The pause is jittered, so that replicas do not ask in step.
func (c *catalogue) keepFresh(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(jitter(c.every)):
			if err := c.refresh(ctx); err != nil && ctx.Err() == nil {
				return fmt.Errorf("refresh: %w", err) // the chassis logs it and starts the worker again
			}
		}
	}
}

// jitter is d give or take 20 %.
func jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.8 + 0.4*rand.Float64()))
}

// product finds one product: in memory, or, as it may be minutes old there, once in the database. When that fails too the
// copy's word stands. The only error is errNoProduct.
func (c *catalogue) product(ctx context.Context, id int) (Product, error) {
	if p, ok := c.lookup(id); ok {
		return p, nil
	}
	found, err := c.flight.do(ctx, strconv.Itoa(id), func(ctx context.Context) ([]Product, error) { return c.store.one(ctx, id) })
	if err != nil || len(found) == 0 {
		return Product{}, errNoProduct
	}
	return c.newShelf(found[:1:1]).products[0], nil
}

// lookup finds a product in memory.
func (c *catalogue) lookup(id int) (Product, bool) {
	s := c.shelf.Load()
	if s == nil {
		return Product{}, false
	}
	i, ok := s.place[id]
	if !ok {
		return Product{}, false
	}
	return s.products[i], true
}

// known returns the products with these ids, in this order; what the shop does not sell is left out.
func (c *catalogue) known(ids []int) []Product {
	var out []Product
	for _, id := range ids {
		if p, ok := c.lookup(id); ok {
			out = append(out, p)
		}
	}
	return out
}
