package main

import (
	"errors"
	"time"

	"watertight.example/pkg/service"
)

// Config is every knob of inventory. Limits of the dependencies are code, one
// file each: they belong to the call they protect, not to an environment.
type Config struct {
	service.Base
	DatabaseURL    service.Secret `env:"DATABASE_URL" envDefault:"postgres://inventory@localhost:5432/inventory?sslmode=disable" unit:"URL" help:"Postgres primary: every write, and the reads that must be current."`
	ReplicaURL     service.Secret `env:"REPLICA_URL" unit:"URL" help:"Streaming replica that answers the shop window; empty reads the primary instead."`
	RedisURL       service.Secret `env:"REDIS_URL" envDefault:"redis://localhost:6379/0" unit:"URL" help:"Redis that holds the published snapshot of all counts."`
	OrdersURL      string         `env:"ORDERS_URL" envDefault:"http://localhost:8085" unit:"URL" help:"Orders, asked what became of an order whose hold has expired."`
	Resilience     service.Switch `env:"RESILIENCE" envDefault:"on" help:"off makes it the service behind the naive product page: no limits, no breaker, no statement timeout."`
	HoldTTL        time.Duration  `env:"HOLD_TTL" envDefault:"60s" help:"How long stock is held before orders is asked; well above the longest checkout."`
	SweepEvery     time.Duration  `env:"SWEEP_EVERY" envDefault:"1s" help:"How often expired holds are looked for."`
	SnapshotEvery  time.Duration  `env:"SNAPSHOT_EVERY" envDefault:"30s" help:"How often all counts are written to Redis; a quarter of their two minutes to live."`
	HeartbeatEvery time.Duration  `env:"HEARTBEAT_EVERY" envDefault:"1s" help:"How often the primary's clock is written for the replica; the grain of its as_of."`
}

// Validate reports every problem at once.
func (c *Config) Validate() error {
	return errors.Join(
		service.CheckURL("DATABASE_URL", c.DatabaseURL.Reveal(), "postgres", "postgresql"),
		service.CheckURL("REPLICA_URL", c.replicaURL().Reveal(), "postgres", "postgresql"),
		service.CheckURL("REDIS_URL", c.RedisURL.Reveal(), "redis", "rediss"),
		service.CheckURL("ORDERS_URL", c.OrdersURL, "http", "https"),
		checkRange("HOLD_TTL", c.HoldTTL, time.Second, 24*time.Hour),
		checkRange("SWEEP_EVERY", c.SweepEvery, 10*time.Millisecond, time.Minute),
		checkRange("SNAPSHOT_EVERY", c.SnapshotEvery, 100*time.Millisecond, snapshotTTL/2),
		checkRange("HEARTBEAT_EVERY", c.HeartbeatEvery, 10*time.Millisecond, time.Minute),
	)
}

// replicaURL is where the shop window reads.
func (c *Config) replicaURL() service.Secret {
	if c.ReplicaURL == "" {
		return c.DatabaseURL
	}
	return c.ReplicaURL
}

func checkRange(key string, value, low, high time.Duration) error {
	return service.Check(value >= low && value <= high, "%s: %v is outside %v to %v", key, value, low, high)
}
