//go:build e2e

package e2e

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2/client"
)

// trouble is one row of the fault matrix: it breaks something, leaves it broken for a while, and mends it.
type trouble struct {
	kind   string
	target string // two troubles of one target never overlap
	happen func(t testing.TB, s *Stack)
}

const (
	keyLease = 10 * time.Second // KEY_LEASE of orders, by default
	// A freeze outlives it, so that the owner wakes up as somebody else has taken over.
	freezeTime = keyLease + time.Second
	silence    = 5 * time.Second
	slowness   = 4800 * time.Millisecond
	slowTime   = 6 * time.Second
	cutTime    = 3 * time.Second
)

// deck is the whole matrix, each row once.
func deck() (all []trouble) {
	add := func(kind, target string, happen func(testing.TB, *Stack)) {
		all = append(all, trouble{kind, target, happen})
	}
	for _, service := range []string{"orders", "orders-2", "inventory", "pricing"} {
		back := func(t testing.TB, s *Stack) { s.WaitReady(t, service) }
		add("killed", service, away((*Stack).Kill, (*Stack).Start, service, time.Second, back))
		add("frozen", service, away((*Stack).Pause, (*Stack).Unpause, service, freezeTime, back))
	}
	for _, store := range []string{"postgres", "postgres-inventory", "postgres-recommendations", "redis"} {
		back := func(t testing.TB, s *Stack) { s.waitAccepts(t, store) }
		add("restarted", store, away((*Stack).Stop, (*Stack).Start, store, time.Second, back))
		add("killed", store, away((*Stack).Kill, (*Stack).Start, store, time.Second, back))
		if store == "postgres" || store == "redis" {
			add("frozen", store, away((*Stack).Pause, (*Stack).Unpause, store, silence, back))
		}
	}
	// Redis is a short cut: one that answers late, or not at all, must cost time and nothing else.
	add("slow", "redis", toxic("redis", slowTime, lateBy(200*time.Millisecond)))
	add("partitioned", "redis", toxic("redis", silence, blackHole("upstream"), blackHole("downstream")))
	add("flushed", "redis", flushRedis)
	add("flushed", "redis", flushRedis)
	for _, edge := range []string{"orders-inventory", "orders-postgres"} {
		add("partitioned", edge, toxic(edge, silence, blackHole("upstream"), blackHole("downstream")))
	}
	for _, edge := range []string{"orders-postgres", "inventory-postgres"} {
		add("slow", edge, toxic(edge, slowTime, lateBy(slowness)))
	}
	// The order is placed, the answer never arrives: not a byte of it, or half.
	add("answers cut", "productpage-orders", toxic("productpage-orders", cutTime, toxiproxy.Toxic{Type: "reset_peer", Stream: "downstream", Attributes: toxiproxy.Attributes{"timeout": 0}}))
	add("answers cut", "productpage-orders", toxic("productpage-orders", cutTime, toxiproxy.Toxic{Type: "limit_data", Stream: "downstream", Attributes: toxiproxy.Attributes{"bytes": 100}}))
	return all
}

// away takes a container away for a while and waits until it is back.
func away(take, give func(*Stack, testing.TB, ...string), name string, long time.Duration, back func(testing.TB, *Stack)) func(testing.TB, *Stack) {
	return func(t testing.TB, s *Stack) {
		take(s, t, name)
		time.Sleep(long)
		give(s, t, name)
		back(t, s)
	}
}

// blackHole swallows what is sent and closes nothing: the other side is not down, it is silent.
func blackHole(stream string) toxiproxy.Toxic {
	return toxiproxy.Toxic{Type: "timeout", Stream: stream, Attributes: toxiproxy.Attributes{"timeout": 0}}
}

// lateBy delays every answer.
func lateBy(d time.Duration) toxiproxy.Toxic {
	return toxiproxy.Toxic{Type: "latency", Stream: "downstream", Attributes: toxiproxy.Attributes{"latency": d.Milliseconds()}}
}

// toxic puts toxics on an edge for a while.
func toxic(edge string, long time.Duration, toxics ...toxiproxy.Toxic) func(testing.TB, *Stack) {
	return func(t testing.TB, s *Stack) {
		proxy, err := s.Toxiproxy().Proxy(edge)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range toxics {
			name := x.Type + "-" + x.Stream
			if _, err := proxy.AddToxic(name, x.Type, x.Stream, 1, x.Attributes); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := proxy.RemoveToxic(name); err != nil {
					t.Error(err)
				}
			}()
		}
		time.Sleep(long)
	}
}

func flushRedis(t testing.TB, s *Stack) {
	if err := s.Redis().FlushAll(t.Context()).Err(); err != nil {
		t.Logf("redis is away already: %v", err)
	}
}

// storm deals troubles from a shuffled deck, dealing it again and again.
type storm struct {
	mu    sync.Mutex
	rng   *rand.Rand
	left  []trouble
	dealt map[string]int // by what happened to whom
	busy  map[string]*sync.Mutex
	began time.Time
	ended time.Time // the last trouble so far
}

func newStorm(seed uint64) *storm {
	return &storm{rng: rand.New(rand.NewPCG(seed, 1)), dealt: map[string]int{}, busy: map[string]*sync.Mutex{}, began: time.Now()}
}

// next is the next trouble and the lock of its target, unless there were enough.
func (w *storm) next(enough func(troubles int) bool) (trouble, *sync.Mutex, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	total := 0
	for _, n := range w.dealt {
		total += n
	}
	if enough(total) {
		return trouble{}, nil, false
	}
	if len(w.left) == 0 {
		w.left = deck()
		w.rng.Shuffle(len(w.left), func(i, j int) { w.left[i], w.left[j] = w.left[j], w.left[i] })
	}
	x := w.left[0]
	w.left = w.left[1:]
	w.dealt[x.target+" "+x.kind]++
	if w.busy[x.target] == nil {
		w.busy[x.target] = &sync.Mutex{}
	}
	return x, w.busy[x.target], true
}

// rage makes troubles, one after another, with short breaths between them. Several may run at once: then troubles overlap.
func (w *storm) rage(t testing.TB, s *Stack, enough func(troubles int) bool) {
	for {
		x, alone, ok := w.next(enough)
		if !ok {
			return
		}
		var from time.Duration
		func() {
			alone.Lock()
			defer alone.Unlock() // also when it fails the test
			from = time.Since(w.began)
			x.happen(t, s)
		}()
		w.mu.Lock()
		w.ended = time.Now()
		breath := time.Duration(w.rng.IntN(1200)) * time.Millisecond
		w.mu.Unlock()
		t.Logf("%6.1f s to %5.1f s: %s %s", from.Seconds(), time.Since(w.began).Seconds(), x.target, x.kind)
		time.Sleep(breath)
	}
}

// kinds says how often each trouble happened.
func (w *storm) kinds() string {
	text, total := "", 0
	for _, what := range slices.Sorted(maps.Keys(w.dealt)) {
		total += w.dealt[what]
		text += fmt.Sprintf(", %s %d", what, w.dealt[what])
	}
	return fmt.Sprintf("%d troubles%s", total, text)
}
