//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2/client"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/moby/moby/client"
	"github.com/redis/go-redis/v9"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/modules/compose"
)

const (
	composeFile = "../deploy/docker-compose.yml"
	// project is a fixed name, so that the next run finds and removes what a killed one left behind.
	project = "watertight-e2e"
	network = project + "_default"

	startLimit = 3 * time.Minute  // from nothing to everything ready, on a busy two-core machine
	readyLimit = 90 * time.Second // for one service to be ready again
)

// Stack is the whole shop as it runs in containers, published on random ports of 127.0.0.1 that stay the same when a
// container is restarted. Its methods are safe for concurrent use.
type Stack struct {
	compose *compose.DockerCompose
	docker  client.APIClient
	ports   ports
	redis   *redis.Client
	lock    *os.File // held as long as the process lives

	mu    sync.Mutex
	pools map[string]*pgxpool.Pool
}

// shared is the one stack of this test binary.
var shared struct {
	once sync.Once
	s    *Stack
	err  error

	replays int // by fairly; tests that use it do not run side by side
}

// stack returns the running shop, whole: every service ready, no fault set. The first call starts it, which takes
// half a minute; TestMain ends it. When the test fails, the containers' logs are kept.
func stack(t testing.TB) *Stack {
	t.Helper()
	shared.once.Do(func() { shared.s, shared.err = start() })
	if shared.err != nil {
		t.Fatalf("the stack does not start: %v", shared.err)
	}
	s := shared.s
	s.heal(t)
	eventually(t, "toxiproxy ends all faults", func() bool { return s.Toxiproxy().ResetState() == nil }) // heal may have just started it
	for _, service := range shopServices {
		s.WaitReady(t, service)
	}
	t.Cleanup(func() {
		if t.Failed() {
			s.keepLogs(t.Name())
		}
	})
	return s
}

func start() (_ *Stack, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	s := &Stack{pools: map[string]*pgxpool.Pool{}}
	if s.lock, err = alone(); err != nil {
		return nil, err
	}
	if err := os.RemoveAll(artifacts); err != nil { // the last run's
		return nil, err
	}
	if s.ports, err = choosePorts(); err != nil {
		return nil, err
	}
	if err := writeOverride(s.ports); err != nil {
		return nil, err
	}
	s.compose, err = compose.NewDockerComposeWith(compose.StackIdentifier(project), compose.WithStackFiles(composeFile, overrideFile))
	if err != nil {
		return nil, err
	}
	s.docker, err = testcontainers.NewDockerClientWithOpts(ctx)
	if err != nil {
		return nil, err
	}
	s.redis = redis.NewClient(&redis.Options{Addr: s.ports.addr("redis", 6379)})
	if err := s.down(ctx); err != nil { // what an earlier, killed run left behind
		return nil, err
	}
	if err := s.compose.Up(ctx, compose.RunServices(allServices()...)); err != nil {
		s.keepLogs("start")
		return s, errors.Join(err, s.stop())
	}
	for _, service := range shopServices {
		if err := s.waitReady(ctx, service); err != nil {
			s.keepLogs("start")
			return s, errors.Join(err, s.stop())
		}
	}
	return s, nil
}

// alone makes sure that no other run on this machine uses the same project, which start would remove under its feet. The
// kernel gives the lock back however this process ends.
func alone() (*os.File, error) {
	lock, err := os.OpenFile(filepath.Join(os.TempDir(), project+".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("another end-to-end run is going on (%s): %w", lock.Name(), err), lock.Close())
	}
	return lock, nil
}

// stop removes everything start made: containers, volumes, network.
func (s *Stack) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, pool := range s.pools {
		pool.Close()
	}
	return errors.Join(s.redis.Close(), s.down(ctx), s.compose.Close(), s.docker.Close(), s.lock.Close())
}

func (s *Stack) down(ctx context.Context) error {
	// Nobody waits for a drain here: the data goes with the volumes.
	if err := s.killAll(ctx); err != nil {
		return err
	}
	return s.compose.Down(ctx, compose.RemoveOrphans(true), compose.RemoveVolumes(true))
}

// URL is the base URL of a service's public listener.
func (s *Stack) URL(service string) string { return "http://" + s.ports.addr(service, public) }

// Internal is the base URL of a service's internal listener: /metrics, /resilience, /debug/pprof.
func (s *Stack) Internal(service string) string { return "http://" + s.ports.addr(service, internal) }

// Prometheus is the base URL of the stack's Prometheus.
func (s *Stack) Prometheus() string { return "http://" + s.ports.addr("prometheus", 9090) }

// Redis is a client of the stack's Redis that goes around Toxiproxy.
func (s *Stack) Redis() *redis.Client { return s.redis }

// Toxiproxy is a client of the proxy on every edge that can be broken; stack(t) removes all toxics for the next test.
func (s *Stack) Toxiproxy() *toxiproxy.Client {
	return toxiproxy.NewClient(s.ports.addr("toxiproxy", 8474))
}

// SQL is a pool of connections to a database, as the auditor, who may read everything and change nothing:
// catalogue, pricing, orders, recommendations, inventory, or inventory-replica. It goes around Toxiproxy.
func (s *Stack) SQL(database string) *pgxpool.Pool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if pool := s.pools[database]; pool != nil {
		return pool
	}
	server, ok := servers[database]
	if !ok {
		panic(fmt.Sprintf("e2e: there is no database %q", database))
	}
	config, err := pgxpool.ParseConfig(fmt.Sprintf("postgres://auditor:auditor-demo@%s/%s?sslmode=disable",
		s.ports.addr(server, 5432), strings.TrimSuffix(database, "-replica")))
	if err != nil {
		panic(err)
	}
	config.MaxConns = 4
	pool, err := pgxpool.NewWithConfig(context.Background(), config) // lazy: no connection is made yet
	if err != nil {
		panic(err)
	}
	s.pools[database] = pool
	return pool
}
