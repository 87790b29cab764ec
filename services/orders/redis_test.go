package main

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

func redisClient(t *testing.T, url string) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	t.Cleanup(func() { client.Close() })
	return client
}

func flush(t *testing.T, url string) {
	t.Helper()
	if err := redisClient(t, url).FlushDB(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
}

func TestRedisOnlyShortensReplays(t *testing.T) {
	s := open(t)
	body := s.pricing.body(Item{42, 1})
	first := s.order("x", body).is(t, 201, "")
	client := redisClient(t, s.redis)
	keys, err := client.Keys(t.Context(), "idempotency:*").Result()
	if err != nil || len(keys) != 1 {
		t.Fatalf("keys in Redis: %v, %v, want one", keys, err)
	}
	if strings.Contains(keys[0], "alice") || strings.Contains(keys[0], keyText("x")) {
		t.Errorf("%q tells who ordered what", keys[0])
	}
	sameBytes(t, first, s.order("x", body))
	for name, break_ := range map[string]func() error{
		"flushed": func() error { return client.FlushDB(t.Context()).Err() },
		"garbage": func() error { return client.Set(t.Context(), keys[0], "{", 0).Err() },
		"another type": func() error {
			return client.Eval(t.Context(), `redis.call('DEL', KEYS[1]); return redis.call('LPUSH', KEYS[1], 'x')`, keys[:1]).Err()
		},
	} {
		if err := break_(); err != nil {
			t.Fatal(err)
		}
		again := s.order("x", body)
		if sameBytes(t, first, again); again.header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("%s: not marked as a replay", name)
		}
		s.order("x", s.pricing.body(Item{42, 2})).is(t, 422, "idempotency-key-reused")
	}
	s.wantOrders(1)
}

func TestWithoutRedisEverythingWorks(t *testing.T) {
	s := open(t, "REDIS_URL=redis://127.0.0.1:1/0")
	body := s.pricing.body(Item{42, 1})
	first := s.order("x", body).is(t, 201, "")
	sameBytes(t, first, s.order("x", body))
	s.order("x", s.pricing.body(Item{42, 2})).is(t, 422, "idempotency-key-reused")
	s.wantOrders(1)
}
