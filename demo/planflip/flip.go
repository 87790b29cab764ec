package planflip

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// DB is recommendations' database, as the role demo: a *pgxpool.Pool from Open, or a *pgx.Conn.
type DB interface {
	Begin(ctx context.Context) (pgx.Tx, error)
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Open makes a pool for the database at url. It connects when it is first used, so the database need not be there yet.
func Open(url string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("the database of recommendations: %w", err)
	}
	config.MaxConns = 2
	config.ConnConfig.ConnectTimeout = 5 * time.Second
	config.ConnConfig.RuntimeParams["application_name"] = "demo"
	config.ConnConfig.RuntimeParams["plan_cache_mode"] = "force_custom_plan" // as the service has it
	// A sick query of ours, run for its EXPLAIN, ends with us, also when we are killed.
	config.ConnConfig.RuntimeParams["client_connection_check_interval"] = "1s"
	return pgxpool.NewWithConfig(context.Background(), config)
}

// reload is the whole flip. SHARE ROW EXCLUSIVE keeps other writers out, for the second or two that it takes: what they
// added in between would be gone from the copy, or be there twice. Readers go on.
var reload = []string{
	`SET LOCAL lock_timeout = '10s'`,
	`LOCK TABLE order_items IN SHARE ROW EXCLUSIVE MODE`,
	`CREATE TEMP TABLE reload ON COMMIT DROP AS SELECT * FROM order_items WHERE order_day = DATE '` + salesDay + `'`,
	`DELETE FROM order_items WHERE order_day = DATE '` + salesDay + `'`,
	`ANALYZE order_items`,
	`INSERT INTO order_items SELECT * FROM reload`,
}

// Flip makes the plan sick for length, 1 s to 1 h, and returns when it is. One that is sick already stays so, until the new
// end. It takes seconds on half a processor. After an error nothing is flipped; should even that fail, it ends by itself.
func Flip(ctx context.Context, db DB, length time.Duration) (Status, error) {
	if length < time.Second || length > time.Hour {
		return Status{}, fmt.Errorf("a plan flip for %s is not between 1s and 1h", length)
	}
	// What the last flip has deleted: without this, ten flips would leave half a million dead rows behind. Plain VACUUM
	// changes no statistics of values. It must not truncate: for that it would lock readers out.
	if _, err := db.Exec(ctx, `VACUUM (TRUNCATE false) order_items`); err != nil {
		return Status{}, fmt.Errorf("plan flip: %w", err)
	}
	err := pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		for _, sql := range reload {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, `
INSERT INTO demo.plan_flips (until) VALUES (clock_timestamp() + $1::interval)
ON CONFLICT (only_one) DO UPDATE SET until = excluded.until`, length)
		return err
	})
	if err != nil {
		return Status{}, fmt.Errorf("plan flip: %w", err)
	}
	status, err := State(ctx, db)
	if err == nil && !status.Plan.Flipped {
		err = errors.New("plan flip: the statistics changed and the plan did not")
	}
	if err != nil {
		cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), mendTime)
		defer cancel()
		err = errors.Join(err, Analyze(cleanup, db))
	}
	return status, err
}

// Analyze mends: it gathers the statistics anew. It does so whether or not anything is flipped; that is harmless.
func Analyze(ctx context.Context, db DB) error {
	_, err := mend(ctx, db, `true`)
	return err
}

// Sweep mends a flip whose time is over, by the database's clock, and tells whether there was one. It gives up after a minute.
func Sweep(ctx context.Context, db DB) (ended bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, mendTime)
	defer cancel()
	const over = `until <= clock_timestamp()`
	var due bool
	err = db.QueryRow(ctx, `SELECT EXISTS (SELECT FROM demo.plan_flips WHERE `+over+`)`).Scan(&due)
	if err != nil || !due {
		return false, err
	}
	return mend(ctx, db, over)
}

// mend ends the flip that the condition is about, if there is one; with the condition true it gathers statistics in any case.
func mend(ctx context.Context, db DB, condition string, args ...any) (ended bool, err error) {
	err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		// The lock that ANALYZE takes, taken first: a flip waits for it, or this waits for a flip.
		if _, err := tx.Exec(ctx, `LOCK TABLE order_items IN SHARE UPDATE EXCLUSIVE MODE`); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `DELETE FROM demo.plan_flips WHERE `+condition, args...)
		ended = tag.RowsAffected() > 0
		if err != nil || !ended && condition != `true` {
			return err
		}
		_, err = tx.Exec(ctx, `ANALYZE order_items`)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("ending the plan flip: %w", err)
	}
	return ended, nil
}
