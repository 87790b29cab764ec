package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/prometheus/client_golang/prometheus"

	"watertight.example/pkg/idempotency"
	"watertight.example/pkg/resilience"
	"watertight.example/pkg/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// shop is the service under test between fakes of its neighbours, with real stores.
type shop struct {
	t         *testing.T
	url       string // of the service
	database  string
	redis     string
	db        *pgxpool.Pool // the test's own
	pricing   *fakePricing
	inventory *fakeInventory
	recs      *fakeRecommendations
	marker    bool // a mutant's key that is claimed outside Postgres, for ever
}

// open starts the stores' tenants, the fakes and one instance. Background jobs are off unless knobs ("KEY=value") say otherwise,
// so that nothing but the test moves things.
func open(t *testing.T, knobs ...string) *shop {
	t.Helper()
	s := closed(t)
	s.url = s.start(knobs...)
	return s
}

// closed is a shop without an instance: schema and fakes, for tests that drive the parts themselves.
func closed(t *testing.T) *shop {
	t.Helper()
	s := &shop{t: t, database: storetest.Postgres(t), redis: storetest.Redis(t),
		pricing: newFakePricing(t), inventory: newFakeInventory(t), recs: newFakeRecommendations(t)}
	pool, err := pgxpool.New(t.Context(), s.database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	s.db = pool
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	db := stdlib.OpenDBFromPool(pool)
	defer db.Close()
	schema, err := goose.NewProvider(goose.DialectPostgres, db, files)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := schema.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// start runs one more instance over the same stores and returns its address.
func (s *shop) start(knobs ...string) (address string) {
	s.t.Helper()
	env := map[string]string{
		"PUBLIC_ADDR": "127.0.0.1:0", "INTERNAL_ADDR": "127.0.0.1:0", "DRAIN_DELAY": "0s",
		"DATABASE_URL": s.database, "REDIS_URL": s.redis,
		"PRICING_URL": s.pricing.URL, "INVENTORY_URL": s.inventory.URL, "RECOMMENDATIONS_URL": s.recs.URL,
		"COMPLETE_AFTER": "1h", "RELAY_EVERY": "1h",
	}
	for _, knob := range knobs {
		key, value, _ := strings.Cut(knob, "=")
		env[key] = value
	}
	ctx, stop := context.WithCancel(context.Background())
	logs, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, []string{"orders"}, func(key string) string { return env[key] }, out)
		out.Close()
		ended <- err
	}()
	s.t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			s.t.Errorf("run: %v", err)
		}
	})
	lines := bufio.NewScanner(logs)
	for lines.Scan() {
		if os.Getenv("SHOW_LOGS") != "" {
			s.t.Log(lines.Text())
		}
		var line struct{ Msg, Public string }
		_ = json.Unmarshal(lines.Bytes(), &line) // a line that is no JSON is not one of those looked for
		switch line.Msg {
		case "listening":
			address = "http://" + line.Public
			go untilReady(ctx, address) // on a busy machine the first look of its own may find a store too slow
		case "ready":
			go io.Copy(io.Discard, logs)
			return address
		}
	}
	s.t.Fatal("the service ended before it was ready")
	return ""
}

// untilReady asks as an orchestrator does.
func untilReady(ctx context.Context, address string) {
	for ctx.Err() == nil {
		resp, err := http.Get(address + "/readyz")
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// answer is what came back, read to the end.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) problem() string {
	var p struct{ Type string }
	if json.Unmarshal(a.body, &p) != nil || a.header.Get("Content-Type") != "application/problem+json" {
		return ""
	}
	return strings.TrimPrefix(p.Type, "/problems/")
}

// is fails the test unless the answer has this status and, for an error, names this problem.
func (a answer) is(t *testing.T, status int, problem string) answer {
	t.Helper()
	if a.status != status || a.problem() != problem {
		t.Fatalf("%d %q, want %d %q: %s", a.status, a.problem(), status, problem, a.body)
	}
	return a
}

func (a answer) order(t *testing.T) (o Order) {
	t.Helper()
	if err := json.Unmarshal(a.body, &o); err != nil {
		t.Fatalf("%s: %v", a.body, err)
	}
	return o
}

// send makes a request with a JSON body; headers are "Name: value".
func (s *shop) send(ctx context.Context, method, url, body string, headers ...string) (answer, error) {
	return s.sendAs(ctx, "application/json", method, url, body, headers...)
}

func (s *shop) sendAs(ctx context.Context, contentType, method, url, body string, headers ...string) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Content-Type", contentType)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Add(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, data}, err
}

