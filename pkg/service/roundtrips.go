package service

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
)

// roundTrips counts what goes to one Postgres and comes back: a query is one round trip, and so is a batch, however many
// statements are in it. That is what an operation costs in time, and what its code can do something about.
type roundTrips struct{ prometheus.Counter }

func newRoundTrips(db string) roundTrips {
	return roundTrips{prometheus.NewCounter(prometheus.CounterOpts{
		Name:        "postgres_round_trips_total",
		Help:        "Queries and batches sent; a batch is one.",
		ConstLabels: prometheus.Labels{"db": db},
	})}
}

func (c roundTrips) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	c.Inc()
	return ctx
}

func (c roundTrips) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	c.Inc()
	return ctx
}

func (roundTrips) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData)     {}
func (roundTrips) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (roundTrips) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}
