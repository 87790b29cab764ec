package service

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func TestProblemOnTheWire(t *testing.T) {
	cause := errors.New("dial tcp 10.0.0.7: refused")
	p := NewProblem(422, "insufficient-stock", "Only 1 left.").WithExtra("short", []int{42}).WithExtra("status", 200).
		WithRetryAfter(1500 * time.Millisecond).Wrap(cause)
	w := httptest.NewRecorder()
	w.Header().Set("Content-Encoding", "gzip")
	WriteProblem(w, httptest.NewRequest("GET", "/", nil), p)
	m := wantProblem(t, w, 422, "insufficient-stock")
	if m["title"] != "Insufficient stock" || m["detail"] != "Only 1 left." || m["status"] != 422.0 || m["short"] == nil {
		t.Errorf("members: %v", m)
	}
	if w.Header().Get("Retry-After") != "2" || w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Content-Encoding") != "" {
		t.Errorf("headers: %v", w.Header())
	}
	if !errors.Is(p, cause) || p.Error() != "Insufficient stock: Only 1 left.: dial tcp 10.0.0.7: refused" {
		t.Errorf("error: %v", p)
	}
}

func TestProblemThatIsNoJSONStillAnswers(t *testing.T) {
	w := httptest.NewRecorder()
	WriteProblem(w, httptest.NewRequest("GET", "/", nil), NewProblem(422, "odd", "").WithExtra("f", io.EOF).WithExtra("g", func() {}))
	wantProblem(t, w, 422, "internal")
}

func TestOneProblemForManyClients(t *testing.T) {
	s, _ := newTestService(t, Program{})
	shared := NewProblem(503, "closed", "").WithExtra("until", "noon")
	s.Router.Get("/", Handle(func(http.ResponseWriter, *http.Request) error { return shared }))
	done := make(chan struct{})
	for range 4 { // -race tells if they write into the shared one
		go func() {
			defer func() { done <- struct{}{} }()
			for range 100 {
				s.ask("GET", "/")
			}
		}()
	}
	for range 4 {
		<-done
	}
	if len(shared.Extra) != 1 {
		t.Errorf("changed: %v", shared.Extra)
	}
}
