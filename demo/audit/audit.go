package audit

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Config says where to look and how patient to be.
type Config struct {
	Orders, Inventory, Recommendations string        // connection URLs
	Password                           string        // for URLs that have none
	Within                             time.Duration // how long something may be under way before it counts as stuck
}

// Check is one thing that must be so.
type Check struct {
	Invariant string   // of the fault matrix: I1, I2, I4, I5, I6; "" for others
	Demand    string   // what must be so
	Wrong     int      // how often it is not
	Examples  []string // up to three ids or SKUs
}

// maxExamples is how many culprits a check names: enough to start looking.
const maxExamples = 3

// against counts culprits, nil for none.
func (c Check) against(culprits []string) Check {
	c.Wrong = len(culprits)
	c.Examples = culprits[:min(len(culprits), maxExamples)]
	return c
}

// Report is what an audit found.
type Report struct {
	Orders, Cancelled, Tombstones int // in orders' database
	UnderWay                      int // keys, events and holds that still have time
	Checks                        []Check
}

// Err is nil when everything adds up.
func (r Report) Err() error {
	wrong := 0
	for _, c := range r.Checks {
		if c.Wrong > 0 {
			wrong++
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d checks do not add up", wrong, len(r.Checks))
	}
	return nil
}

// Run reads everything once. An error means that nothing is known, never that something is wrong.
func Run(ctx context.Context, cfg Config) (Report, error) {
	var r Report
	shop, closeAll, err := open(ctx, cfg)
	if err != nil {
		return r, err
	}
	defer closeAll()
	sales, err := readSales(ctx, shop)
	if err != nil {
		return r, err
	}
	for _, q := range queries(cfg.Within) {
		culprits, err := column(ctx, shop[q.database], q.sql, q.args...)
		if err != nil {
			return r, fmt.Errorf("%s: %w", q.Demand, err)
		}
		r.Checks = append(r.Checks, q.against(culprits))
	}
	r.Checks = append(r.Checks, sales.checks()...)
	for database, sql := range map[string]string{
		orders:    `SELECT (SELECT count(*) FROM idempotency_keys WHERE state = 0) + (SELECT count(*) FROM outbox WHERE done_at IS NULL AND parked_at IS NULL)`,
		inventory: `SELECT count(*) FROM reservations WHERE state = 'held'`,
	} {
		var n int
		if err := shop[database].QueryRow(ctx, sql).Scan(&n); err != nil {
			return r, err
		}
		r.UnderWay += n
	}
	err = shop[orders].QueryRow(ctx, `
SELECT count(*) FILTER (WHERE state <> 'abandoned'), count(*) FILTER (WHERE state = 'cancelled'), count(*) FILTER (WHERE state = 'abandoned') FROM orders`).
		Scan(&r.Orders, &r.Cancelled, &r.Tombstones)
	return r, err
}

// The databases.
const (
	orders          = "orders"
	inventory       = "inventory"
	recommendations = "recommendations"
)

// open connects to all three. Sessions are read-only, whatever the role may do.
func open(ctx context.Context, cfg Config) (map[string]*pgx.Conn, func(), error) {
	shop := map[string]*pgx.Conn{}
	closeAll := func() {
		for _, c := range shop {
			_ = c.Close(context.WithoutCancel(ctx)) // nothing was written
		}
	}
	for _, d := range []struct{ name, url string }{{orders, cfg.Orders}, {inventory, cfg.Inventory}, {recommendations, cfg.Recommendations}} {
		c, err := pgx.ParseConfig(d.url)
		if err == nil {
			if c.Password == "" {
				c.Password = cfg.Password
			}
			c.ConnectTimeout = 5 * time.Second
			c.RuntimeParams["default_transaction_read_only"] = "on"
			c.RuntimeParams["application_name"] = "audit"
			shop[d.name], err = pgx.ConnectConfig(ctx, c)
		}
		if err != nil {
			delete(shop, d.name)
			closeAll()
			return nil, nil, fmt.Errorf("the database of %s: %w", d.name, err)
		}
	}
	return shop, closeAll, nil
}

// column reads a query of one text column.
func column(ctx context.Context, db *pgx.Conn, sql string, args ...any) ([]string, error) {
	rows, err := db.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
