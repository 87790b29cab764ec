package service

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"watertight.example/pkg/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// testConfig is the smallest Config.
type testConfig struct{ Base }

func (*testConfig) Validate() error { return nil }

// testLog collects log lines; safe for concurrent use.
type testLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *testLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *testLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// count tells how many lines have this message.
func (l *testLog) count(msg string) int { return len(l.lines(msg)) }

// lines returns the log entries with this message.
func (l *testLog) lines(msg string) (found []map[string]any) {
	for line := range strings.Lines(l.String()) {
		var entry map[string]any
		if json.Unmarshal([]byte(line), &entry) == nil && entry["msg"] == msg {
			found = append(found, entry)
		}
	}
	return found
}

// newTestService makes a started service without listeners, for requests through its handler.
func newTestService(t *testing.T, p Program) (*Service, *testLog) {
	t.Helper()
	s, log := newStartingService(t, p)
	s.health.started.Store(true)
	return s, log
}

// newStartingService makes one whose start-up tasks have not run.
func newStartingService(t *testing.T, p Program) (*Service, *testLog) {
	t.Helper()
	if p.Name == "" {
		p.Name = "test"
	}
	cfg := &testConfig{}
	if err := Load(cfg, func(string) string { return "" }); err != nil {
		t.Fatal(err)
	}
	p.Config = cfg
	log := &testLog{}
	return newService(p, newLogger(log, p.Name, slog.LevelDebug)), log
}

// ask sends a request through the public handler. headers are pairs.
func (s *Service) ask(method, target string, headers ...string) *httptest.ResponseRecorder {
	return s.send(httptest.NewRequest(method, target, nil), headers...)
}

func (s *Service) send(r *http.Request, headers ...string) *httptest.ResponseRecorder {
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.root.ServeHTTP(w, r)
	return w
}

// scrape returns the metrics as Prometheus would read them.
func (s *Service) scrape() string {
	w := httptest.NewRecorder()
	promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

// wantProblem checks an answer's status and problem type, and returns its members.
func wantProblem(t *testing.T, w *httptest.ResponseRecorder, status int, name string) map[string]any {
	t.Helper()
	var members map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &members); err != nil {
		t.Fatalf("status %d, no JSON: %q", w.Code, w.Body)
	}
	if w.Code != status || members["type"] != "/problems/"+name || w.Header().Get("Content-Type") != "application/problem+json" {
		t.Fatalf("got %d %s %s, want %d %s", w.Code, members["type"], w.Header().Get("Content-Type"), status, name)
	}
	return members
}

// wantLine checks that text has a line that begins with prefix.
func wantLine(t *testing.T, text, prefix string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, prefix) {
			return
		}
	}
	t.Errorf("no line %q in\n%s", prefix, grep(text, prefix[:min(len(prefix), 20)]))
}

func grep(text, part string) string {
	var found strings.Builder
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			found.WriteString(line)
		}
	}
	return found.String()
}

// pipeListener is a listener whose connections are net.Pipes, so that servers can live in a synctest bubble.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// client returns one whose connections end at this listener.
func (l *pipeListener) client() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: l.dial}}
}

// get reads http://test<path> whole.
func get(t *testing.T, c *http.Client, path string) (*http.Response, string) {
	t.Helper()
	resp, err := c.Get("http://test" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}
