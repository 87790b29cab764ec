package main

import (
	"errors"
	"fmt"
	"time"

	"watertight.example/pkg/service"
)

// Config holds every knob of this service. The times of the page itself (budgets, attempts) are no knobs: they belong together
// and stand in contract.go and beside each dependency.
type Config struct {
	service.Base
	DatabaseURL service.Secret `env:"DATABASE_URL" envDefault:"postgres://catalogue@localhost:5432/catalogue?sslmode=disable" unit:"url" help:"The Postgres that holds the catalogue."`
	RedisURL    service.Secret `env:"REDIS_URL" envDefault:"redis://localhost:6379/0" unit:"url" help:"Where inventory publishes its snapshot of all counts."`

	RecommendationsURL string `env:"RECOMMENDATIONS_URL" envDefault:"http://localhost:8082" unit:"url" help:"What was bought together, and best sellers."`
	InventoryURL       string `env:"INVENTORY_URL" envDefault:"http://localhost:8083" unit:"url" help:"What is in stock."`
	PricingURL         string `env:"PRICING_URL" envDefault:"http://localhost:8084" unit:"url" help:"Prices and quotes."`
	OrdersURL          string `env:"ORDERS_URL" envDefault:"http://localhost:8085" unit:"url" help:"Where orders are placed and shown."`

	CookieSecret service.Secret `env:"COOKIE_SECRET" help:"Signs the customer's cookie, at least 32 bytes, the same on every replica; empty makes one up, and customers are forgotten at a restart."`
	CookieSecure bool           `env:"COOKIE_SECURE" envDefault:"false" help:"Send the cookie over https only; set it wherever the shop is reached by https."`

	Resilience service.Switch `env:"RESILIENCE" envDefault:"on" help:"off makes it the naive product page: one pool for everything, 30 s patience, no limits, no breakers."`

	CatalogueEvery   time.Duration `env:"CATALOGUE_EVERY" envDefault:"30s" help:"How often the copy of the catalogue in memory is refreshed."`
	BestSellersEvery time.Duration `env:"BEST_SELLERS_EVERY" envDefault:"60s" help:"How often the best sellers, the stand-in for recommendations, are refreshed."`

	RecommendationsOpenFor time.Duration `env:"RECOMMENDATIONS_OPEN_FOR" envDefault:"30s" help:"How long failing recommendations are left alone before the next probe."`
	InventoryOpenFor       time.Duration `env:"INVENTORY_OPEN_FOR" envDefault:"5s" help:"The same for inventory; short, because its limit is to be back 15 s after it is."`
	PricingOpenFor         time.Duration `env:"PRICING_OPEN_FOR" envDefault:"10s" help:"The same for pricing."`
	OrdersOpenFor          time.Duration `env:"ORDERS_OPEN_FOR" envDefault:"5s" help:"The same for orders."`
	RedisOpenFor           time.Duration `env:"REDIS_OPEN_FOR" envDefault:"5s" help:"The same for Redis."`
	PostgresOpenFor        time.Duration `env:"POSTGRES_OPEN_FOR" envDefault:"5s" help:"The same for the catalogue's database."`

	RecommendationsMaxCalls int `env:"RECOMMENDATIONS_MAX_CALLS" envDefault:"50" unit:"calls" help:"Where the adaptive limit on recommendations starts, and its top: fifty of 120 ms are 400 pages a second, more than one instance renders."`
	RecommendationsMinCalls int `env:"RECOMMENDATIONS_MIN_CALLS" envDefault:"5" unit:"calls" help:"It goes no lower: five of 120 ms are 40 a second, and the other pages have best sellers."`
	InventoryMaxCalls       int `env:"INVENTORY_MAX_CALLS" envDefault:"50" unit:"calls" help:"Where the adaptive limit on inventory starts, and its top: fifty of 80 ms are 600 pages a second."`
	InventoryMinCalls       int `env:"INVENTORY_MIN_CALLS" envDefault:"10" unit:"calls" help:"It goes no lower: ten of 80 ms are 125 a second, because a live count is worth more to a buyer than a recommendation."`
	PricingMaxCalls         int `env:"PRICING_MAX_CALLS" envDefault:"100" unit:"calls" help:"The bulkhead of pricing, twice inventory's: a page asks for its own price and for those of its recommendations."`
	OrdersMaxCalls          int `env:"ORDERS_MAX_CALLS" envDefault:"50" unit:"calls" help:"The bulkhead of orders, one for placing and one for looking: fifty customers who are paying at the same moment; an order takes 20 ms."`
	RedisMaxCalls           int `env:"REDIS_MAX_CALLS" envDefault:"32" unit:"calls" help:"Bulkhead and pool of Redis in one: while inventory is away every page asks it, for a millisecond."`
	PostgresMaxCalls        int `env:"POSTGRES_MAX_CALLS" envDefault:"4" unit:"calls" help:"Bulkhead and pool of the catalogue's database in one: all is in memory, and only a product of the last minute is looked up."`
}

