package resilience

import "time"

// Config is everything this process has decided about one dependency. It reads like a table, every zero value switches its
// layer off or has a documented default, and New validates it as a whole.
type Config struct {
	Timeout  Timeout
	Bulkhead Bulkhead
	Adaptive Adaptive // instead of Bulkhead
	Breaker  Breaker
	Retry    Retry
	Hedge    Hedge

	// Classify says what an error of fn means for the dependency's health. Nil means DefaultClassify. It returns
	// OutcomeSuccess for an error that is an answer ("no such user"), OutcomeFailure or OutcomeTimeout for one that counts
	// against the dependency, OutcomeCanceled for one that says nothing. It runs on the caller's goroutine.
	Classify func(error) Outcome

	// Optional declares that callers answer without this dependency, and Fallback says in words with what ("best sellers").
	// An optional dependency with a breaker needs one: an open breaker refuses every call, at once and for a while. Neither
	// changes what a call does; the fallback itself is CallOr's.
	Optional bool
	Fallback string
}

// Timeout bounds a call and each of its attempts (article 1, "Timeout Propagation"). The caller's own deadline is the
// law: whichever is earlier wins. fn must honour its context; Go cannot abandon a function that does not.
type Timeout struct {
	Total   time.Duration // for the call with its retries; 0 leaves the end to the caller's deadline
	Attempt time.Duration // for one attempt; 0 means Total
	Min     time.Duration // an attempt with less time left than this is not started; 0 means 1 ms
}

// Bulkhead bounds how many attempts may be in flight at once (article 1, "Bulkhead"; article 2, "The bulkhead pattern"), so that one slow dependency cannot take
// every goroutine, connection and byte of memory of its caller.
type Bulkhead struct {
	Max     int           // attempts in flight; 0 means no bulkhead
	MaxWait time.Duration // longest wait for a slot; 0 means a full bulkhead refuses at once
}

// Breaker says when to stop calling a dependency that is not well (article 1, "Circuit Breaker"; article 2, "The circuit breaker pattern"; Nygard, "Release It!"). Any one of
// three reasons is enough: too many calls fail, too many are slow, or too many in a row fail. The zero value means no breaker.
type Breaker struct {
	FailureRatio float64       // opens at this share of failed calls in Window, 0 < r <= 1; 0 means never
	SlowRatio    float64       // opens at this share of slow calls in Window, 0 < r <= 1; 0 means never
	SlowAfter    time.Duration // a call that took at least this long is slow, failed or not; 0 means none is
	MinCalls     int           // the ratios judge nothing before this many results are in Window
	Window       time.Duration // how far back the ratios look, at least 10 x Timeout.Attempt; 0 means 10 s or that, the longer

	ConsecutiveFailures int // opens after so many failures in a row, if they span at least 500 ms; 0 means never

	OpenFor   time.Duration // longest time between opening and the first probe; jittered down by up to 20 %
	Probes    int           // calls admitted at once while half-open; 0 means 1
	Successes int           // probes that must succeed, without a failure between, to close; 0 means Probes
}

// enabled tells whether there is a breaker at all.
func (b Breaker) enabled() bool { return b != Breaker{} }

// Retry says how often and how soon a failed attempt is repeated (article 1, "Idempotent Retries"; article 2, "Timeouts with jittered retries"). Setting Max declares that calls
// through this Dependency may be repeated; OneAttempt exempts a single call, and HTTPClient never lets a request that is
// neither idempotent nor keyed be sent twice. The zero value means one attempt.
type Retry struct {
	Max  int           // attempts beyond the first
	Base time.Duration // the first pause is Base/2 to Base, the next twice that, and so on
	Cap  time.Duration // longest pause of our own choosing; 0 means Timeout.Total. A longer Retry-After is still obeyed

	// Extra attempts within 10 s are at most BudgetRatio x calls + BudgetFloor. 0 means 0.1 and 10.
	BudgetRatio float64
	BudgetFloor int

	// When tells whether an error is worth another attempt. Nil means DefaultRetryable.
	When func(error) bool
}

const (
	defaultMin         = time.Millisecond
	defaultWindow      = 10 * time.Second
	defaultBudgetRatio = 0.1
	defaultBudgetFloor = 10

	// windowAttempts is how many attempt timeouts a window must hold. In a shorter one the results of a slow outage
	// leave the window about as fast as they enter it, and the breaker is blind to just the fault it is there for.
	windowAttempts = 10
)

// withDefaults fills what the zero value stands for.
func (c Config) withDefaults() Config {
	t, b, r, h := &c.Timeout, &c.Breaker, &c.Retry, &c.Hedge
	if t.Attempt == 0 {
		t.Attempt = t.Total
	}
	if t.Min == 0 {
		t.Min = defaultMin
	}
	if b.enabled() {
		if b.Window == 0 {
			b.Window = max(defaultWindow, windowAttempts*t.Attempt)
		}
		if b.Probes == 0 {
			b.Probes = 1
		}
		if b.Successes == 0 {
			b.Successes = b.Probes
		}
	}
	if c.extraAttempts() {
		if r.Cap == 0 {
			r.Cap = max(t.Total, r.Base)
		}
		if r.BudgetRatio == 0 {
			r.BudgetRatio = defaultBudgetRatio
		}
		if r.BudgetFloor == 0 {
			r.BudgetFloor = defaultBudgetFloor
		}
		if r.When == nil {
			r.When = DefaultRetryable
		}
	}
	if h.enabled() {
		if h.Quantile == 0 {
			h.Quantile = defaultQuantile
		}
		if h.MinSamples == 0 {
			h.MinSamples = defaultMinSamples
		}
	}
	if a := &c.Adaptive; a.enabled() {
		if a.Initial == 0 {
			a.Initial = a.Max
		}
		if a.Algorithm == nil {
			a.Algorithm = AIMD
		}
	}
	if c.Classify == nil {
		c.Classify = DefaultClassify
	}
	return c
}

// extraAttempts tells whether a call may make more than one attempt.
func (c Config) extraAttempts() bool { return c.Retry.Max > 0 || c.Hedge.enabled() }
