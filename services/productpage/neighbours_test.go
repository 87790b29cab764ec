package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"watertight.example/pkg/service/servicetest"
)

// neighbour builds another service and returns what runs it: a process of its own, as everywhere. Nothing of it is imported.
func neighbour(t *testing.T, name string) servicetest.Run {
	t.Helper()
	binary := filepath.Join(t.TempDir(), name)
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Dir = filepath.Join("..", name)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", name, err, out)
	}
	return func(ctx context.Context, _ []string, getenv func(string) string, stdout io.Writer) error {
		cmd := exec.CommandContext(ctx, binary)
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		cmd.Env = os.Environ()
		for _, key := range []string{"PUBLIC_ADDR", "INTERNAL_ADDR", "DRAIN_DELAY", "DATABASE_URL", "REPLICA_URL", "REDIS_URL",
			"INVENTORY_URL", "PRICING_URL", "RECOMMENDATIONS_URL", "OTEL_EXPORTER_OTLP_ENDPOINT"} {
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
