package main

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"watertight.example/pkg/resilience"
)

//go:embed migrations/*.sql
var embedded embed.FS

// migrations are the goose files that make the schema and the opening stock.
func migrations() fs.FS {
	sub, err := fs.Sub(embedded, "migrations")
	if err != nil {
		panic(err) // the directory is compiled in
	}
	return sub
}

// store is the primary: every write, and the reads that must be current. All
// methods are safe for concurrent use, here and by other instances.
type store struct {
	db    *pgxpool.Pool
	dep   *resilience.Dependency
	hot   *hotItems // before dep, so that who waits for a hot item has no slot of it yet
	hold  time.Duration
	moved func([]Count) // hears of each movement after it is durable; must not block
}

// Count is one item's availability. A greater Version is a later truth; AsOf is
// the database's clock.
type Count struct {
	SKU       int32
	Available int32
	Version   int64
	AsOf      time.Time
}

// attempts bounds how often one call repeats a transaction that lost a race.
// Nobody should lose even once: every statement locks items by SKU, then the
// reservation. Three covers what that order cannot, and ends.
const attempts = 3

// again runs one transaction and repeats it when Postgres undid it in favour of
// another (serialization failure, deadlock). The pause lets the winner finish.
func again[T any](ctx context.Context, work func(context.Context) (T, error)) (T, error) {
	for n := 1; ; n++ {
		v, err := work(ctx)
		if n == attempts || !lostRace(err) {
			return v, err
		}
		select {
		case <-ctx.Done():
			return v, err
		case <-time.After(time.Duration(5+rand.IntN(10*n)) * time.Millisecond):
		}
	}
}

// lostRace reports whether the transaction left no trace and deserves a repeat.
func lostRace(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code == "40001" || pg.Code == "40P01"
	}
	return errors.Is(err, ErrContended)
}

// columns takes lines apart into the two arrays SQL's unnest puts together.
func columns(lines []Line) (skus, quantities []int32) {
	for _, l := range lines {
		skus, quantities = append(skus, l.SKU), append(quantities, l.Quantity)
	}
	return skus, quantities
}

const findReservation = `
SELECT r.id, r.state, r.expires_at,
       array(SELECT sku      FROM reservation_lines WHERE reservation_id = r.id ORDER BY sku),
       array(SELECT quantity FROM reservation_lines WHERE reservation_id = r.id ORDER BY sku)
FROM reservations r WHERE r.id = $1`

// scanReservation reads a row of findReservation; no row is ErrNotFound.
func scanReservation(row pgx.Row) (Reservation, error) {
	r := Reservation{Lines: []Line{}}
	var skus, quantities []int32
	err := row.Scan(&r.OrderID, &r.State, &r.ExpiresAt, &skus, &quantities)
	if errors.Is(err, pgx.ErrNoRows) {
		return r, ErrNotFound
	}
	for i, sku := range skus {
		r.Lines = append(r.Lines, Line{SKU: sku, Quantity: quantities[i]})
	}
	r.ExpiresAt = r.ExpiresAt.UTC()
	return r, err
}
