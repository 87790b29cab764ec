package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"watertight.example/pkg/resilience"
)

// The published contract: GET stock:{sku} is a JSON object, gone two minutes
// after it was last known to be true. Readers ignore members they do not know.
const (
	snapshotPrefix = "stock:"
	snapshotTTL    = 120 * time.Second
	asOfLayout     = "2006-01-02T15:04:05.000Z07:00" // fixed width in UTC, so that text order is time order
)

// entry is the value of one key.
type entry struct {
	Available int32  `json:"available"`
	AsOf      string `json:"as_of"`
	Version   int64  `json:"version"` // greater is later, whatever the clocks say
}

// snapshotChunk keys are written by one script: about a millisecond in which
// Redis serves nobody else.
const snapshotChunk = 200

// writeNewer sets each key unless it already holds a later truth: two writers,
// or a movement and a pass that read before it, may arrive in either order. An
// equal version with a later time is the same count confirmed; it lives longer.
// A database restored from a backup counts lower: the old keys then expire.
var writeNewer = redis.NewScript(`
local written = 0
for i, key in ipairs(KEYS) do
  local version, as_of, value = tonumber(ARGV[3 * i - 1]), ARGV[3 * i], ARGV[3 * i + 1]
  local ok, old = pcall(cjson.decode, redis.call('GET', key) or '')
  if ok and type(old) == 'table' and type(old.version) == 'number' and type(old.as_of) == 'string'
     and (old.version > version or (old.version == version and old.as_of >= as_of)) then
  else
    redis.call('SET', key, value, 'PX', ARGV[1])
    written = written + 1
  end
end
return written`)

// snapshot keeps Redis's copy of the counts. Nothing waits for it: a write that
// fails is repaired by the next pass.
type snapshot struct {
	client  *redis.Client
	dep     *resilience.Dependency
	metrics *metrics
	log     *slog.Logger
	queue   chan []Count
}

// movementQueue is how many movements may wait for Redis; more are left to the pass.
const movementQueue = 1024

func newSnapshot(client *redis.Client, dep *resilience.Dependency, m *metrics, log *slog.Logger) *snapshot {
	return &snapshot{client: client, dep: dep, metrics: m, log: log, queue: make(chan []Count, movementQueue)}
}

// moved takes the counts of a movement. It never blocks: a customer does not wait for a cache.
func (s *snapshot) moved(counts []Count) {
	select {
	case s.queue <- counts:
	default:
		s.metrics.snapshot.WithLabelValues("dropped").Add(float64(len(counts)))
	}
}

// follow is the worker that writes movements as they come, several at once when they pile up.
func (s *snapshot) follow(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case counts := <-s.queue:
			for len(counts) < snapshotChunk && len(s.queue) > 0 {
				counts = append(counts, <-s.queue...)
			}
			if err := s.write(ctx, counts); err != nil {
				s.log.DebugContext(ctx, "snapshot", "error", err) // counted by the dependency; the pass repairs
			}
		}
	}
}

// write brings Redis up to date with counts, in chunks; the first error ends it.
func (s *snapshot) write(ctx context.Context, counts []Count) error {
	for len(counts) > 0 {
		n := min(len(counts), snapshotChunk)
		written, err := s.writeChunk(ctx, counts[:n])
		if err != nil {
			s.metrics.snapshot.WithLabelValues("failed").Add(float64(len(counts)))
			return err
		}
		s.metrics.snapshot.WithLabelValues("written").Add(float64(written))
		s.metrics.snapshot.WithLabelValues("kept").Add(float64(n - written))
		counts = counts[n:]
	}
	return nil
}

func (s *snapshot) writeChunk(ctx context.Context, counts []Count) (written int, err error) {
	keys := make([]string, 0, len(counts))
	args := make([]any, 0, 1+3*len(counts))
	args = append(args, snapshotTTL.Milliseconds())
	for _, c := range counts {
		e := entry{Available: c.Available, AsOf: c.AsOf.UTC().Format(asOfLayout), Version: c.Version}
		value, err := json.Marshal(e)
		if err != nil {
			return 0, err
		}
		keys = append(keys, snapshotPrefix+strconv.Itoa(int(c.SKU)))
		args = append(args, e.Version, e.AsOf, value)
	}
	return resilience.Call(ctx, s.dep, func(ctx context.Context) (int, error) {
		return writeNewer.Run(ctx, s.client, keys, args...).Int()
	})
}

// pass writes every count, so that the snapshot is whole and fresh whatever was missed.
func (s *snapshot) pass(ctx context.Context, from *store) error {
	counts, err := from.Counts(ctx)
	if err != nil {
		return err
	}
	return s.write(ctx, counts)
}
