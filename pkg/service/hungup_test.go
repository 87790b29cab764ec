//go:build unix

package service

import (
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"watertight.example/pkg/storetest"
)

func TestAConnectionThatWasClosedIsSeenWithoutARoundTrip(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for name, farewell := range map[string]string{"silent": "", "with last words": "FATAL: terminating connection"} {
		t.Run(name, func(t *testing.T) {
			here, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer here.Close()
			there, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			if hungUp(here) {
				t.Error("an idle connection is taken for closed")
			}
			if _, err := there.Write([]byte(farewell)); err != nil {
				t.Fatal(err)
			}
			there.Close()
			for deadline := time.Now().Add(10 * time.Second); !hungUp(here); { // a poll: the network's time
				if time.Now().After(deadline) {
					t.Fatal("the end is not seen")
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
	if a, _ := net.Pipe(); hungUp(a) {
		t.Error("a connection without a descriptor is taken for closed")
	}
}

// pgx reads in the background after a slow write, and its goroutine then waits for the next answer. Nobody may have to wait for it: an
// Acquire that did would hang for ever, whatever its context says.
func TestAConnectionThatIsBeingReadIsLookedAtToo(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	here, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	raw, err := here.(syscall.Conn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	reading, enough := make(chan struct{}), make(chan struct{})
	go raw.Read(func(uintptr) (done bool) { close(reading); <-enough; return true })
	<-reading
	looked := make(chan bool, 1)
	go func() { looked <- hungUp(here) }()
	select {
	case gone := <-looked:
		if gone {
			t.Error("an idle connection is taken for closed")
		}
	case <-time.After(10 * time.Second):
		t.Error("the look waits for the reader")
	}
	close(enough)
}

// After its database was away, a pool's first query works: dead connections are not handed out, and new ones were opened before.
func TestAPoolIsWholeAgainBeforeAnybodyAsks(t *testing.T) {
	url := storetest.Postgres(t)
	cfg, err := PostgresOptions{MinConns: 3, Prepare: []string{"SELECT 1"}}.poolConfig("test", Secret(url))
	if err != nil {
		t.Fatal(err)
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if err := warm(t.Context(), pool, 3); err != nil {
		t.Fatal(err)
	}
	admin, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(t.Context())
	var ended int
	err = admin.QueryRow(t.Context(), `SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity
		WHERE pid <> pg_backend_pid() AND datname = current_database()`).Scan(&ended)
	if err != nil || ended < 3 {
		t.Fatalf("%d connections ended, %v", ended, err)
	}
	tend(t.Context(), pool)
	for deadline := time.Now().Add(20 * time.Second); pool.Stat().IdleConns() < 3; { // a poll of the pool's own worker
		if time.Now().After(deadline) {
			t.Fatalf("only %d connections", pool.Stat().IdleConns())
		}
		time.Sleep(10 * time.Millisecond)
	}
	opened := pool.Stat().NewConnsCount()
	if _, err := pool.Exec(t.Context(), "SELECT 1"); err != nil {
		t.Error(err)
	}
	if n := pool.Stat().NewConnsCount() - opened; n != 0 {
		t.Errorf("%d connections were opened for it", n)
	}
}
