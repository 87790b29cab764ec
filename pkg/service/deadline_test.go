package service

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"watertight.example/pkg/resilience"
)

func TestDeadlineIsTheShorterOfOursAndTheCallers(t *testing.T) {
	for _, c := range []struct {
		name, header string
		route        time.Duration // of Timeout; 0: none
		want         time.Duration
		ignored      bool
	}{
		{"ours", "", 0, 2 * time.Second, false},
		{"caller's", "300", 0, 300 * time.Millisecond, false},
		{"caller asks for more", "60000", 0, 2 * time.Second, false},
		{"tighter route", "", 100 * time.Millisecond, 100 * time.Millisecond, false},
		{"longer route", "", 4 * time.Second, 4 * time.Second, false},
		{"longer route, caller's", "3000", 4 * time.Second, 3 * time.Second, false},
		{"longer route, caller's below ours", "300", 4 * time.Second, 300 * time.Millisecond, false},
		{"negative", "-5", 0, 2 * time.Second, true},
		{"fraction", "1.5", 0, 2 * time.Second, true},
		{"unit", "300ms", 0, 2 * time.Second, true},
		{"word", "soon", 0, 2 * time.Second, true},
		{"huge", "99999999999999999999", 0, 2 * time.Second, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _ := newTestService(t, Program{})
				var got time.Duration
				route := s.Router
				if c.route > 0 {
					route = route.With(Timeout(c.route))
				}
				begin := time.Now()
				route.Get("/", func(_ http.ResponseWriter, r *http.Request) {
					<-r.Context().Done()
					got = time.Since(begin)
				})
				var headers []string
				if c.header != "" {
					headers = []string{resilience.HeaderTimeout, c.header}
				}
				s.ask("GET", "/", headers...)
				if got != c.want {
					t.Errorf("the handler had %v, want %v", got, c.want)
				}
				wantLine(t, s.scrape(), `http_server_invalid_timeouts_total{service="test"} `+map[bool]string{true: "1", false: "0"}[c.ignored])
			})
		})
	}
}

func TestTooLittleTimeIsRefusedBeforeAnyWork(t *testing.T) {
	s, _ := newTestService(t, Program{})
	s.Router.Get("/", func(http.ResponseWriter, *http.Request) { t.Error("the handler ran") })
	for _, ms := range []string{"0", "4"} {
		w := s.ask("GET", "/", resilience.HeaderTimeout, ms)
		wantProblem(t, w, 503, "deadline-too-short")
		if w.Header().Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
	}
	if w := s.ask("GET", "/healthz", resilience.HeaderTimeout, "0"); w.Code != 200 {
		t.Errorf("a probe is refused: %d", w.Code)
	}
}

func TestTimeoutStillEndsWhenTheClientLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := newTestService(t, Program{})
		s.Router.With(Timeout(time.Hour)).Get("/", func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			if r.Context().Err() != context.Canceled {
				t.Errorf("ended by %v", r.Context().Err())
			}
		})
		ctx, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, leave)
		begin := time.Now()
		s.send(httptest.NewRequestWithContext(ctx, "GET", "/", nil))
		if took := time.Since(begin); took != time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestTimeoutWorksAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		Timeout(time.Second)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })).
			ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
		if took := time.Since(begin); took != time.Second {
			t.Errorf("took %v", took)
		}
	})
}
