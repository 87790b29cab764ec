// Package servicetest runs a real service inside a test: the same run that main calls, on free ports, stopped by the same drain.
package servicetest

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// Run is the signature of every service's run.
type Run func(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error

// Instance is a running service.
type Instance struct {
	URL         string // of the public listener
	InternalURL string // of the internal one

	signal context.CancelFunc
	ended  chan struct{}
	err    error // of run, once ended is closed
	log    logBuffer
}

// patience is how long the helpers wait for something that takes milliseconds on a healthy machine.
const patience = 30 * time.Second

// Start runs a service with the given environment and returns when its ports are open; it need not be ready yet. Unless env
// says otherwise it listens on free ports of 127.0.0.1 and drains without delay. It is stopped when the test ends, and its log
// is shown if the test failed.
func Start(t testing.TB, run Run, env map[string]string) *Instance {
	t.Helper()
	defaults := map[string]string{"PUBLIC_ADDR": "127.0.0.1:0", "INTERNAL_ADDR": "127.0.0.1:0", "DRAIN_DELAY": "0s"}
	getenv := func(key string) string {
		if v, ok := env[key]; ok {
			return v
		}
		return defaults[key]
	}
	ctx, signal := context.WithCancel(context.Background())
	in := &Instance{signal: signal, ended: make(chan struct{})}
	in.log.listening = make(chan addresses, 1)
	go func() {
		defer close(in.ended)
		in.err = run(ctx, []string{"service"}, getenv, &in.log)
	}()
	t.Cleanup(func() {
		if err := in.Stop(); err != nil {
			t.Errorf("service ended with: %v", err)
		}
		if t.Failed() {
			t.Logf("log of the service:\n%s", in.Log())
		}
	})
	select {
	case a := <-in.log.listening:
		in.URL, in.InternalURL = "http://"+a.Public, "http://"+a.Internal
	case <-in.ended:
		t.Fatalf("service did not start: %v", in.err)
	case <-time.After(patience):
		t.Fatal("service opens no port")
	}
	return in
}

// WaitReady returns when /readyz says 200.
func (in *Instance) WaitReady(t testing.TB) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // leaves no goroutine behind
	var body []byte
	for limit := time.Now().Add(patience); time.Now().Before(limit); time.Sleep(10 * time.Millisecond) {
		resp, err := client.Get(in.URL + "/readyz")
		if err != nil {
			t.Fatalf("readyz: %v", err)
		}
		body, _ = io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			return
		}
	}
	t.Fatalf("service does not become ready: %s", body)
}

// Signal asks the service to stop, as SIGTERM does, and returns at once.
func (in *Instance) Signal() { in.signal() }

// Stop asks the service to stop, waits until run has returned, and returns its error. More calls return the same.
func (in *Instance) Stop() error {
	in.signal()
	<-in.ended
	return in.err
}

// Log returns what the service has written so far.
func (in *Instance) Log() string { return in.log.String() }

type addresses struct{ Msg, Public, Internal string }

// logBuffer collects the log and finds the line that tells the ports.
type logBuffer struct {
	mu        sync.Mutex
	text      strings.Builder
	listening chan addresses
}

// Write implements io.Writer; slog hands over one whole line at a time.
func (b *logBuffer) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var a addresses
	if json.Unmarshal(line, &a) == nil && a.Msg == "listening" {
		b.listening <- a
	}
	return b.text.Write(line)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
