package main

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"watertight.example/pkg/idempotency"
	"watertight.example/pkg/resilience"
)

// The constraints whose violation means something.
const (
	oneOrderPerID  = "orders_pkey"               // a tombstone has this id
	oneOrderPerKey = "orders_scope_idem_key_key" // this intent was placed before, its key row reaped since
)

// queueOrder puts everything that makes an order real into the transaction that also stores its answer: three statements of
// the one batch.
func queueOrder(tx *pgx.Batch, claim *idempotency.Claim, in placement, o Order) {
	tx.Queue(`
INSERT INTO orders (id, state, scope, idem_key, fingerprint, customer_id, quote_id, total, currency, created_at)
VALUES ($1, 'confirmed', $2, $3, $4, $5, $6, $7, $8, $9)`,
		o.ID, claim.Scope, claim.Key, claim.Fingerprint[:], in.Customer, in.QuoteID, o.Total, o.Currency, o.CreatedAt)

	skus, quantities := make([]int, len(o.Lines)), make([]int, len(o.Lines))
	units, amounts := make([]int64, len(o.Lines)), make([]int64, len(o.Lines))
	for i, l := range o.Lines {
		skus[i], quantities[i], units[i], amounts[i] = l.SKU, l.Quantity, l.UnitAmount, l.Amount
	}
	tx.Queue(`
INSERT INTO order_lines (order_id, sku, quantity, unit_amount, amount)
SELECT $1, * FROM unnest($2::int[], $3::int[], $4::bigint[], $5::bigint[])`, o.ID, skus, quantities, units, amounts)

	event := uuid.New()
	purchase, _ := json.Marshal(purchase{EventID: event, OrderID: o.ID, Items: in.Items, OccurredAt: o.CreatedAt}) // ids and numbers: cannot fail
	tx.Queue(`
INSERT INTO outbox (event_id, order_id, kind, payload)
VALUES ($1, $2, 'commit_reservation', '{}'), ($3, $2, 'purchase', $4)`, uuid.New(), o.ID, event, purchase)
}

// purchase is the body of POST /purchases at recommendations.
type purchase struct {
	EventID    uuid.UUID `json:"event_id"`
	OrderID    uuid.UUID `json:"order_id"`
	Items      []Item    `json:"lines"`
	OccurredAt time.Time `json:"occurred_at"`
}

const orderSQL = `
SELECT id, state, total, currency, created_at, fingerprint, (
         SELECT json_agg(json_build_object('sku', sku, 'quantity', quantity, 'unit_amount', unit_amount, 'amount', amount) ORDER BY sku)
           FROM order_lines WHERE order_id = id)
  FROM orders `

// stored is an order as the database knows it, with the fingerprint of the request that made it.
type stored struct {
	Order
	fingerprint idempotency.Fingerprint
}

// order reads a customer's order.
func (s *store) order(ctx context.Context, id uuid.UUID, customer string) (Order, bool, error) {
	o, found, err := s.one(ctx, orderSQL+`WHERE id = $1 AND customer_id = $2`, id, customer)
	return o.Order, found, err
}

// orderOf reads the order that an intent made, for as long as there are orders.
func (s *store) orderOf(ctx context.Context, scope, key string) (stored, bool, error) {
	return s.one(ctx, orderSQL+`WHERE scope = $1 AND idem_key = $2`, scope, key)
}

func (s *store) one(ctx context.Context, sql string, args ...any) (stored, bool, error) {
	o, err := resilience.Call(ctx, s.postgres, func(ctx context.Context) (*stored, error) {
		var o stored
		var sum []byte
		err := s.pool.QueryRow(ctx, sql, args...).Scan(&o.ID, &o.State, &o.Total, &o.Currency, &o.CreatedAt, &sum, &o.Lines)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		o.CreatedAt = o.CreatedAt.UTC()
		o.fingerprint = idempotency.Fingerprint(sum)
		return &o, nil
	})
	if err != nil || o == nil {
		return stored{}, false, err
	}
	return *o, true, nil
}

// tombstone makes sure that an order which does not exist never will, and returns the state the id has: one round trip.
func (s *store) tombstone(ctx context.Context, id uuid.UUID) (State, error) {
	return resilience.Call(ctx, s.postgres, func(ctx context.Context) (state State, err error) {
		batch := &pgx.Batch{}
		batch.Queue(`INSERT INTO orders (id, state) VALUES ($1, 'abandoned') ON CONFLICT (id) DO NOTHING`, id)
		batch.Queue(`SELECT state FROM orders WHERE id = $1`, id).QueryRow(func(row pgx.Row) error { return row.Scan(&state) })
		return state, s.pool.SendBatch(ctx, batch).Close() // the answer counts only if this committed
	})
}
