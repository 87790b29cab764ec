package main

import (
	"errors"
	"time"

	"watertight.example/pkg/service"
)

// Config holds every knob of this service.
type Config struct {
	service.Base
	DatabaseURL        service.Secret `env:"DATABASE_URL" envDefault:"postgres://orders@localhost:5432/orders?sslmode=disable" unit:"url" help:"The Postgres that holds keys, orders and the outbox: the only truth."`
	RedisURL           service.Secret `env:"REDIS_URL" envDefault:"redis://localhost:6379/0" unit:"url" help:"Redis, a short cut for replays; losing it changes no answer."`
	InventoryURL       string         `env:"INVENTORY_URL" envDefault:"http://localhost:8083" unit:"url" help:"Where stock is reserved."`
	PricingURL         string         `env:"PRICING_URL" envDefault:"http://localhost:8084" unit:"url" help:"Where quotes are looked up."`
	RecommendationsURL string         `env:"RECOMMENDATIONS_URL" envDefault:"http://localhost:8082" unit:"url" help:"Where purchases are reported."`

	PlaceTimeout time.Duration `env:"PLACE_TIMEOUT" envDefault:"4s" help:"Longest time POST /orders may take; the checkout's whole budget."`
	WorkTimeout  time.Duration `env:"WORK_TIMEOUT" envDefault:"3s" help:"Time for quote and reservation once a key is claimed; it does not end when the client leaves."`
	KeyLease     time.Duration `env:"KEY_LEASE" envDefault:"10s" help:"How long the owner of a key may be silent before somebody else takes over."`
	KeyWait      time.Duration `env:"KEY_WAIT" envDefault:"200ms" help:"How long a request waits for its twin in flight before 409."`
	KeyKeep      time.Duration `env:"KEY_KEEP" envDefault:"24h" help:"How long answers are kept; the order itself remembers its key for ever."`

	CompleteAfter time.Duration `env:"COMPLETE_AFTER" envDefault:"1s" help:"How long after its lease an abandoned key is completed without its client."`
	CompleteEvery time.Duration `env:"COMPLETE_EVERY" envDefault:"500ms" help:"How often abandoned keys are looked for."`
	RelayEvery    time.Duration `env:"RELAY_EVERY" envDefault:"250ms" help:"How often the outbox is looked at when nothing woke the relay."`
	ReapEvery     time.Duration `env:"REAP_EVERY" envDefault:"10m" help:"How often old answers and delivered events are deleted."`

	PostgresConns     int `env:"POSTGRES_CONNS" envDefault:"12" unit:"connections" help:"Most connections to Postgres: none is held while another service is asked, so twelve carry a hundred orders a second."`
	PostgresMaxCalls  int `env:"POSTGRES_MAX_CALLS" envDefault:"128" unit:"calls" help:"The bulkhead of Postgres, wider than its pool: twins of an order in flight wait inside it without a connection."`
	InventoryMaxCalls int `env:"INVENTORY_MAX_CALLS" envDefault:"64" unit:"calls" help:"The bulkhead of inventory: two instances of it work on 24 reservations at once, and the buyers of one hot item wait there for their turn."`
	PricingMaxCalls   int `env:"PRICING_MAX_CALLS" envDefault:"64" unit:"calls" help:"The bulkhead of pricing, as wide as inventory's, because each order passes both."`
	RedisMaxCalls     int `env:"REDIS_MAX_CALLS" envDefault:"32" unit:"calls" help:"The bulkhead of Redis: a lookup takes less than a millisecond, and who finds it full asks Postgres."`

	PostgresOpenFor        time.Duration `env:"POSTGRES_OPEN_FOR" envDefault:"2s" help:"How long to leave a failing Postgres alone before the next probe."`
	RedisOpenFor           time.Duration `env:"REDIS_OPEN_FOR" envDefault:"2s" help:"How long to leave a failing Redis alone before the next probe."`
	InventoryOpenFor       time.Duration `env:"INVENTORY_OPEN_FOR" envDefault:"2s" help:"How long to leave a failing inventory alone before the next probe."`
	PricingOpenFor         time.Duration `env:"PRICING_OPEN_FOR" envDefault:"2s" help:"How long to leave a failing pricing alone before the next probe."`
	RecommendationsOpenFor time.Duration `env:"RECOMMENDATIONS_OPEN_FOR" envDefault:"5s" help:"How long to leave failing recommendations alone before the next probe; nobody waits for them."`
}

// finishTimeout bounds the one transaction that makes an order.
const finishTimeout = 2 * time.Second

// leaseSlack is what a lease has above work and finish: the claim began it before its answer arrived here.
const leaseSlack = 2 * time.Second

// Validate reports every problem of the service's own knobs.
func (c *Config) Validate() error {
	errs := []error{
		service.CheckURL("DATABASE_URL", c.DatabaseURL.Reveal(), "postgres", "postgresql"),
		service.CheckURL("REDIS_URL", c.RedisURL.Reveal(), "redis", "rediss"),
		service.Check(c.WorkTimeout < c.PlaceTimeout, "WORK_TIMEOUT: %v is not below PLACE_TIMEOUT (%v), which also covers the claim", c.WorkTimeout, c.PlaceTimeout),
		service.Check(c.KeyLease >= c.WorkTimeout+finishTimeout+leaseSlack, "KEY_LEASE: %v is below WORK_TIMEOUT (%v) + %v to finish + %v: two owners would work at once", c.KeyLease, c.WorkTimeout, finishTimeout, leaseSlack),
		service.Check(c.PostgresConns >= 4, "POSTGRES_CONNS: must be at least 4, is %d", c.PostgresConns),
		service.Check(c.KeyWait < c.PlaceTimeout, "KEY_WAIT: %v is not below PLACE_TIMEOUT (%v)", c.KeyWait, c.PlaceTimeout),
	}
	for name, d := range map[string]time.Duration{
		"PLACE_TIMEOUT": c.PlaceTimeout, "WORK_TIMEOUT": c.WorkTimeout, "KEY_WAIT": c.KeyWait, "KEY_KEEP": c.KeyKeep,
		"COMPLETE_AFTER": c.CompleteAfter, "COMPLETE_EVERY": c.CompleteEvery, "RELAY_EVERY": c.RelayEvery, "REAP_EVERY": c.ReapEvery,
		"POSTGRES_OPEN_FOR": c.PostgresOpenFor, "REDIS_OPEN_FOR": c.RedisOpenFor, "INVENTORY_OPEN_FOR": c.InventoryOpenFor,
		"PRICING_OPEN_FOR": c.PricingOpenFor, "RECOMMENDATIONS_OPEN_FOR": c.RecommendationsOpenFor,
	} {
		errs = append(errs, service.Check(d > 0, "%s: must be positive, is %v", name, d))
	}
	for name, n := range map[string]int{"POSTGRES_CONNS": c.PostgresConns, "POSTGRES_MAX_CALLS": c.PostgresMaxCalls,
		"INVENTORY_MAX_CALLS": c.InventoryMaxCalls, "PRICING_MAX_CALLS": c.PricingMaxCalls, "REDIS_MAX_CALLS": c.RedisMaxCalls} {
		errs = append(errs, service.Check(n >= 1 && n <= 1000, "%s: %d is outside 1 to 1000", name, n))
	}
	for name, value := range map[string]string{"INVENTORY_URL": c.InventoryURL, "PRICING_URL": c.PricingURL, "RECOMMENDATIONS_URL": c.RecommendationsURL} {
		errs = append(errs, service.CheckURL(name, value, "http", "https"))
	}
	return errors.Join(errs...)
}
