package main

import (
	"bufio"
	"context"
	"io"
	"maps"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"watertight.example/pkg/service/servicetest"
	"watertight.example/pkg/storetest"
)

// neighbours builds the other services and returns what runs them: processes of their own, as everywhere. Nothing of them is imported.
func neighbours(t *testing.T) map[string]servicetest.Run {
	t.Helper()
	dir, programs := t.TempDir(), map[string]servicetest.Run{}
	for _, name := range []string{"pricing", "inventory", "orders", "recommendations"} {
		binary := filepath.Join(dir, name)
		build := exec.Command("go", "build", "-o", binary, ".")
		build.Dir = filepath.Join("..", name)
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", name, err, out)
		}
		programs[name] = process(binary)
	}
	return programs
}

func process(binary string) servicetest.Run {
	return func(ctx context.Context, _ []string, getenv func(string) string, stdout io.Writer) error {
		cmd := exec.CommandContext(ctx, binary)
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		cmd.Env = os.Environ()
		for _, key := range []string{"PUBLIC_ADDR", "INTERNAL_ADDR", "DRAIN_DELAY", "DATABASE_URL", "REPLICA_URL", "REDIS_URL",
			"INVENTORY_URL", "PRICING_URL", "RECOMMENDATIONS_URL", "OTEL_EXPORTER_OTLP_ENDPOINT", "RESILIENCE_WITHOUT"} {
			if v := getenv(key); v != "" {
				cmd.Env = append(cmd.Env, key+"="+v)
			}
		}
		log, err := cmd.StdoutPipe()
		if err != nil {
			return err
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		for lines := bufio.NewScanner(log); lines.Scan(); {
			_, _ = stdout.Write(append(slices.Clone(lines.Bytes()), '\n'))
		}
		if err := cmd.Wait(); ctx.Err() == nil {
			return err
		}
		return nil
	}
}

// whole is the shop with nothing faked: each service a process, with a Postgres of its own.
type whole struct {
	*running
	inventory string // its address
	replica   *relay // the way to what inventory takes for its replica
}

// startWhole starts all of it. env is everybody's.
func startWhole(t *testing.T, programs map[string]servicetest.Run, c contract, env map[string]string) whole {
	t.Helper()
	launch := func(name string, own map[string]string) string {
		maps.Copy(own, env)
		in := servicetest.Start(t, programs[name], own)
		in.WaitReady(t)
		return in.URL
	}
	redis, stock := storetest.Redis(t), storetest.Postgres(t)
	address, err := url.Parse(stock)
	if err != nil {
		t.Fatal(err)
	}
	w := whole{replica: newRelay(t, address.Host)}
	address.Host = w.replica.addr
	pricing := launch("pricing", map[string]string{"DATABASE_URL": storetest.Postgres(t)})
	recommendations := launch("recommendations", map[string]string{"DATABASE_URL": storetest.Postgres(t)})
	w.inventory = launch("inventory", map[string]string{"DATABASE_URL": stock, "REPLICA_URL": address.String(), "REDIS_URL": redis})
	orders := launch("orders", map[string]string{"DATABASE_URL": storetest.Postgres(t), "REDIS_URL": redis,
		"INVENTORY_URL": w.inventory, "PRICING_URL": pricing, "RECOMMENDATIONS_URL": recommendations})
	own := map[string]string{"REDIS_URL": redis, "INVENTORY_URL": w.inventory, "PRICING_URL": pricing, "ORDERS_URL": orders, "RECOMMENDATIONS_URL": recommendations}
	maps.Copy(own, env)
	w.running = startWith(t, c, own)
	return w
}

// relay is a way to a store that can be made to hang, and to go on as if nothing had been.
type relay struct {
	addr string
	flow sync.RWMutex // held for writing while it hangs
}

func newRelay(t *testing.T, to string) *relay {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{addr: listener.Addr().String()}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", to)
			if err != nil {
				client.Close()
				continue
			}
			all.Go(func() { r.copy(server, client) })
			all.Go(func() { r.copy(client, server) })
		}
	})
	t.Cleanup(func() { listener.Close(); all.Wait() }) // the services, which are stopped first, hang up
	return r
}

// hang stops everything for a while, and closes the channel when it flows again.
func (r *relay) hang(d time.Duration) (flows chan struct{}) {
	flows = make(chan struct{})
	r.flow.Lock()
	time.AfterFunc(d, func() {
		r.flow.Unlock()
		close(flows)
	})
	return flows
}

func (r *relay) copy(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		r.flow.RLock()
		_, err = to.Write(buf[:n])
		r.flow.RUnlock()
		if err != nil {
			return
		}
	}
}
