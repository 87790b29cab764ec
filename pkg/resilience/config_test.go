package resilience

import (
	"strings"
	"testing"
	"time"
)

func TestZeroConfigIsAPlainCall(t *testing.T) {
	d := mustNew(t, Config{}, NopObserver{})
	if d.Name() != "dep" {
		t.Errorf("called %q", d.Name())
	}
	if v, err := Call(t.Context(), d, succeed); v != 1 || err != nil {
		t.Errorf("%d, %v", v, err)
	}
	wantState(t, d, BreakerClosed)
}

func TestConfigIsRefusedWithEveryProblemNamed(t *testing.T) {
	_, err := New("a b", Config{
		Timeout:  Timeout{Total: 100 * time.Millisecond, Attempt: 200 * time.Millisecond},
		Bulkhead: Bulkhead{Max: -1, MaxWait: time.Second},
		Breaker:  Breaker{SlowRatio: 1.5, MinCalls: 0, Window: time.Second, Probes: 3, Successes: 2},
		Retry:    Retry{Max: 2},
	}, nil)
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		"the name must be", "a child's budget cannot be above its parent's", "Bulkhead.Max is negative", "no bulkhead to wait for",
		"uses up Timeout.Total", "SlowRatio must be between 0 and 1", "needs MinCalls", "needs SlowAfter", "must hold 10 attempts",
		"OpenFor must be at least", "less than the 3 probes", "Retry.Base must be at least",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("does not say %q:\n%v", want, err)
		}
	}
}

func TestConfigProblems(t *testing.T) {
	good := Breaker{FailureRatio: 0.5, MinCalls: 10, OpenFor: time.Second}
	second := Timeout{Total: time.Second}
	with := func(change func(*Breaker)) Config {
		b := good
		change(&b)
		return Config{Timeout: second, Breaker: b}
	}
	retry := func(change func(*Config)) Config {
		c := retryTwice()
		change(&c)
		return c
	}
	for want, cfg := range map[string]Config{
		"Total is negative":                 {Timeout: Timeout{Total: -1}},
		"Attempt is negative":               {Timeout: Timeout{Attempt: -1}},
		"Min is negative":                   {Timeout: Timeout{Min: -1}},
		"leaves no attempt":                 {Timeout: Timeout{Total: time.Second, Min: time.Second}},
		"MaxWait is negative":               {Bulkhead: Bulkhead{Max: 1, MaxWait: -1}},
		"can never open":                    with(func(b *Breaker) { b.FailureRatio = 0 }),
		"FailureRatio must be between":      with(func(b *Breaker) { b.FailureRatio = -0.1 }),
		"SlowAfter is negative":             with(func(b *Breaker) { b.SlowAfter = -1 }),
		"is never reached":                  with(func(b *Breaker) { b.SlowAfter = time.Second }),
		"is too short":                      {Breaker: Breaker{FailureRatio: 0.5, MinCalls: 1, OpenFor: time.Second, Window: 1}},
		"MinCalls is negative":              with(func(b *Breaker) { b.MinCalls = -1 }),
		"ConsecutiveFailures is negative":   with(func(b *Breaker) { b.ConsecutiveFailures = -1 }),
		"Probes is negative":                with(func(b *Breaker) { b.Probes = -1 }),
		"do not fit the bulkhead":           {Bulkhead: Bulkhead{Max: 2}, Breaker: Breaker{FailureRatio: 1, MinCalls: 1, OpenFor: time.Second, Probes: 3}},
		"Retry.Max must be between":         retry(func(c *Config) { c.Retry.Max = 11 }),
		"nothing of Timeout.Total":          retry(func(c *Config) { c.Timeout.Attempt = c.Timeout.Total }),
		"the last retry cannot fit":         retry(func(c *Config) { c.Retry.Max, c.Retry.Cap = 10, time.Second }),
		"Cap 200ms is below":                retry(func(c *Config) { c.Retry.Base = time.Second }),
		"BudgetRatio must be between":       retry(func(c *Config) { c.Retry.BudgetRatio = 1.1 }),
		"BudgetFloor is negative":           retry(func(c *Config) { c.Retry.BudgetFloor = -1 }),
		"Adaptive needs 1 <= Min":           {Adaptive: Adaptive{Min: 0, Max: 5}},
		"there is one limit":                {Adaptive: Adaptive{Min: 1, Max: 5}, Bulkhead: Bulkhead{Max: 5}},
		"Adaptive.MaxWait is negative":      {Adaptive: Adaptive{Min: 1, Max: 5, MaxWait: -1}},
		"Adaptive.Floor is negative":        {Adaptive: Adaptive{Min: 1, Max: 5, Floor: -1}},
		"hides a queue until":               {Timeout: second, Adaptive: Adaptive{Min: 1, Max: 5, Floor: 500 * time.Millisecond}},
		"Hedge needs Idempotent":            {Timeout: second, Hedge: Hedge{MaxRatio: 0.05}},
		"Hedge needs Timeout.Total":         {Hedge: Hedge{MaxRatio: 0.05, Idempotent: true}},
		"MaxRatio must be above 0":          {Timeout: second, Hedge: Hedge{MaxRatio: 0.06, Idempotent: true}},
		"Quantile must be between":          {Timeout: second, Hedge: Hedge{MaxRatio: 0.05, Idempotent: true, Quantile: 1}},
		"MinSamples is negative":            {Timeout: second, Hedge: Hedge{MaxRatio: 0.05, Idempotent: true, MinSamples: -1}},
		"Retry needs Timeout.Total":         retry(func(c *Config) { c.Timeout = Timeout{} }),
		"the name must be 1 to 64 printabl": {},
		"Attempt 2s exceeds Timeout.Total":  {Timeout: Timeout{Total: time.Second, Attempt: 2 * time.Second}},
		"must hold 10 attempts of 1s":       with(func(b *Breaker) { b.Window = 9 * time.Second }),
		"Breaker without a Fallback":        {Timeout: second, Breaker: good, Optional: true},
	} {
		name := "dep"
		if strings.HasPrefix(want, "the name") {
			name = ""
		}
		if _, err := New(name, cfg, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got: %v", want, err)
		}
	}
}

