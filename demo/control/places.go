package control

import "slices"

// Place is where a visitor can break something: one connection between two parts of the shop. Where each twin has a connection of
// its own both are broken, or the comparison would not be fair.
type Place struct {
	Name     string   `json:"name"`
	From     string   `json:"from"`
	To       string   `json:"to"`
	Edges    []string `json:"edges"` // Toxiproxy's names
	Hurt     string   `json:"hurt"`
	Shielded string   `json:"shielded"` // what protects whom from it
	Watch    []Guard  `json:"watch"`    // whose breakers are the ones to look at
}

// Guard names a dependency of a service.
type Guard struct {
	Service    string `json:"service"`
	Dependency string `json:"dependency"`
}

// places lists all of them, from the customer's side to the stores.
func places() []Place {
	page := func(dependency string) Guard { return Guard{"productpage", dependency} }
	return []Place{
		{"Recommendations", "product page", "recommendations", []string{"productpage-recommendations", "naive-recommendations"},
			"The list “frequently bought together”, an optional part of the page.",
			"The page gives that list 120 ms. Then it shows the last good list, or best sellers, and after a few failures the breaker opens: nobody asks any more.",
			[]Guard{page("recommendations")}},
		{"Recommendations’ database", "recommendations", "its Postgres", []string{"recommendations-postgres"},
			"The query behind “frequently bought together”: two steps away from the page.",
			"The service gives up on its database, and the page on the service after 120 ms. Each has a breaker of its own, so no wait is passed on.",
			[]Guard{page("recommendations"), {"recommendations", "postgres"}}},
		{"The plan of their query", "recommendations", "its Postgres", []string{planEdge},
			"The query behind “frequently bought together”: the same rows and the same SQL, a thousand times slower by stale statistics.",
			"The database itself ends a query that takes too long, the service and the page give up sooner. ANALYZE is the cure.",
			[]Guard{page("recommendations"), {"recommendations", "postgres"}}},
		{"Inventory", "product page", "inventory", []string{"productpage-inventory", "naive-inventory"},
			"The stock count on every product page.",
			"The page has 200 ms for it, then takes the snapshot from Redis and says that the count may lag. Orders still check the real stock.",
			[]Guard{page("inventory")}},
		{"Inventory’s database", "inventory", "its Postgres primary", []string{"inventory-postgres"},
			"Reservations: an order cannot be finished without them. Counts on pages come from the replica and stay.",
			"Orders are refused within their 4 s and can be sent again without being placed twice. Looking around goes on as usual.",
			[]Guard{{"inventory", "postgres-primary"}, {"orders", "inventory"}}},
		{"Inventory’s replica", "inventory", "its Postgres replica", []string{"inventory-postgres-replica"},
			"Where stock counts are read.",
			"A read that does not come in time is sent to the primary instead, and the breaker of the replica opens.",
			[]Guard{{"inventory", "postgres-replica"}}},
		{"Pricing", "product page", "pricing", []string{"productpage-pricing"},
			"The price on every page, without which nothing can be bought.",
			"The page shows the last known price, marked as such. The checkout asks again before it promises anything.",
			[]Guard{page("pricing")}},
		{"Orders", "product page", "orders", []string{"productpage-orders"},
			"Placing an order and looking at one.",
			"Product pages do not need it. A customer who presses the button again is served once: the order carries a key.",
			[]Guard{page("orders")}},
		{"Orders’ database", "orders", "its Postgres", []string{"orders-postgres"},
			"Placing an order, and looking at one: without its database orders can do neither.",
			"Each attempt has its time, then the customer is offered the same form again. Whatever was written before counts once.",
			[]Guard{{"orders", "postgres"}, page("orders")}},
		{"Orders’ way to inventory", "orders", "inventory", []string{"orders-inventory"},
			"Holding stock for an order, without which it is not placed.",
			"Orders are refused in their time and can be sent again. What was held for nobody is given back.",
			[]Guard{{"orders", "inventory"}, page("orders")}},
		{"Orders’ way to pricing", "orders", "pricing", []string{"orders-pricing"},
			"Checking the price that was promised, without which no order is placed.",
			"Orders are refused in their time and can be sent again. Pages have their own way to the prices and stay whole.",
			[]Guard{{"orders", "pricing"}, page("orders")}},
		{"Redis", "everybody", "Redis", []string{"redis"},
			"The stock snapshot and the short cut for repeated orders.",
			"Redis only makes things faster. Postgres is the truth, so the shop does without it.",
			[]Guard{page("redis"), {"inventory", "redis"}, {"orders", "redis"}}},
	}
}

// placeOf finds the place that an edge belongs to; an edge that this list does not know is shown by its own name.
func placeOf(edge string) Place {
	all := places()
	if i := slices.IndexFunc(all, func(p Place) bool { return slices.Contains(p.Edges, edge) }); i >= 0 {
		return all[i]
	}
	return Place{Name: edge, Edges: []string{edge}, Watch: []Guard{}}
}
