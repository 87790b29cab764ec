package resilience

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// roundTripper is a transport without a network, for tests in virtual time.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
func (roundTripper) CloseIdleConnections()                               {}

func withTransport(d *Dependency, f roundTripper) *Dependency {
	d.client.Transport.(*decorator).next = f
	return d
}

func get(d *Dependency, url string) body {
	return func(ctx context.Context) (int, error) { return send(ctx, d, http.MethodGet, url, "", "") }
}

func send(ctx context.Context, d *Dependency, method, url, key, content string) (int, error) {
	var r io.Reader
	if content != "" {
		r = strings.NewReader(content)
	}
	req, err := http.NewRequestWithContext(ctx, method, url, r)
	if err != nil {
		return 0, err
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	resp, err := d.HTTPClient().Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if err := CheckResponse(resp); err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

func answer(status int) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(""))}
}

func TestEachAttemptCarriesItsDeadlineNumberAndSpan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []http.Header
		d := withTransport(mustNew(t, retryTwice(), nil), func(r *http.Request) (*http.Response, error) {
			seen = append(seen, r.Header.Clone())
			<-r.Context().Done() // every attempt hangs
			return nil, r.Context().Err()
		})
		trace := NewTrace()
		ctx, cancel := context.WithTimeout(ContextWithTrace(t.Context(), trace), 1200*time.Millisecond)
		defer cancel()
		Call(ctx, d, get(d, "http://upstream/"))

		if len(seen) != 3 {
			t.Fatalf("%d attempts, want 3", len(seen))
		}
		spans := map[[8]byte]bool{trace.Span: true}
		for i, h := range seen {
			if got := h.Get(HeaderAttempt); got != fmt.Sprint(i+1) {
				t.Errorf("attempt %d says it is %s", i+1, got)
			}
			tr, err := ParseTraceparent(h.Get(HeaderTraceparent))
			if err != nil || tr.ID != trace.ID || spans[tr.Span] {
				t.Errorf("attempt %d has traceparent %q, want a new span of %x", i+1, h.Get(HeaderTraceparent), trace.ID)
			}
			spans[tr.Span] = true
		}
		if a, b := seen[0].Get(HeaderTimeout), seen[1].Get(HeaderTimeout); a != "490" || b != "490" {
			t.Errorf("timeouts %s and %s ms, want 490: an attempt's 500 less the hop margin", a, b)
		}
		if c, err := ParseTimeout(seen[2].Get(HeaderTimeout)); err != nil || c > 170*time.Millisecond || c < 30*time.Millisecond {
			t.Errorf("the last attempt has %v, want what is left of 1.2 s", c)
		}
	})
}

func TestNoRequestIsSentWithoutTimeForItsHop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs := &recorder{}
		d := withTransport(mustNew(t, breakerOn3(), obs), func(*http.Request) (*http.Response, error) {
			t.Error("sent")
			return answer(200), nil
		})
		for range 100 {
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Millisecond)
			_, err := Call(ctx, d, get(d, "http://upstream/"))
			wantOutcome(t, err, OutcomeRejectedDeadline)
			cancel()
			time.Sleep(10 * time.Millisecond)
		}
		wantState(t, d, BreakerClosed)
	})
}

func TestStatusesReachTheBreaker(t *testing.T) {
	for status, want := range map[int]BreakerState{200: BreakerClosed, 302: BreakerClosed, 404: BreakerClosed, 422: BreakerClosed,
		408: BreakerOpen, 429: BreakerOpen, 500: BreakerOpen, 503: BreakerOpen} {
		synctest.Test(t, func(t *testing.T) {
			d := withTransport(mustNew(t, breakerOn3(), nil), func(r *http.Request) (*http.Response, error) {
				resp := answer(status)
				resp.Request = r
				return resp, nil
			})
			for range 200 {
				try(d, get(d, "http://upstream/"))
				time.Sleep(10 * time.Millisecond)
			}
			if got := d.State().Breaker; got != want {
				t.Errorf("after 200 answers of %d the breaker is %s, want %s", status, got, want)
			}
		})
	}
}

