package incident

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"watertight.example/demo/audit"
)

// Books are the shop's databases, which a story reads as the role auditor: what it counts there, no service has told it.
type Books struct {
	audit.Config
	Replica string // connection URL of inventory's replica
}

// ledger is what the databases said.
type ledger struct {
	reads      []reads
	audited    *audit.Report // nil: not audited
	duplicates int           // orders beyond the first of one quote, since the story began
	plans      []plan
}

// reads counts, at the databases, the statement that reads stock for the shop window.
type reads struct {
	At               time.Time
	Primary, Replica int
}

// plan is the plan of recommendations' query at one moment.
type plan struct {
	At   time.Time
	Name string
}

// Counted where Postgres itself counts; text that the demo's own queries do not have.
const readsSQL = `SELECT coalesce(sum(calls), 0)::int FROM pg_stat_statements WHERE query LIKE '%pg_is_in_recovery%' || 'items i%'`

// count looks at the databases now, if the story is about them. It is called where phases begin and end.
func (r *run) count() {
	if !r.needs.books {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	now := reads{At: time.Now()}
	err := errors.Join(number(ctx, r.Books, r.Books.Inventory, &now.Primary, readsSQL), number(ctx, r.Books, r.Books.Replica, &now.Replica, readsSQL))
	if err != nil {
		r.say("    * the databases could not be read: " + err.Error())
		return
	}
	r.ledger.reads = append(r.ledger.reads, now)
}

// between gives how often each database was asked in a phase.
func (l ledger) between(p phase) (primary, replica int, ok bool) {
	var first, last *reads
	for i, one := range l.reads {
		if !one.At.Before(p.From) && first == nil {
			first = &l.reads[i]
		}
		if first != nil && !one.At.Before(p.To) {
			last = &l.reads[i]
			break
		}
	}
	if first == nil || last == nil {
		return 0, 0, false
	}
	return last.Primary - first.Primary, last.Replica - first.Replica, true
}

// Every form has a quote of its own, so two orders of one quote are one intent that was placed twice.
const duplicatesSQL = `SELECT coalesce(sum(n - 1), 0)::int FROM (
	SELECT count(*) AS n FROM orders WHERE state <> 'abandoned' AND created_at >= $1 GROUP BY quote_id) AS q`

// settle is how long orders may take to come to rest: everything is terminal 15 s after the last fault.
const settle = 15 * time.Second

// close audits the books once the shop has come to rest.
func (l *ledger) close(ctx context.Context, b *Books, since time.Time) error {
	for deadline := time.Now().Add(settle + 5*time.Second); ; {
		report, err := audit.Run(ctx, b.Config)
		if err != nil {
			return fmt.Errorf("the books could not be audited: %w", err)
		}
		l.audited = &report
		if report.Err() == nil || time.Now().After(deadline) {
			return number(ctx, b, b.Orders, &l.duplicates, duplicatesSQL, since)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// number reads one number from a database.
func number(ctx context.Context, b *Books, address string, into *int, sql string, args ...any) error {
	cfg, err := pgx.ParseConfig(address)
	if err != nil {
		return err
	}
	if cfg.Password == "" {
		cfg.Password = b.Password
	}
	cfg.ConnectTimeout = 5 * time.Second
	db, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return err
	}
	defer db.Close(ctx)
	return db.QueryRow(ctx, sql, args...).Scan(into)
}
