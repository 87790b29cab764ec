package resilience

import "time"

// Config is everything this process has decided about one dependency. It reads like a table and is validated whole by New.
type Config struct {
	Timeout  Timeout
	Bulkhead Bulkhead
	Breaker  Breaker
	Retry    Retry
	Classify func(error) Outcome // what an error of fn says about the dependency; nil means DefaultClassify
}

// Timeout bounds a call and each of its attempts. The caller's own deadline always wins when it is earlier.
type Timeout struct {
	Total   time.Duration // for the whole call with its retries; 0 leaves it to the caller's deadline
	Attempt time.Duration // for one attempt; 0 means Total
}

// Bulkhead bounds how many attempts may be in flight at once.
type Bulkhead struct {
	Max     int           // attempts in flight; 0 means no bulkhead
	MaxWait time.Duration // how long a call may wait for a slot; 0 means it is refused at once
}

// Breaker says when to stop calling. Any one of its three reasons is enough. The zero value means no breaker.
type Breaker struct {
	FailureRatio        float64       // open at this share of failed calls, 0..1; 0 means never
	SlowRatio           float64       // open at this share of slow calls, 0..1; 0 means never
	SlowAfter           time.Duration // a call this long is slow
	MinCalls            int           // both ratios need at least this many calls in Window
	Window              time.Duration // how far back the ratios look; at least ten attempts long
	ConsecutiveFailures int           // open after this many in a row, spanning at least 500 ms; 0 means never
	OpenFor             time.Duration // longest time between opening and the first probe
	Probes              int           // probes at once in half-open state, all of which must succeed; 0 means 1
}

// Retry says how often and how fast to try again. The zero value means one attempt.
type Retry struct {
	Max         int           // attempts beyond the first
	Base        time.Duration // scale of the first pause
	Cap         time.Duration // longest pause of our own choosing
	BudgetRatio float64       // extra attempts per call, over the last 10 s; 0 means 0.1
	BudgetFloor int           // extra attempts per 10 s that are always allowed; 0 means 10
}