// TestRetryAfterOfAnAnswerIsObeyed: the hint is read before the body is drained, and obeyed, be it seconds or a date.
func TestRetryAfterOfAnAnswerIsObeyed(t *testing.T) {
	for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		for name, hint := range map[string]func() string{
			"seconds": func() string { return "5" },
			"a date":  func() string { return time.Now().Add(5 * time.Second).UTC().Format(http.TimeFormat) },
		} {
			synctest.Test(t, func(t *testing.T) {
				cfg := retryTwice()
				cfg.Timeout.Total = 10 * time.Second
				sent := 0
				d := withTransport(mustNew(t, cfg, nil), func(r *http.Request) (*http.Response, error) {
					resp := answer(status)
					if sent++; sent == 2 {
						return answer(http.StatusOK), nil
					}
					resp.Header.Set("Retry-After", hint())
					resp.Body = io.NopCloser(strings.NewReader("busy"))
					return resp, nil
				})
				start := time.Now()
				if err := try(d, get(d, "http://upstream/")); err != nil || sent != 2 || time.Since(start) != 5*time.Second {
					t.Errorf("%d with %s: %v after %v and %d attempts", status, name, err, time.Since(start), sent)
				}
			})
		}
	}
}

func TestUnkeyedWriteIsNotSentTwice(t *testing.T) {
	for _, c := range []struct {
		method, key string
		err         error
		want        int64
	}{
		{http.MethodPost, "", io.EOF, 1},
		{http.MethodPost, "a-key-of-the-intent", io.EOF, 3},
		{http.MethodPut, "", io.EOF, 3},
		{http.MethodPost, "", &net.OpError{Op: "dial", Err: errors.New("refused")}, 3},
	} {
		synctest.Test(t, func(t *testing.T) {
			var sent atomic.Int64
			d := withTransport(mustNew(t, retryTwice(), nil), func(*http.Request) (*http.Response, error) {
				sent.Add(1)
				return nil, c.err
			})
			try(d, func(ctx context.Context) (int, error) { return send(ctx, d, c.method, "http://upstream/", c.key, "{}") })
			if sent.Load() != c.want {
				t.Errorf("%s with key %q failing with %v: sent %d times, want %d", c.method, c.key, c.err, sent.Load(), c.want)
			}
		})
	}
}

// quick retries without needing time to pass: these tests use a real network.
func quick() Config {
	return Config{
		Timeout: Timeout{Total: 30 * time.Second, Attempt: 4 * time.Second},
		Retry:   Retry{Max: 5, Base: time.Millisecond, Cap: time.Millisecond},
	}
}

// server counts its connections.
func server(t *testing.T, h http.HandlerFunc) (url string, connections *atomic.Int64) {
	t.Helper()
	connections = new(atomic.Int64)
	s := httptest.NewUnstartedServer(h)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s.URL, connections
}

func TestRetriesReuseOneConnection(t *testing.T) {
	url, connections := server(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(503)
		io.WriteString(w, strings.Repeat("x", 2000))
	})
	d := mustNew(t, quick(), nil)
	err := try(d, get(d, url))
	if s, ok := errors.AsType[*StatusError](err); !ok || len(s.Body) != 2000 {
		t.Errorf("error is %v, want the status with its body", err)
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections for 6 attempts, want 1", n)
	}
}

func TestCloseLeavesNoConnectionBehind(t *testing.T) {
	closed := make(chan struct{})
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			close(closed)
		}
	}
	s.Start()
	defer s.Close()
	d := mustNew(t, quick(), nil)
	if err := try(d, get(d, s.URL)); err != nil {
		t.Fatal(err)
	}
	d.Close()
	select {
	case <-closed:
	case <-time.After(10 * time.Second):
		t.Error("the server still waits for the next request")
	}
}

func TestEveryAttemptSendsTheSameBytes(t *testing.T) {
	var mu sync.Mutex
	var bodies []string
	url, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		bodies = append(bodies, string(b))
		if len(bodies) < 3 {
			w.WriteHeader(503)
		}
	})
	d := mustNew(t, quick(), nil)
	err := try(d, func(ctx context.Context) (int, error) {
		return send(ctx, d, "POST", url, "a-key-of-the-intent", `{"sku":1}`)
	})
	if err != nil || fmt.Sprint(bodies) != `[{"sku":1} {"sku":1} {"sku":1}]` {
		t.Errorf("%v, bodies %q", err, bodies)
	}
}

func TestAnswerLostInItsMiddleIsAskedForAgain(t *testing.T) {
	var n atomic.Int64
	url, _ := server(t, func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1) == 1 {
			w.Header().Set("Content-Length", "100")
			w.Write([]byte("x"))
			panic(http.ErrAbortHandler)
		}
		io.WriteString(w, "whole")
	})
	d := mustNew(t, quick(), nil)
	if err := try(d, get(d, url)); err != nil || n.Load() != 2 {
		t.Errorf("%v after %d attempts", err, n.Load())
	}
}

