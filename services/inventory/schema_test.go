package main

import (
	"testing"

	"github.com/google/uuid"
)

func TestSeedIsWhatTheShopExpects(t *testing.T) {
	s, _ := newStore(t)
	s.mustBalance(t)
	for name, check := range map[string]struct {
		query string
		want  int
	}{
		"items":                 {`SELECT count(*) FROM items`, 2000},
		"hot product":           {`SELECT on_hand FROM items WHERE sku = 42`, 5000},
		"sold out":              {`SELECT count(*) FROM items WHERE sku % 97 = 0 AND on_hand = 0`, 2000 / 97},
		"last few":              {`SELECT count(*) FROM items WHERE sku % 41 = 0 AND on_hand BETWEEN 1 AND 5`, 2000 / 41},
		"others":                {`SELECT count(*) FROM items WHERE on_hand BETWEEN 400 AND 1400`, 2000 - 1 - 2000/97 - 2000/41},
		"same on every machine": {`SELECT sum(on_hand)::int FROM items`, seedTotal},
	} {
		if got := s.number(t, check.query); got != check.want {
			t.Errorf("%s: %d, want %d", name, got, check.want)
		}
	}
}

// seedTotal changes only when the seed does: shops on two machines must agree.
const seedTotal = 1732599

func TestSchemaRefusesWhatTheCodeMustNotDo(t *testing.T) {
	s, _ := newStore(t)
	done, gone := uuid.New(), uuid.New()
	mustReserve(t, s, done, Line{1, 1})
	mustSettle(t, s, done, Committed)
	mustReserve(t, s, gone, Line{1, 1})
	mustSettle(t, s, gone, Released)
	for name, q := range map[string]string{
		"oversold":              `UPDATE items SET reserved = on_hand + 1 WHERE sku = 1`,
		"negative stock":        `UPDATE items SET on_hand = -1 WHERE sku = 97`,
		"negative reserved":     `UPDATE items SET reserved = -1 WHERE sku = 1`,
		"committed to released": `UPDATE reservations SET state = 'released' WHERE id = '` + done.String() + `'`,
		"committed to held":     `UPDATE reservations SET state = 'held', settled_at = NULL WHERE id = '` + done.String() + `'`,
		"released to committed": `UPDATE reservations SET state = 'committed' WHERE id = '` + gone.String() + `'`,
		"released to held":      `UPDATE reservations SET state = 'held', settled_at = NULL WHERE id = '` + gone.String() + `'`,
		"born committed":        `INSERT INTO reservations (id, state, expires_at, sweep_at, settled_at) VALUES (gen_random_uuid(), 'committed', now(), now(), now())`,
		"unknown state":         `UPDATE reservations SET state = 'sold' WHERE id = '` + done.String() + `'`,
		"ledger rewritten":      `UPDATE movements SET on_hand = 0`,
		"ledger erased":         `DELETE FROM movements`,
		"second commit":         `INSERT INTO movements (sku, kind, on_hand, reserved, order_id) VALUES (1, 'release', 0, -1, '` + done.String() + `')`,
		"return of nothing":     `INSERT INTO movements (sku, kind, on_hand, reserved, order_id) VALUES (1, 'return', 0, 0, '` + done.String() + `')`,
		"return without order":  `INSERT INTO movements (sku, kind, on_hand, reserved) VALUES (1, 'return', 1, 0)`,
		"movement of nothing":   `INSERT INTO movements (sku, kind, on_hand, reserved) VALUES (1, 'receipt', 0, 0)`,
		"reserve without order": `INSERT INTO movements (sku, kind, on_hand, reserved) VALUES (1, 'reserve', 0, 1)`,
	} {
		if _, err := s.db.Exec(t.Context(), q); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	s.mustBalance(t)
}
