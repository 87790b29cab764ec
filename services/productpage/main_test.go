package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"watertight.example/pkg/service"
	"watertight.example/pkg/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// running is the whole service, started as main does it, on a real Postgres and Redis and in front of a fake shop.
type running struct {
	t        testing.TB
	url      string // of the public listener
	internal string // of the other one
	database string
	redis    string
	*fakeShop
}

// slowMotion is the contract with eight times the time for everything, so that what a test sees does not depend on how busy the
// machine is: a healthy answer would have to take 640 ms to be missed, and a wrong one is found out by its content.
func slowMotion() contract {
	const factor = 8
	c := ourContract()
	for _, d := range []*time.Duration{&c.page, &c.render, &c.look, &c.checkout} {
		*d *= factor
	}
	for _, p := range []*part{&c.catalogue, &c.price, &c.stock, &c.recommendations} {
		p.Total, p.Attempt = p.Total*factor, p.Attempt*factor
	}
	return c
}

// start runs the service in slow motion until the test ends. env adds to the environment or replaces parts of it.
func start(t testing.TB, env map[string]string) *running {
	t.Helper()
	return startWith(t, slowMotion(), env)
}

func startWith(t testing.TB, c contract, env map[string]string) *running {
	t.Helper()
	return launch(t, c, env, "ready")
}

// launch returns as soon as the service has logged the message.
func launch(t testing.TB, c contract, env map[string]string, message string) *running {
	t.Helper()
	r := &running{t: t, fakeShop: newFakeShop(t), database: storetest.Postgres(t), redis: storetest.Redis(t)}
	environment := map[string]string{
		"PUBLIC_ADDR": "127.0.0.1:0", "INTERNAL_ADDR": "127.0.0.1:0", "DATABASE_URL": r.database, "REDIS_URL": r.redis,
		"RECOMMENDATIONS_URL": r.recommendations.URL, "INVENTORY_URL": r.inventory.URL, "PRICING_URL": r.pricing.URL, "ORDERS_URL": r.orders.URL,
		"DRAIN_DELAY": "1ms", "SHUTDOWN_TIMEOUT": "5s", "COOKIE_SECRET": strings.Repeat("s", minCookieSecret),
	}
	for k, v := range env {
		environment[k] = v
	}
	ctx, cancel := context.WithCancel(context.Background())
	log, logged := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		var cfg Config
		err := service.Run(ctx, []string{"productpage"}, func(k string) string { return environment[k] }, logged, service.Program{
			Name: "productpage", Config: &cfg, Edge: true, Build: func(s *service.Service) error { return build(s, &cfg, c) }})
		logged.Close()
		ended <- err
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("run: %v", err)
		}
	})
	r.await(message, log, ended)
	return r
}

// await reads the log until the message comes, and then goes on reading it so that nobody blocks.
func (r *running) await(message string, log io.Reader, ended chan error) {
	r.t.Helper()
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	var seen []string
	for lines.Scan() {
		var line struct{ Msg, Public, Internal string }
		_ = json.Unmarshal(lines.Bytes(), &line)
		seen = append(seen, lines.Text())
		if line.Msg == "listening" {
			r.url, r.internal = "http://"+line.Public, "http://"+line.Internal
		}
		if line.Msg == message {
			go func() { _, _ = io.Copy(io.Discard, log) }()
			return
		}
	}
	err := <-ended
	ended <- err // the cleanup wants it, too
	r.t.Fatalf("ended: %v\n%s", err, strings.Join(seen, "\n"))
}
