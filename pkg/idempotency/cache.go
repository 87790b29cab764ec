package idempotency

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"time"
)

// Cache is a short cut for replays, Redis for example. It only ever holds copies of final answers, which never change, so
// losing, flushing or stopping it changes latency and no result. Implementations are safe for concurrent use, honour
// their context, and should keep a breaker, so that a sick cache costs nothing for long.
type Cache interface {
	Get(ctx context.Context, key string) ([]byte, error) // any error is a miss
	Set(ctx context.Context, key string, value []byte, ttl time.Duration) error
}

type cachedAnswer struct {
	Fingerprint []byte              `json:"fingerprint"`
	Status      int                 `json:"status"`
	Header      map[string][]string `json:"header"`
	Body        []byte              `json:"body"`
}

// recall asks the cache. Only an answer to the very same request counts: everything else, another fingerprint included,
// is for Postgres to decide.
func (s *Store) recall(ctx context.Context, req Request) *Answer {
	if s.cfg.Cache == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CacheTimeout)
	defer cancel()
	raw, err := s.cfg.Cache.Get(ctx, cacheKey(req.Scope, req.Key))
	if err != nil {
		return nil
	}
	var hit cachedAnswer
	if json.Unmarshal(raw, &hit) != nil || !bytes.Equal(hit.Fingerprint, req.Fingerprint[:]) || hit.Status < 200 || hit.Status > 599 {
		return nil
	}
	return &Answer{Status: hit.Status, Header: hit.Header, Body: hit.Body, Replayed: true}
}

// remember is best effort: the answer is already safe in Postgres.
func (s *Store) remember(ctx context.Context, scope, key string, fingerprint Fingerprint, a Answer) {
	if s.cfg.Cache == nil {
		return
	}
	raw, err := json.Marshal(cachedAnswer{Fingerprint: fingerprint[:], Status: a.Status, Header: a.Header, Body: a.Body})
	if err != nil {
		return
	}
	ctx, cancel := Detach(ctx, s.cfg.CacheTimeout)
	defer cancel()
	_ = s.cfg.Cache.Set(ctx, cacheKey(scope, key), raw, s.cfg.CacheTTL)
}

// cacheKey has a fixed size and no customer data in it.
func cacheKey(scope, key string) string {
	sum := sha256.Sum256(append(binary.BigEndian.AppendUint64(nil, uint64(len(scope))), scope+key...))
	return "idempotency:" + hex.EncodeToString(sum[:])
}
