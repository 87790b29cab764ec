package audit

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"watertight.example/pkg/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// books is a shop's three databases, by the services' own migrations.
type books struct {
	t   *testing.T
	cfg Config
	db  map[string]*pgx.Conn
}

func newBooks(t *testing.T) *books {
	t.Helper()
	b := &books{t: t, db: map[string]*pgx.Conn{}, cfg: Config{Within: 15 * time.Second,
		Orders: storetest.Postgres(t), Inventory: storetest.Postgres(t), Recommendations: storetest.Postgres(t)}}
	for service, url := range map[string]string{orders: b.cfg.Orders, inventory: b.cfg.Inventory, recommendations: b.cfg.Recommendations} {
		conn, err := pgx.Connect(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(t.Context()) })
		b.db[service] = conn
		files, err := filepath.Glob("../../services/" + service + "/migrations/*.sql")
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if service == recommendations && !strings.Contains(string(text), "CREATE TABLE purchases") {
				continue // its 600,000 historical sales are none of the audit's business
			}
			up, _, _ := strings.Cut(string(text), "-- +goose Down")
			if service == recommendations {
				up, _, _ = strings.Cut(up, "INSERT INTO best_sellers")
			}
			b.exec(service, up)
		}
	}
	return b
}

func (b *books) exec(service, sql string) {
	b.t.Helper()
	if _, err := b.db[service].PgConn().Exec(b.t.Context(), sql).ReadAll(); err != nil {
		b.t.Fatalf("%s: %v", service, err)
	}
}

// An honest sale of two of item 7 and one of item 42, settled and delivered.
const (
	id  = "11111111-1111-4111-8111-111111111111"
	buy = "22222222-2222-4222-8222-222222222222"
	two = "33333333-3333-4333-8333-333333333333" // of another order
)

func (b *books) sell() {
	b.t.Helper()
	b.exec(orders, `
INSERT INTO idempotency_keys (scope, key, fingerprint, operation_id, state, lease_until, status, headers, body, finished_at)
VALUES ('POST /orders alice', 'k1', sha256('x'), '`+id+`', 1, now(), 201, '{}', convert_to('{"order_id":"`+id+`"}', 'UTF8'), now());
INSERT INTO orders VALUES ('`+id+`', 'confirmed', 'POST /orders alice', 'k1', sha256('x'), 'alice', gen_random_uuid(), 3000, 'EUR');
INSERT INTO order_lines VALUES ('`+id+`', 7, 2, 1000, 2000), ('`+id+`', 42, 1, 1000, 1000);
INSERT INTO outbox (event_id, order_id, kind, payload, done_at) VALUES
  (gen_random_uuid(), '`+id+`', 'commit_reservation', '{}', now()), ('`+buy+`', '`+id+`', 'purchase', '{}', now())`)
	b.exec(inventory, `
INSERT INTO reservations (id, state, expires_at, sweep_at) VALUES ('`+id+`', 'held', now(), now());
INSERT INTO reservation_lines VALUES ('`+id+`', 7, 2), ('`+id+`', 42, 1);
INSERT INTO movements (sku, kind, on_hand, reserved, order_id) SELECT sku, 'reserve', 0, quantity, reservation_id FROM reservation_lines;
INSERT INTO movements (sku, kind, on_hand, reserved, order_id) SELECT sku, 'commit', -quantity, -quantity, reservation_id FROM reservation_lines;
UPDATE items i SET on_hand = on_hand - quantity FROM reservation_lines l WHERE i.sku = l.sku;
UPDATE reservations SET state = 'committed', settled_at = now()`)
	b.exec(recommendations, `INSERT INTO purchases (event_id, order_id, lines, occurred_at) VALUES ('`+buy+`', '`+id+`', '[]', now())`)
}

