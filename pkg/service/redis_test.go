package service

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"watertight.example/pkg/storetest"
)

func TestRedisWorksAndIsMeasured(t *testing.T) {
	url := storetest.Redis(t)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	s, _ := newTestService(t, Program{})
	client, err := s.Redis("cache", Secret(url), RedisOptions{Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	wantLine(t, s.scrape(), `redis_pool_timeouts_total{db="cache",service="test"} 0`)
	wantLine(t, s.scrape(), `redis_pool_total_conns{db="cache",service="test"} `)
	if err := s.runStops(); err != nil {
		t.Error(err)
	}
	if err := client.Ping(t.Context()).Err(); err == nil {
		t.Error("still open after the stop")
	}
}

// A frozen Redis accepts and never answers. go-redis as it comes waits 5 s for it, whatever the context says.
func TestFrozenRedisCannotHoldACaller(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s, _ := newTestService(t, Program{})
	client, err := s.Redis("cache", Secret("redis://"+l.Addr().String()), RedisOptions{Timeout: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer s.runStops()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- client.Get(ctx, "k").Err() }()
	select {
	case err := <-done:
		if err == nil {
			t.Error("an answer from nowhere")
		}
	case <-time.After(30 * time.Second): // far below the hour of Timeout, far above the machine's hiccups
		t.Error("the context's deadline is ignored")
	}
}

func TestRedisThatIsAwayIsAskedOnce(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close() // refused from now on
	s, _ := newTestService(t, Program{})
	client, err := s.Redis("cache", Secret("redis://"+l.Addr().String()), RedisOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.runStops()
	options := client.Options()
	if options.MaxRetries != 0 || options.DialerRetries != 1 || !options.ContextTimeoutEnabled || options.PoolTimeout != 50*time.Millisecond {
		t.Errorf("options %+v", options) // go-redis turns -1 retries into 0
	}
	var refused *net.OpError
	if err := client.Get(t.Context(), "k").Err(); !errors.As(err, &refused) {
		t.Errorf("got %v", err)
	}
}

func TestRedisURLErrorHidesThePassword(t *testing.T) {
	s, _ := newTestService(t, Program{})
	_, err := s.Redis("cache", "redis://u:hunter2@cache:6379/x y", RedisOptions{})
	if err == nil || strings.Contains(fmt.Sprint(err), "hunter2") {
		t.Errorf("got %v", err)
	}
}
