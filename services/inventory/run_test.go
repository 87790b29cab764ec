package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"watertight.example/pkg/service/servicetest"
	"watertight.example/pkg/storetest"
)

// eventually waits for something that happens in the background; only a test that fails waits long.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for limit := time.Now().Add(30 * time.Second); time.Now().Before(limit); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("never: %s", what)
}

func get(t *testing.T, url string, into any) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if s, raw := into.(*string); raw {
		*s = string(text)
	} else if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %s: %v", url, text, err)
	}
}

// The whole service, on real stores: it migrates, becomes ready, reserves,
// publishes the snapshot, beats, sweeps an expired hold, and stops cleanly. Its
// replica is not there: the start does not wait for it and reads fail over.
func TestRun(t *testing.T) {
	db, cache := storetest.Postgres(t), storetest.Redis(t)
	orders := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		resolved(w, strings.TrimPrefix(r.URL.Path, "/resolve/"), "abandoned")
	}))
	t.Cleanup(orders.Close)
	in := servicetest.Start(t, run, map[string]string{
		"DATABASE_URL": db, "REDIS_URL": cache, "ORDERS_URL": orders.URL,
		"REPLICA_URL": "postgres://nobody@127.0.0.1:1/none?sslmode=disable",
		"HOLD_TTL":    "1s", "SWEEP_EVERY": "50ms", "HEARTBEAT_EVERY": "50ms",
	})
	in.WaitReady(t)

	id := uuid.NewString()
	resp, err := http.Post(in.URL+"/reservations/"+id, "application/json", strings.NewReader(`{"lines":[{"sku":42,"quantity":3}]}`))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusCreated || resp.Header.Get("Location") != "/reservations/"+id {
		t.Fatalf("reserve: %s, Location %q", resp.Status, resp.Header.Get("Location"))
	}
	eventually(t, "stock is read from the primary, the replica is not there", func() bool { // a read has 60 ms: this machine may take longer
		var st Stock
		get(t, in.URL+"/stock?sku=42", &st)
		return len(st.Items) == 1
	})

	opt, err := redis.ParseURL(cache)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(opt)
	t.Cleanup(func() { _ = client.Close() })
	eventually(t, "the whole snapshot is in Redis", func() bool { return client.DBSize(t.Context()).Val() == 2000 })

	var res Reservation
	eventually(t, "the expired hold is released on orders' word", func() bool {
		get(t, in.URL+"/reservations/"+id, &res)
		return res.State == Released
	})
	eventually(t, "the snapshot shows the released stock", func() bool {
		return strings.Contains(client.Get(t.Context(), "stock:42").Val(), `"available":5000`)
	})

	conn, err := pgx.Connect(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	var first, later time.Time
	if err := conn.QueryRow(t.Context(), `SELECT at FROM heartbeat`).Scan(&first); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the heart beats", func() bool {
		err := conn.QueryRow(t.Context(), `SELECT at FROM heartbeat`).Scan(&later)
		return err == nil && later.After(first)
	})

	var metrics string
	get(t, in.InternalURL+"/metrics", &metrics)
	for _, want := range []string{
		`inventory_reservations_total{operation="reserve",result="moved",service="inventory"} 1`,
		`inventory_sweeps_total{result="released",service="inventory"} 1`,
		`inventory_snapshot_keys_total{result="dropped",service="inventory"} 0`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
	if err := in.Stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
}

func TestConfigIsCheckedWhole(t *testing.T) {
	cfg := &Config{DatabaseURL: "mysql://localhost/x", ReplicaURL: "postgres://", RedisURL: "localhost:6379", OrdersURL: "orders:8080"}
	err := cfg.Validate()
	if err == nil {
		t.Fatal("accepted")
	}
	for _, key := range []string{"DATABASE_URL", "REPLICA_URL", "REDIS_URL", "ORDERS_URL", "HOLD_TTL", "SWEEP_EVERY", "SNAPSHOT_EVERY", "HEARTBEAT_EVERY"} {
		if !strings.Contains(err.Error(), key) {
			t.Errorf("%v does not name %s", err, key)
		}
	}
}