func (b *books) audit() Report {
	b.t.Helper()
	r, err := Run(b.t.Context(), b.cfg)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// wrong lists the demands that are not met.
func (r Report) wrong() (demands []string) {
	for _, c := range r.Checks {
		if c.Wrong > 0 {
			demands = append(demands, c.Demand)
		}
	}
	return demands
}

func TestHonestBooks(t *testing.T) {
	b := newBooks(t)
	if r := b.audit(); r.Err() != nil || r.Orders != 0 {
		t.Errorf("an empty shop: %+v", r)
	}
	b.sell()
	// Under way, and not wrong: a key being worked on, a hold, a tombstone, an event that waits.
	b.exec(orders, `
INSERT INTO idempotency_keys (scope, key, fingerprint, operation_id, lease_until) VALUES ('s', 'k2', sha256('x'), gen_random_uuid(), now());
INSERT INTO orders (id, state) VALUES ('`+two+`', 'abandoned');
UPDATE outbox SET done_at = NULL`)
	b.exec(inventory, `INSERT INTO reservations (id, state, expires_at, sweep_at) VALUES (gen_random_uuid(), 'held', now(), now())`)
	r := b.audit()
	if r.Err() != nil || r.Orders != 1 || r.Tombstones != 1 || r.UnderWay != 4 {
		t.Errorf("%q wrong; %+v", r.wrong(), r)
	}
}

func TestCancelledOrderAddsUp(t *testing.T) {
	b := newBooks(t)
	b.sell()
	b.exec(orders, `
UPDATE orders SET state = 'cancelled';
INSERT INTO outbox (event_id, order_id, kind, payload) VALUES (gen_random_uuid(), '`+id+`', 'restock', '{}')`)
	if r := b.audit(); r.Err() != nil || r.Cancelled != 1 {
		t.Errorf("before its goods are back: %q wrong", r.wrong())
	}
	b.exec(orders, `UPDATE outbox SET done_at = now()`)
	if r := b.audit(); !slices.Equal(r.wrong(), []string{"every cancelled order's goods came back"}) {
		t.Errorf("told and not done: %q wrong", r.wrong())
	}
	b.exec(inventory, `
INSERT INTO restocks VALUES (gen_random_uuid(), '`+id+`');
INSERT INTO movements (sku, kind, on_hand, reserved, order_id) SELECT sku, 'return', quantity, 0, reservation_id FROM reservation_lines;
UPDATE items i SET on_hand = on_hand + quantity FROM reservation_lines l WHERE i.sku = l.sku`)
	if r := b.audit(); r.Err() != nil {
		t.Errorf("%q wrong", r.wrong())
	}
}

// TestEveryCheckFinds: each kind of damage turns its check red.
func TestEveryCheckFinds(t *testing.T) {
	covered := map[string]bool{}
	for _, c := range []struct{ service, damage, demand string }{
		{orders, `ALTER TABLE orders DROP CONSTRAINT orders_scope_idem_key_key;
			UPDATE orders SET created_at = now(); INSERT INTO orders SELECT '` + two + `', state, scope, idem_key, fingerprint, customer_id, quote_id, total, currency FROM orders;
			INSERT INTO order_lines SELECT '` + two + `', sku, quantity, unit_amount, amount FROM order_lines;
			INSERT INTO outbox (event_id, order_id, kind, payload) VALUES (gen_random_uuid(), '` + two + `', 'commit_reservation', '{}'), (gen_random_uuid(), '` + two + `', 'purchase', '{}')`,
			"one intent made at most one order"},
		{orders, `UPDATE idempotency_keys SET body = convert_to('{"order_id":"` + two + `"}', 'UTF8')`, "every answer 201 names an order that exists"},
		{orders, `UPDATE idempotency_keys SET status = 422`, "no order's key was answered with anything but 201"},
		{orders, `INSERT INTO idempotency_keys (scope, key, fingerprint, operation_id, lease_until) VALUES ('s', 'k2', sha256('x'), gen_random_uuid(), now() - interval '16 s')`,
			"no key is without an answer long after its owner's lease"},
		{orders, `UPDATE orders SET total = total + 1`, "every order's lines add up to its total"},
		{orders, `UPDATE outbox SET done_at = NULL, created_at = now() - interval '16 s' WHERE kind = 'purchase'`, "the outbox drains"},
		{orders, `UPDATE outbox SET done_at = NULL, parked_at = now() WHERE kind = 'purchase'`, "no event was parked"},
		{orders, `UPDATE orders SET state = 'cancelled'`, "every cancelled order has one event that returns its goods"},
		{inventory, `UPDATE items SET on_hand = on_hand - 1 WHERE sku = 9`, "counters, ledger and holds agree for every item"},
		{inventory, `ALTER TABLE items DROP CONSTRAINT items_on_hand_check, DROP CONSTRAINT never_oversold;
			ALTER TABLE movements DROP CONSTRAINT movements_check; UPDATE items SET on_hand = -1 WHERE sku = 97;
			INSERT INTO movements (sku, kind, on_hand, reserved) VALUES (97, 'theft', -1, 0)`, "no item has less than nothing"},
		{inventory, `ALTER TABLE movements DISABLE TRIGGER append_only; UPDATE movements SET order_id = NULL, kind = 'receipt', on_hand = 1, reserved = 0 WHERE kind = 'commit' AND sku = 7;
			UPDATE items SET on_hand = on_hand + 3, reserved = 2 WHERE sku = 7; INSERT INTO reservations VALUES ('` + two + `', 'held', now(), now(), NULL, now()); INSERT INTO reservation_lines VALUES ('` + two + `', 7, 2)`,
			"sales and returns moved exactly their reservation's lines"},
		{inventory, `INSERT INTO reservations (id, state, expires_at, sweep_at) VALUES (gen_random_uuid(), 'held', now() - interval '16 s', now())`,
			"no hold is kept long after its time"},
		{inventory, `INSERT INTO reservations (id, state, expires_at, sweep_at) VALUES ('` + two + `', 'held', now(), now());
			UPDATE reservations SET state = 'committed', settled_at = now() WHERE state = 'held'`, "every sale and every return belongs to an order"},
		{inventory, `ALTER TABLE reservations DISABLE TRIGGER terminal; UPDATE reservations SET state = 'held', settled_at = NULL;
			ALTER TABLE movements DISABLE TRIGGER append_only; DELETE FROM movements WHERE kind = 'commit';
			UPDATE items i SET on_hand = on_hand + quantity, reserved = quantity FROM reservation_lines l WHERE i.sku = l.sku`, "every order has its stock, line by line"},
		{recommendations, `DELETE FROM purchases`, "every purchase arrived once, and belongs to an order"},
		{recommendations, `INSERT INTO purchases (event_id, order_id, lines, occurred_at) VALUES (gen_random_uuid(), '` + id + `', '[]', now())`, "every purchase arrived once, and belongs to an order"},
		{recommendations, `INSERT INTO purchases (event_id, order_id, lines, occurred_at) VALUES (gen_random_uuid(), '` + two + `', '[]', now())`, "every purchase arrived once, and belongs to an order"},
	} {
		t.Run(c.demand, func(t *testing.T) {
			b := newBooks(t)
			b.sell()
			b.exec(c.service, c.damage)
			r := b.audit()
			if !slices.Contains(r.wrong(), c.demand) {
				t.Errorf("went unnoticed; wrong: %q", r.wrong())
			}
			if err := r.Err(); err == nil || !strings.Contains(err.Error(), "do not add up") {
				t.Errorf("the verdict: %v", err)
			}
			covered[c.demand] = true
			var out strings.Builder
			r.Print(&out)
			if !strings.Contains(out.String(), c.demand) || !strings.Contains(out.String(), "1 WRONG: ") {
				t.Errorf("printed:\n%s", out.String())
			}
		})
	}
	for _, c := range newBooks(t).audit().Checks {
		if !covered[c.Demand] && c.Demand != "every cancelled order's goods came back" { // TestCancelledOrderAddsUp
			t.Errorf("no damage is known that %q finds", c.Demand)
		}
	}
}

func TestADatabaseThatIsAwayIsAnError(t *testing.T) {
	b := newBooks(t)
	b.cfg.Inventory = "postgres://auditor@127.0.0.1:1/inventory?sslmode=disable"
	if r, err := Run(t.Context(), b.cfg); err == nil || !strings.Contains(err.Error(), "inventory") {
		t.Errorf("%+v, %v: what could not be read was passed", r, err)
	}
}