// minCookieSecret is the size of the hash that uses it; a shorter secret would be the weakest part.
const minCookieSecret = 32

// Validate reports every problem of the service's own knobs.
func (c *Config) Validate() error {
	problems := []error{
		service.CheckURL("DATABASE_URL", c.DatabaseURL.Reveal(), "postgres", "postgresql"), service.CheckURL("REDIS_URL", c.RedisURL.Reveal(), "redis", "rediss"),
		service.CheckURL("RECOMMENDATIONS_URL", c.RecommendationsURL, "http", "https"), service.CheckURL("INVENTORY_URL", c.InventoryURL, "http", "https"),
		service.CheckURL("PRICING_URL", c.PricingURL, "http", "https"), service.CheckURL("ORDERS_URL", c.OrdersURL, "http", "https"),
	}
	if n := len(c.CookieSecret.Reveal()); n != 0 && n < minCookieSecret {
		problems = append(problems, fmt.Errorf("COOKIE_SECRET: has %d bytes, needs at least %d", n, minCookieSecret))
	}
	for _, knob := range []struct {
		key string
		d   time.Duration
	}{
		{"CATALOGUE_EVERY", c.CatalogueEvery}, {"BEST_SELLERS_EVERY", c.BestSellersEvery}, {"RECOMMENDATIONS_OPEN_FOR", c.RecommendationsOpenFor},
		{"INVENTORY_OPEN_FOR", c.InventoryOpenFor}, {"PRICING_OPEN_FOR", c.PricingOpenFor}, {"ORDERS_OPEN_FOR", c.OrdersOpenFor},
		{"REDIS_OPEN_FOR", c.RedisOpenFor}, {"POSTGRES_OPEN_FOR", c.PostgresOpenFor},
	} {
		if knob.d <= 0 {
			problems = append(problems, fmt.Errorf("%s: must be positive, is %v", knob.key, knob.d))
		}
	}
	return errors.Join(append(problems, c.checkSizes()...)...)
}

func (c *Config) checkSizes() (problems []error) {
	for _, size := range []struct {
		key       string
		low, high int
	}{
		{"RECOMMENDATIONS_MIN_CALLS, RECOMMENDATIONS_MAX_CALLS", c.RecommendationsMinCalls, c.RecommendationsMaxCalls},
		{"INVENTORY_MIN_CALLS, INVENTORY_MAX_CALLS", c.InventoryMinCalls, c.InventoryMaxCalls},
		{"PRICING_MAX_CALLS", c.PricingMaxCalls, c.PricingMaxCalls}, {"ORDERS_MAX_CALLS", c.OrdersMaxCalls, c.OrdersMaxCalls},
		{"REDIS_MAX_CALLS", c.RedisMaxCalls, c.RedisMaxCalls}, {"POSTGRES_MAX_CALLS", c.PostgresMaxCalls, c.PostgresMaxCalls},
	} {
		problems = append(problems, service.Check(1 <= size.low && size.low <= size.high && size.high <= 1000,
			"%s: needs 1 <= min <= max <= 1000, is %d and %d", size.key, size.low, size.high))
	}
	return problems
}
