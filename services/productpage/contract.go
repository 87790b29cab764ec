package main

import (
	"errors"
	"time"

	"watertight.example/pkg/service"
)

// contract is what the shop promises about time, and what it shows when a part does not keep to it. The policies of the
// dependencies take their numbers from here, and every product page shows its lines.
type contract struct {
	page   time.Duration // for a whole page
	render time.Duration // of it kept back for making and sending the page

	catalogue, price, stock, recommendations part

	look     time.Duration // for a page about an order: nothing to fall back to, so it may take longer
	checkout time.Duration // for placing an order, with every retry
}

// part is one line of the contract.
type part struct {
	Name       string
	Importance string
	Total      time.Duration // for the part, retries included
	Attempt    time.Duration // for one attempt
	Fallback   string        // what is shown when that fails
}

// ourContract is the one in force. (Tests slow it down as a whole.)
func ourContract() contract {
	const ms = time.Millisecond
	return contract{
		page:            500 * ms,
		render:          60 * ms,
		catalogue:       part{"catalogue", "essential", 150 * ms, 150 * ms, "the copy in memory; only without one, a 503 page"},
		price:           part{"price", "needed to buy", 200 * ms, 80 * ms, "the last known price, marked; without one, no price and no button"},
		stock:           part{"stock", "needed to buy", 200 * ms, 80 * ms, "inventory's snapshot, at most 2 minutes old; without one, no count, still orderable"},
		recommendations: part{"recommendations", "optional", 120 * ms, 120 * ms, "the last good list of this product, else best sellers, else left out"},
		look:            1000 * ms,
		checkout:        4000 * ms,
	}
}

// gather is the time for all parts of a page together; they are fetched side by side.
func (c contract) gather() time.Duration { return c.page - c.render }

// check refuses budgets that promise more together than there is: a child's may not be above its parent's, nor may what follows it.
func (c contract) check() error {
	within := func(what string, need, have time.Duration) error {
		return service.Check(need <= have, "contract: %s needs %v of %v", what, need, have)
	}
	problems := []error{
		service.Check(c.render > 0 && c.render < c.page, "contract: rendering takes %v of %v", c.render, c.page),
		within("stock and then its snapshot", c.stock.Total+snapshotBudget, c.gather()),
		within("recommendations and then their prices", c.recommendations.Total+c.price.Total, c.gather()),
	}
	for _, p := range []part{c.catalogue, c.price, c.stock, c.recommendations} {
		problems = append(problems, within(p.Name, p.Total, c.gather()), within("an attempt at "+p.Name, p.Attempt, p.Total))
	}
	return errors.Join(problems...)
}
