package idempotency

import (
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"watertight.example/pkg/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// effects is the business table of these tests: what must exist once per key.
const effects = `CREATE TABLE effects (operation_id uuid PRIMARY KEY, note text CHECK (note <> 'forbidden'))`

// newStore gives a store on a fresh database. Tests do not wait for leases: they expire them with expire.
func newStore(t *testing.T, cfg Config) (*Store, *pgxpool.Pool) {
	t.Helper()
	return storeAt(t, storetest.Postgres(t), cfg)
}

func storeAt(t *testing.T, url string, cfg Config) (*Store, *pgxpool.Pool) {
	t.Helper()
	pool := connect(t, url)
	if _, err := pool.Exec(t.Context(), Schema()+effects); err != nil {
		t.Fatal(err)
	}
	if cfg.Wait == 0 {
		cfg.Wait = -1 // a twin in flight is refused at once
	}
	// A busy test machine must not decide what a test says.
	if cfg.StoreTimeout == 0 {
		cfg.StoreTimeout, cfg.FinishTimeout, cfg.Lease = time.Minute, time.Minute, time.Hour
	}
	store, err := New(pool, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return store, pool
}

func connect(t *testing.T, url string) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

func request(t *testing.T, key, payload string) Request {
	t.Helper()
	sum, err := FingerprintOf("POST", "/payments", nil, payload)
	if err != nil {
		t.Fatal(err)
	}
	return Request{Scope: Scope("POST /payments", "alice"), Key: key, Fingerprint: sum, Payload: []byte(payload)}
}

func mustClaim(t *testing.T, s *Store, req Request) *Claim {
	t.Helper()
	claim, replay, err := s.Claim(t.Context(), req)
	if err != nil || replay != nil {
		t.Fatalf("Claim = %v, %v, %v, want a claim", claim, replay, err)
	}
	return claim
}

func mustReplay(t *testing.T, s *Store, req Request) Answer {
	t.Helper()
	claim, replay, err := s.Claim(t.Context(), req)
	if err != nil || claim != nil {
		t.Fatalf("Claim = %v, %v, %v, want a replay", claim, replay, err)
	}
	return *replay
}

func expire(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	if _, err := pool.Exec(t.Context(), `UPDATE idempotency_keys SET lease_until = now() - interval '1 minute'`); err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, pool *pgxpool.Pool, table string) (n int) {
	t.Helper()
	if err := pool.QueryRow(t.Context(), `SELECT count(*) FROM `+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// effect queues the business row of a claim.
func effect(c *Claim, note string) func(*pgx.Batch) {
	return func(tx *pgx.Batch) {
		tx.Queue(`INSERT INTO effects (operation_id, note) VALUES ($1, $2)`, c.OperationID, note)
	}
}

func created(body string) Answer {
	return Answer{Status: 201, Body: []byte(body), Header: http.Header{
		"Location": {"/payments/1"}, "Content-Type": {"application/json"}, "Set-Cookie": {"session=1"}}}
}

// memory is a Cache that can be told to fail.
type memory struct {
	values map[string][]byte
	broken atomic.Bool
}

func (m *memory) Get(_ context.Context, key string) ([]byte, error) {
	if v, ok := m.values[key]; ok && !m.broken.Load() {
		return v, nil
	}
	return nil, io.EOF
}

func (m *memory) Set(_ context.Context, key string, value []byte, _ time.Duration) error {
	if m.broken.Load() {
		return io.EOF
	}
	m.values[key] = value
	return nil
}

// cutter is a TCP proxy to Postgres that can lose answers: what was asked is executed, but nobody hears of it.
type cutter struct {
	cut atomic.Bool
	url string
}

func newCutter(t *testing.T, url string) *cutter {
	t.Helper()
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	target := net.JoinHostPort(cfg.ConnConfig.Host, strconv.Itoa(int(cfg.ConnConfig.Port)))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	c := &cutter{url: strings.Replace(url, target, l.Addr().String(), 1)}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", target)
			if err != nil {
				client.Close()
				return
			}
			go func() { _, _ = io.Copy(server, client); server.Close() }()
			go func() { _, _ = io.Copy(cutWriter{c, client}, server); client.Close() }()
		}
	}()
	return c
}

type cutWriter struct {
	c *cutter
	net.Conn
}

func (w cutWriter) Write(p []byte) (int, error) {
	if w.c.cut.Load() {
		return 0, io.ErrClosedPipe
	}
	return w.Conn.Write(p)
}