func (s *shop) do(method, path, body string, headers ...string) answer {
	s.t.Helper()
	a, err := s.send(s.t.Context(), method, s.url+path, body, headers...)
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

const (
	alice = "X-Customer-Id: alice"
	bob   = "X-Customer-Id: bob"
)

// key names an intent; the same text is the same intent.
func key(name string) string { return "Idempotency-Key: " + keyText(name) }

func keyText(name string) string { return "intent-0123456789-" + name }

// order posts alice's order.
func (s *shop) order(name, body string) answer {
	s.t.Helper()
	return s.do("POST", "/orders", body, alice, key(name))
}

// count runs a query with one number as its result.
func (s *shop) count(sql string, args ...any) (n int) {
	s.t.Helper()
	if err := s.db.QueryRow(s.t.Context(), sql, args...).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

func (s *shop) exec(sql string, args ...any) {
	s.t.Helper()
	if _, err := s.db.Exec(s.t.Context(), sql, args...); err != nil {
		s.t.Fatal(err)
	}
}

// wantOrders checks how many orders there are, tombstones not counted.
func (s *shop) wantOrders(n int) {
	s.t.Helper()
	if got := s.count(`SELECT count(*) FROM orders WHERE state <> 'abandoned'`); got != n {
		s.t.Errorf("%d orders, want %d", got, n)
	}
}

// placement is what the service makes of alice's body.
func (s *shop) placement(body string) placement {
	s.t.Helper()
	r, err := http.NewRequest("POST", "/orders", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	b, err := readBasket(r)
	if err != nil {
		s.t.Fatal(err)
	}
	return placement{Customer: "alice", basket: b}
}

// crashed leaves what an owner leaves that died after its claim: a claimed key whose lease has run out. It returns the
// order id that the intent already has.
func (s *shop) crashed(name, body string) uuid.UUID {
	s.t.Helper()
	in := s.placement(body)
	req, err := in.request(keyText(name))
	if err != nil {
		s.t.Fatal(err)
	}
	keys, err := idempotency.New(s.db, idempotency.Config{})
	if err != nil {
		s.t.Fatal(err)
	}
	claim, _, err := keys.Claim(s.t.Context(), req)
	if err != nil || claim == nil {
		s.t.Fatalf("claim: %v, %v", claim, err)
	}
	s.expireLeases()
	return claim.OperationID
}

// placeAlone places an order without any instance.
func (s *shop) placeAlone(name string) {
	s.t.Helper()
	if _, err := s.patient(s.db).place(s.t.Context(), keyText(name), s.placement(s.pricing.body(Item{42, 1}))); err != nil {
		s.t.Fatal(err)
	}
}

// patient places orders like an instance, but without a time limit on anything, so that a test can hold it up anywhere.
func (s *shop) patient(pool *pgxpool.Pool) *placing {
	s.t.Helper()
	dep := func(name string) *resilience.Dependency {
		d, err := resilience.New(name, resilience.Config{Timeout: resilience.Timeout{Total: time.Hour}}, nil)
		if err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(d.Close)
		return d
	}
	keys, err := idempotency.New(pool, idempotency.Config{Lease: 3 * time.Hour, StoreTimeout: time.Hour, FinishTimeout: time.Hour})
	if err != nil {
		s.t.Fatal(err)
	}
	return &placing{keys: keys, store: &store{pool: pool, postgres: dep("postgres")},
		pricing:   &pricing{url: s.pricing.URL, dep: dep("pricing")},
		inventory: &inventory{url: s.inventory.URL, dep: dep("inventory")},
		work:      time.Hour, placed: func() {}, metrics: newMetrics(prometheus.NewRegistry()), log: slog.New(slog.DiscardHandler)}
}

func (s *shop) expireLeases() {
	s.t.Helper()
	s.exec(`UPDATE idempotency_keys SET lease_until = now() - interval '1 minute' WHERE state = 0`)
}

// eventually waits for what background work brings about. The bound is for hangs only.
func (s *shop) eventually(what string, ok func() bool) {
	s.t.Helper()
	for limit := time.Now().Add(time.Minute); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			s.t.Fatalf("never happened: %s", what)
		}
	}
}

func sameBytes(t *testing.T, a, b answer) {
	t.Helper()
	if a.status != b.status || !bytes.Equal(a.body, b.body) || a.header.Get("Location") != b.header.Get("Location") || a.header.Get("Content-Type") != b.header.Get("Content-Type") {
		t.Errorf("the replay differs:\n%d %v %s\n%d %v %s", a.status, a.header, a.body, b.status, b.header, b.body)
	}
}
