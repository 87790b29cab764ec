package idempotency

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

//go:embed schema.sql
var schema string

// Schema is the DDL of the one table and one function this package needs, for PostgreSQL 13 or newer. Copy it into your
// own migrations: migrations are history, and a later version of this package must not rewrite yours.
func Schema() string { return schema }

// Config of a Store. Zero durations take the defaults.
type Config struct {
	Lease         time.Duration // how long an owner may work unseen; above Budget + FinishTimeout. Default 10 s
	Budget        time.Duration // for the work between Claim and Finish, which outlives its client. Default half of what Finish leaves of Lease: 4 s
	Wait          time.Duration // how long a twin in flight is waited for; negative: not at all. Default 200 ms
	StoreTimeout  time.Duration // for one claim or release when the caller's context sets no earlier deadline. Default 2 s
	FinishTimeout time.Duration // for the final transaction, whatever became of the client. Default 2 s
	Keep          time.Duration // how long finished keys are kept. Default 24 h
	Headers       []string      // headers stored with an answer. Default Content-Type, Location

	Cache        Cache         // optional short cut for replays; nil: none
	CacheTimeout time.Duration // for each use of it; twice this is all that a sick cache costs. Default 25 ms
	CacheTTL     time.Duration // Default 1 h

	// Observe hears how each claim ended, for a counter; nil: nobody. It must be safe for concurrent use.
	Observe func(Result)
}

// Result is how a claim ended: a closed set, fit for a metric label.
type Result string

// The results of Claim.
const (
	ResultNew        Result = "new"         // first use of the key: the caller executes
	ResultTakenOver  Result = "taken_over"  // an earlier owner gave up or vanished: the caller executes
	ResultReplayed   Result = "replayed"    // answered from Postgres
	ResultCached     Result = "cached"      // answered from the cache
	ResultInFlight   Result = "in_flight"   // refused: a twin is at work
	ResultMismatch   Result = "mismatch"    // refused: same key, other request
	ResultStoreError Result = "store_error" // refused: no durable truth, no acceptance
	ResultCanceled   Result = "canceled"    // the caller was gone before anything was claimed
)

// Results lists every Result, so that a counter can be created with all of them at 0.
func Results() []Result {
	return []Result{ResultNew, ResultTakenOver, ResultReplayed, ResultCached, ResultInFlight, ResultMismatch, ResultStoreError, ResultCanceled}
}

// Store keeps keys and answers. It is safe for concurrent use, also by many processes over one database: all
// arbitration happens in Postgres, by its clock.
type Store struct {
	pool *pgxpool.Pool
	cfg  Config
}

// New makes a store on a pool whose database has the Schema. The error names every impossible setting.
func New(pool *pgxpool.Pool, cfg Config) (*Store, error) {
	def := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	def(&cfg.Lease, 10*time.Second)
	def(&cfg.Wait, 200*time.Millisecond)
	def(&cfg.StoreTimeout, 2*time.Second)
	def(&cfg.FinishTimeout, 2*time.Second)
	def(&cfg.Budget, max(0, cfg.Lease-cfg.FinishTimeout)/2) // the other half is slack: the lease began before the claim's answer arrived
	def(&cfg.Keep, 24*time.Hour)
	def(&cfg.CacheTimeout, 25*time.Millisecond)
	def(&cfg.CacheTTL, time.Hour)
	if cfg.Headers == nil {
		cfg.Headers = []string{"Content-Type", "Location"}
	}
	if cfg.Observe == nil {
		cfg.Observe = func(Result) {}
	}
	var errs []error
	if pool == nil {
		errs = append(errs, errors.New("a pool is needed"))
	}
	if cfg.Lease <= cfg.Budget+cfg.FinishTimeout {
		errs = append(errs, fmt.Errorf("lease %s must exceed budget %s + finish timeout %s: an owner still at work would be replaced", cfg.Lease, cfg.Budget, cfg.FinishTimeout))
	}
	for name, d := range map[string]time.Duration{"budget": cfg.Budget, "store timeout": cfg.StoreTimeout, "finish timeout": cfg.FinishTimeout, "keep": cfg.Keep, "cache timeout": cfg.CacheTimeout, "cache TTL": cfg.CacheTTL} {
		if d < 0 {
			errs = append(errs, fmt.Errorf("%s %s is negative", name, d))
		}
	}
	if len(errs) > 0 {
		return nil, fmt.Errorf("idempotency: %w", errors.Join(errs...))
	}
	return &Store{pool: pool, cfg: cfg}, nil
}

// Detach gives the context of everything after a claim: it keeps ctx's values but not its cancellation, because half-done
// work is the only way to get an operation nobody knows the outcome of; budget bounds it instead.
func Detach(ctx context.Context, budget time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), budget)
}
