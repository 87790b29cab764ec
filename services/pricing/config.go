package main

import (
	"errors"
	"time"

	"watertight.example/pkg/service"
)

// Config holds every knob of this service.
type Config struct {
	service.Base
	DatabaseURL      service.Secret `env:"DATABASE_URL" envDefault:"postgres://pricing@localhost:5432/pricing?sslmode=disable" unit:"url" help:"The Postgres that holds prices and quotes."`
	MaxConns         int            `env:"POSTGRES_MAX_CONNS" envDefault:"10" unit:"connections" help:"Most connections to Postgres; one of them is for the probe and one for the purge, the rest for requests."`
	StatementTimeout time.Duration  `env:"STATEMENT_TIMEOUT" envDefault:"500ms" help:"When Postgres gives up on a statement by itself; the usual one takes a millisecond."`
	PostgresOpenFor  time.Duration  `env:"POSTGRES_OPEN_FOR" envDefault:"5s" help:"How long to leave a failing Postgres alone before the next probe."`
	QuoteTTL         time.Duration  `env:"QUOTE_TTL" envDefault:"15m" help:"How long a quote can be ordered at: long enough to fill in a form, short enough that prices can change."`
	QuoteKeep        time.Duration  `env:"QUOTE_KEEP" envDefault:"24h" help:"How long a quote can still be read after it was made; then it is deleted."`
	PurgeEvery       time.Duration  `env:"PURGE_EVERY" envDefault:"10m" help:"How often quotes that were kept long enough are deleted."`
}

// Validate reports every problem of the service's own knobs.
func (c *Config) Validate() error {
	return errors.Join(
		service.CheckURL("DATABASE_URL", c.DatabaseURL.Reveal(), "postgres", "postgresql"),
		service.Check(c.MaxConns >= 4, "POSTGRES_MAX_CONNS: must be at least 4, is %d", c.MaxConns),
		service.Check(c.StatementTimeout >= 10*time.Millisecond, "STATEMENT_TIMEOUT: %v is below 10ms, no query could answer", c.StatementTimeout),
		service.Check(c.StatementTimeout < c.RequestTimeout, "STATEMENT_TIMEOUT: %v is not below REQUEST_TIMEOUT (%v): requests would break connections instead of ending their query", c.StatementTimeout, c.RequestTimeout),
		service.Check(c.PostgresOpenFor > 0, "POSTGRES_OPEN_FOR: must be positive, is %v", c.PostgresOpenFor),
		service.Check(c.QuoteTTL > 0, "QUOTE_TTL: must be positive, is %v", c.QuoteTTL),
		service.Check(c.QuoteKeep >= c.QuoteTTL, "QUOTE_KEEP: %v is below QUOTE_TTL (%v): a quote would be gone while it is good", c.QuoteKeep, c.QuoteTTL),
		service.Check(c.PurgeEvery > 0, "PURGE_EVERY: must be positive, is %v", c.PurgeEvery),
	)
}
