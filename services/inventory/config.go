package main

import (
	"errors"
	"time"

	"watertight.example/pkg/service"
)

// Config is every knob of inventory. Times and thresholds of the dependencies are
// code, one file each: they belong to the call they protect, not to an
// environment. How much of each store this instance may take depends on the store
// and on the number of instances, so that is here.
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

	PrimaryConns     int           `env:"PRIMARY_CONNS" envDefault:"12" unit:"connections" help:"Pool and bulkhead of the primary in one number: half a core is busy long before twelve queries run, and who gets a slot gets a connection."`
	PrimaryReadConns int           `env:"PRIMARY_READ_CONNS" envDefault:"4" unit:"connections" help:"The same for the shop window's reads while the replica is slow or away: four of 2 ms are 2,000 a second, and when they hang no order waits for them."`
	ReplicaMinReads  int           `env:"REPLICA_MIN_READS" envDefault:"4" unit:"reads" help:"The adaptive limit on the replica goes no lower: four of the longest 50 ms are 80 reads a second even of a slow one."`
	ReplicaMaxReads  int           `env:"REPLICA_MAX_READS" envDefault:"20" unit:"reads" help:"It starts here and goes no higher: twenty queries at once are all that half a core answers within a read's 50 ms."`
	ReplicaMaxLag    time.Duration `env:"REPLICA_MAX_LAG" envDefault:"5s" help:"A replica further behind than this is as good as broken, and the primary is read; well above HEARTBEAT_EVERY, well below the two minutes the page promises."`
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
		checkRange("REPLICA_MAX_LAG", c.ReplicaMaxLag, 2*c.HeartbeatEvery, snapshotTTL/2), // one beat is always on its way
		checkConns("PRIMARY_CONNS", c.PrimaryConns),
		checkConns("PRIMARY_READ_CONNS", c.PrimaryReadConns),
		checkConns("REPLICA_MAX_READS", c.ReplicaMaxReads),
		service.Check(c.ReplicaMinReads >= 1 && c.ReplicaMinReads <= c.ReplicaMaxReads,
			"REPLICA_MIN_READS: %d is outside 1 to REPLICA_MAX_READS (%d)", c.ReplicaMinReads, c.ReplicaMaxReads),
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

// checkConns leaves the stores' usual 100 connections to more than one instance.
func checkConns(key string, n int) error {
	return service.Check(n >= 1 && n <= 50, "%s: %d is outside 1 to 50", key, n)
}
