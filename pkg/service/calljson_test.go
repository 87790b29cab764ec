package service

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"watertight.example/pkg/resilience"
)

// callUpstream sends one request to an upstream that answers with h.
func callUpstream(t *testing.T, out any, h http.HandlerFunc) error {
	t.Helper()
	upstream := httptest.NewServer(h)
	defer upstream.Close()
	req, err := http.NewRequestWithContext(t.Context(), "GET", upstream.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	return CallJSON(upstream.Client(), req, out)
}

func answer(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

func TestCallJSON(t *testing.T) {
	const contentType = "application/json"
	for _, c := range []struct {
		name string
		h    http.HandlerFunc
		bad  bool
	}{
		{"fine", answer(200, contentType, `{"sku":7,"quantity":3}`), false},
		{"newer upstream", answer(201, contentType, `{"sku":7,"quantity":3,"color":"red"}`), false},
		{"html with 200", answer(200, "text/html", `<h1>hello</h1>`), true},
		{"garbage", answer(200, contentType, `{"sku":`), true},
		{"empty", answer(200, contentType, ``), true},
		{"null", answer(200, contentType, ` null`), true},
		{"wrong type", answer(200, contentType, `{"sku":"7"}`), true},
		{"two values", answer(200, contentType, `{}{}`), true},
		{"endless", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			io.WriteString(w, `{"sku":7,"quantity":3}`) // what fits into the limit would pass for the whole
			for chunk := []byte(strings.Repeat(" ", 1<<16)); ; {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var line testLine
			err := callUpstream(t, &line, c.h)
			switch {
			case c.bad != errors.Is(err, ErrBadAnswer):
				t.Errorf("got %v", err)
			case !c.bad && line != testLine{7, 3}:
				t.Errorf("decoded %+v", line)
			}
		})
	}
}

func TestCallJSONReportsStatusAndBrokenBodies(t *testing.T) {
	var status *resilience.StatusError
	err := callUpstream(t, nil, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "2")
		w.WriteHeader(503)
	})
	if !errors.As(err, &status) || status.Status != 503 || status.RetryAfter != 2*time.Second {
		t.Errorf("got %v", err)
	}
	err = callUpstream(t, &testLine{}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, `{"sku":`)
	})
	if !errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, ErrBadAnswer) {
		t.Errorf("a cut connection: %v", err)
	}
}

func TestCallJSONKeepsTheConnection(t *testing.T) {
	connections := map[string]bool{}
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connections[r.RemoteAddr] = true
		answer(200, "application/json", `{"sku":1}`+strings.Repeat(" ", 100000))(w, r)
	}))
	defer upstream.Close()
	for range 5 {
		for _, out := range []any{&testLine{}, nil} {
			req, _ := http.NewRequestWithContext(t.Context(), "GET", upstream.URL, nil)
			if err := CallJSON(upstream.Client(), req, out); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(connections) != 1 {
		t.Errorf("%d connections for 10 calls", len(connections))
	}
}
