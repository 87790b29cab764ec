package main

import (
	"errors"
	"time"

	"watertight.example/pkg/service"
)

// Config holds every knob of this service.
type Config struct {
	service.Base
	DatabaseURL      service.Secret `env:"DATABASE_URL" envDefault:"postgres://recommendations@localhost:5432/recommendations?sslmode=disable" unit:"url" help:"The Postgres that holds the purchase history; this service is its only writer."`
	MaxConns         int            `env:"POSTGRES_MAX_CONNS" envDefault:"10" unit:"connections" help:"Most connections to Postgres; one of them is for the probe and one for the roll-in, the rest for requests."`
	StatementTimeout time.Duration  `env:"STATEMENT_TIMEOUT" envDefault:"800ms" help:"When Postgres gives up on a statement by itself; a caller with less time lowers it for its own statement."`
	PostgresOpenFor  time.Duration  `env:"POSTGRES_OPEN_FOR" envDefault:"5s" help:"How long to leave a failing Postgres alone before the next probe."`
	RollInEvery      time.Duration  `env:"ROLL_IN_EVERY" envDefault:"2s" help:"How often purchases that just came in are moved into the history."`
	Resilience       service.Switch `env:"RESILIENCE" envDefault:"on" help:"off makes it the service behind the naive product page: no limits, no breaker, no statement timeout."`
	RollInBatch      int            `env:"ROLL_IN_BATCH" envDefault:"50" unit:"purchases" help:"Most purchases moved in one transaction; small, so that none of them holds its locks for long."`
}

// Validate reports every problem of the service's own knobs.
func (c *Config) Validate() error {
	return errors.Join(
		service.CheckURL("DATABASE_URL", c.DatabaseURL.Reveal(), "postgres", "postgresql"),
		// Below four, one sick query of each kind would leave nothing for the others.
		service.Check(c.MaxConns >= 4, "POSTGRES_MAX_CONNS: must be at least 4, is %d", c.MaxConns),
		service.Check(c.StatementTimeout >= 10*time.Millisecond, "STATEMENT_TIMEOUT: %v is below 10ms, no query could answer", c.StatementTimeout),
		service.Check(c.StatementTimeout < c.RequestTimeout, "STATEMENT_TIMEOUT: %v is not below REQUEST_TIMEOUT (%v): requests would break connections instead of ending their query", c.StatementTimeout, c.RequestTimeout),
		service.Check(c.PostgresOpenFor > 0, "POSTGRES_OPEN_FOR: must be positive, is %v", c.PostgresOpenFor),
		service.Check(c.RollInEvery > 0, "ROLL_IN_EVERY: must be positive, is %v", c.RollInEvery),
		service.Check(c.RollInBatch > 0 && c.RollInBatch <= 1000, "ROLL_IN_BATCH: must be 1 to 1000, is %d", c.RollInBatch),
	)
}