// TestNetHTTPDoesNotRepeatRequestsByItself warms up several connections, on which the server then answers nothing but a hang-up.
func TestNetHTTPDoesNotRepeatRequestsByItself(t *testing.T) {
	for _, method := range []string{"GET", "POST"} {
		var reached, crashed atomic.Int64
		var warm sync.WaitGroup
		warm.Add(8)
		url, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/warm" {
				warm.Done()
				warm.Wait() // so that there are eight connections
				return
			}
			reached.Add(1)
			crashed.Add(1)
			panic(http.ErrAbortHandler)
		})
		cfg := quick()
		cfg.Retry.Max = 2
		cfg.Bulkhead.Max = 8
		d := mustNew(t, cfg, nil)
		var callers sync.WaitGroup
		for range 8 {
			callers.Go(func() { try(d, get(d, url+"/warm")) })
		}
		callers.Wait()
		content := ""
		if method == "POST" {
			content = "{}"
		}
		try(d, func(ctx context.Context) (int, error) {
			return send(ctx, d, method, url, "a-key-of-the-intent", content)
		})
		if reached.Load() != 3 {
			t.Errorf("%s: %d requests reached the server in three attempts", method, reached.Load())
		}
	}
}

func TestRedirectsAreAnswersNotFollowed(t *testing.T) {
	url, _ := server(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) })
	d := mustNew(t, quick(), nil)
	if s, ok := errors.AsType[*StatusError](try(d, get(d, url))); !ok || s.Status != 302 {
		t.Error("the redirect was followed")
	}
}

func TestCheckResponseBoundsWhatItReads(t *testing.T) {
	closed := false
	resp := answer(500)
	resp.Body = readCloser{io.LimitReader(forever{}, 1<<30), func() { closed = true }}
	err := CheckResponse(resp).(*StatusError)
	if len(err.Body) != 64<<10 || !closed {
		t.Errorf("read %d bytes, closed %v", len(err.Body), closed)
	}
	if CheckResponse(answer(204)) != nil {
		t.Error("204 is an error")
	}
}

type forever struct{}

func (forever) Read(p []byte) (int, error) { return len(p), nil }

type readCloser struct {
	io.Reader
	close func()
}

func (r readCloser) Close() error { r.close(); return nil }

func TestParseRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for v, want := range map[string]time.Duration{
		"": 0, "5": 5 * time.Second, "0": 0, "-5": 0, "soon": 0, "1.5": 0, "999999999": time.Hour,
		"4294967296": time.Hour, "18446744073709551616": time.Hour, "+5": 0, "5_0": 0,
		"Sun, 01 Mar 2026 12:00:07 GMT": 7 * time.Second,
		"Sun, 01 Mar 2026 11:00:00 GMT": 0,
		"Mon, 01 Mar 2027 12:00:00 GMT": time.Hour,
	} {
		if got := ParseRetryAfter(v, now); got != want {
			t.Errorf("ParseRetryAfter(%q) = %v, want %v", v, got, want)
		}
	}
}

func FuzzParseRetryAfter(f *testing.F) {
	for _, v := range []string{"5", "-1", "Sun, 01 Mar 2026 12:00:07 GMT", "4294967296", "99999999999999999999"} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v string) {
		d := ParseRetryAfter(v, time.Now())
		if d < 0 || d > time.Hour {
			t.Errorf("ParseRetryAfter(%q) = %v", v, d)
		}
		if number := v != "" && strings.Trim(v, "0123456789") == ""; number && (d == 0) != (strings.Trim(v, "0") == "") {
			t.Errorf("ParseRetryAfter(%q) = %v, and it is a number", v, d)
		}
	})
}

func TestBreakerOutsideTheTransportSeesEveryAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := retryTwice()
		cfg.Breaker = Breaker{FailureRatio: 0.5, MinCalls: 15, OpenFor: 30 * time.Second}
		var reached atomic.Int64
		d := withTransport(mustNew(t, cfg, nil), func(r *http.Request) (*http.Response, error) {
			reached.Add(1)
			return answer(503), nil
		})
		for range 100 { // orders, three attempts each
			try(d, get(d, "http://upstream/"))
			time.Sleep(10 * time.Millisecond)
		}
		if reached.Load() != 15 {
			t.Errorf("%d requests before it opened, want MinCalls", reached.Load())
		}
	})
}