func TestDescribeShowsOrderAndNumbers(t *testing.T) {
	cfg := retryTwice()
	cfg.Hedge = Hedge{MaxRatio: 0.05, Idempotent: true, Backup: mustNew(t, Config{}, nil)}
	cfg.Bulkhead = Bulkhead{Max: 50, MaxWait: 10 * time.Millisecond}
	cfg.Breaker = Breaker{FailureRatio: 0.5, SlowRatio: 0.8, SlowAfter: 400 * time.Millisecond, MinCalls: 20, ConsecutiveFailures: 5, OpenFor: 30 * time.Second}
	cfg.Optional, cfg.Fallback = true, "best sellers"
	want := `dep
  fallback  best sellers
  deadline  2s or the caller's, the earlier; nothing starts with less than 1ms left
  retry     2 more, pauses from 25ms to 200ms, budget 10 % of calls + 10 in 10s
  hedge     a second attempt after the p95 of at least 100, for at most 5 % of calls, by dep
  bulkhead  50 in flight, wait for a slot at most 10ms
  breaker   opens on 50 % failed, or 80 % slower than 400ms (of 20 or more in 10s), or 5 failures in a row
            for at most 30s, then 1 at once, closes after 1 good
  attempt   500ms
`
	if got := mustNew(t, cfg, nil).Describe(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	want = `dep
  deadline  the caller's
  retry     none
  hedge     none
  bulkhead  none
  breaker   none
  attempt   until the caller's deadline
`
	if got := mustNew(t, Config{}, nil).Describe(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// TestOptionalNeedsAFallbackOnlyBehindABreaker: each of the three conditions is needed for the problem.
func TestOptionalNeedsAFallbackOnlyBehindABreaker(t *testing.T) {
	breaker := Breaker{FailureRatio: 0.5, MinCalls: 10, OpenFor: time.Second}
	for _, cfg := range []Config{
		{Breaker: breaker, Optional: true, Fallback: "best sellers"},
		{Breaker: breaker},
		{Optional: true},
	} {
		mustNew(t, cfg, nil)
	}
}

func TestLimitsOverASharedResourceMustFitIt(t *testing.T) {
	sized := func(n int) *Dependency { return mustNew(t, Config{Bulkhead: Bulkhead{Max: n}}, nil) }
	adaptive := mustNew(t, Config{Adaptive: Adaptive{Min: 1, Max: 30}}, nil)
	if err := CheckShared("the pool", 100, sized(25), sized(45), adaptive); err != nil {
		t.Error(err)
	}
	if err := CheckShared("the pool", 100, sized(100)); err != nil {
		t.Errorf("a pool of one's own is not shared: %v", err)
	}
	for want, err := range map[string]error{
		"add up to 225, and it has 100":             CheckShared("the pool", 100, sized(50), sized(100), sized(75)),
		"a bulkhead of 100 is as large as all":      CheckShared("the pool", 100, sized(50), sized(100), sized(75)),
		"dep has no limit":                          CheckShared("the pool", 100, sized(50), mustNew(t, Config{}, nil)),
		"a bulkhead of 30 is as large as all of th": CheckShared("the pool", 30, adaptive, sized(1)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestBudgetsMustFitTheirParent(t *testing.T) {
	taking := func(total time.Duration) *Dependency { return mustNew(t, Config{Timeout: Timeout{Total: total}}, nil) }
	if err := CheckBudget("a page", 500*time.Millisecond, taking(0), taking(500*time.Millisecond)); err != nil {
		t.Error(err)
	}
	err := CheckBudget("a page", 500*time.Millisecond, taking(501*time.Millisecond), taking(0), taking(2*time.Second))
	if err == nil || !strings.Contains(err.Error(), "Timeout.Total 501ms exceeds the 500ms of a page") ||
		!strings.Contains(err.Error(), "Timeout.Total 2s exceeds") {
		t.Errorf("got %v, want both problems", err)
	}
}
