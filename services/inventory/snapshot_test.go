package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/redis/go-redis/v9"

	"watertight.example/pkg/storetest"
)

func newTestSnapshot(t testing.TB) *snapshot {
	t.Helper()
	opt, err := redis.ParseURL(storetest.Redis(t))
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(opt)
	t.Cleanup(func() { _ = client.Close() })
	return newSnapshot(client, unhurried(t, "redis", redisPolicy()), newMetrics(prometheus.NewRegistry()), slog.New(slog.DiscardHandler))
}

func (s *snapshot) entry(t testing.TB, sku int32) (e entry) {
	t.Helper()
	text, err := s.client.Get(t.Context(), fmt.Sprintf("stock:%d", sku)).Bytes()
	if err != nil {
		t.Fatalf("stock:%d: %v", sku, err)
	}
	if err := json.Unmarshal(text, &e); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return e
}

func TestSnapshotPassWritesTheContract(t *testing.T) {
	s, _ := newStore(t)
	snap := newTestSnapshot(t)
	if err := snap.pass(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if n := snap.client.DBSize(t.Context()).Val(); n != 2000 {
		t.Errorf("%d keys, want one for each item", n)
	}
	text := snap.client.Get(t.Context(), "stock:42").Val()
	var published struct {
		Available *int32     `json:"available"`
		AsOf      *time.Time `json:"as_of"`
	}
	if err := json.Unmarshal([]byte(text), &published); err != nil || published.Available == nil || published.AsOf == nil {
		t.Fatalf("%s: %v", text, err)
	}
	if *published.Available != 5000 || published.AsOf.IsZero() {
		t.Errorf("published %s", text)
	}
	if ttl := snap.client.PTTL(t.Context(), "stock:42").Val(); ttl <= 0 || ttl > 120*time.Second {
		t.Errorf("lives for %v, want at most 120 s", ttl)
	}
}

func TestSnapshotNeverGoesBack(t *testing.T) {
	snap := newTestSnapshot(t)
	noon := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	for _, step := range []struct {
		name string
		in   Count
		want int32
		asOf string
	}{
		{"first", Count{1, 10, 5, noon}, 10, "2026-05-04T12:00:00.000Z"},
		{"a later movement", Count{1, 9, 6, noon.Add(time.Millisecond)}, 9, "2026-05-04T12:00:00.001Z"},
		{"a pass that read before the movement committed, by a later clock", Count{1, 10, 5, noon.Add(time.Second)}, 9, "2026-05-04T12:00:00.001Z"},
		{"the same again, later", Count{1, 9, 6, noon.Add(time.Minute)}, 9, "2026-05-04T12:01:00.000Z"},
		{"the same, earlier", Count{1, 9, 6, noon}, 9, "2026-05-04T12:01:00.000Z"},
		{"a movement by a clock that was set back", Count{1, 8, 7, noon.Add(-time.Hour)}, 8, "2026-05-04T11:00:00.000Z"},
	} {
		if err := snap.write(t.Context(), []Count{step.in}); err != nil {
			t.Fatal(err)
		}
		if got := snap.entry(t, 1); got.Available != step.want || got.AsOf != step.asOf {
			t.Errorf("%s: %+v, want %d as of %s", step.name, got, step.want, step.asOf)
		}
	}
	written, kept := snap.metrics.snapshot.WithLabelValues("written"), snap.metrics.snapshot.WithLabelValues("kept")
	if w, k := testutil.ToFloat64(written), testutil.ToFloat64(kept); w != 4 || k != 2 {
		t.Errorf("counted %v written and %v kept, want 4 and 2", w, k)
	}
}

func TestSnapshotReplacesGarbage(t *testing.T) {
	snap := newTestSnapshot(t)
	for _, garbage := range []string{"", "garbage", "null", "[]", `"text"`, "{}", `{"version":"9","as_of":9}`, `{"version":null}`} {
		snap.client.Set(t.Context(), "stock:1", garbage, 0)
		if err := snap.write(t.Context(), []Count{{1, 10, 5, time.Now()}}); err != nil {
			t.Fatalf("over %q: %v", garbage, err)
		}
		if got := snap.entry(t, 1); got.Available != 10 {
			t.Errorf("over %q: %+v", garbage, got)
		}
	}
}

// Movements, passes and their order on the wire are shuffled; Redis ends with the truth.
func TestSnapshotEndsWithTheTruth(t *testing.T) {
	s, heard := newStore(t)
	snap := newTestSnapshot(t)
	s.stockOf(t, 7, 1000)
	var all sync.WaitGroup
	var mu sync.Mutex
	var passes []Count
	for range 6 {
		all.Go(func() {
			for range 10 {
				mustReserveQuietly(t, s, Line{7, 1})
				counts, err := s.Counts(t.Context())
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				passes = append(passes, counts[6])
				mu.Unlock()
			}
		})
	}
	all.Wait()
	writes := append(heard.heard(), passes...)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(writes), func(i, j int) { writes[i], writes[j] = writes[j], writes[i] })
	for _, c := range writes {
		if err := snap.write(t.Context(), []Count{c}); err != nil {
			t.Fatal(err)
		}
	}
	if got := snap.entry(t, 7); got.Available != 940 {
		t.Errorf("Redis says %d, the shelf 940", got.Available)
	}
}

func mustReserveQuietly(t testing.TB, s *store, lines ...Line) {
	if _, err := s.Reserve(t.Context(), uuid.New(), lines); err != nil {
		t.Error(err) // not Fatal: called from other goroutines
	}
}

func TestSnapshotFollowsMovements(t *testing.T) {
	s, _ := newStore(t)
	snap := newTestSnapshot(t)
	s.moved = snap.moved
	for range 3 {
		mustReserve(t, s, uuid.New(), Line{42, 1})
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- snap.follow(ctx) }()
	eventually(t, "the movements are in Redis", func() bool { return snap.client.Exists(t.Context(), "stock:42").Val() == 1 })
	if got := snap.entry(t, 42); got.Available != 4997 {
		t.Errorf("snapshot %+v", got)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A Redis that takes nothing must never hold up a customer: what does not fit is dropped and counted.
func TestMovementsNeverWaitForRedis(t *testing.T) {
	snap := newTestSnapshot(t)
	for range movementQueue + 3 {
		snap.moved([]Count{{1, 1, 1, time.Now()}})
	}
	if n := testutil.ToFloat64(snap.metrics.snapshot.WithLabelValues("dropped")); n != 3 {
		t.Errorf("%v dropped, want 3", n)
	}
}
