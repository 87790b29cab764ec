package resilience

import (
	"context"
	"time"
)

// Hedge starts a second attempt when the first takes longer than usual, and uses whichever succeeds first (article 1, "Hedged
// Requests"; Dean and Barroso, "The Tail at Scale"). It cures a slow fraction of calls for a few percent more of them. It
// cannot cure a dependency that is slow as a whole, and the cap keeps it from making that worse.
//
// The first attempt runs on the caller's goroutine and costs none extra while it is quick. fn may run twice at once, and must honour
// its context: the loser is canceled, and a value it returns all the same is closed if it is an io.Closer. The zero value
// means no hedging.
type Hedge struct {
	MaxRatio   float64 // second attempts per call, over the last 10 s, 0 < r <= 0.05. They come out of the retry budget as well
	Idempotent bool    // must be set: says that two attempts do no more than one
	Quantile   float64 // of the dependency's own latency, after which the second attempt starts; 0 means 0.95
	MinSamples int     // attempts to have seen before the first hedge; 0 means 100

	// Backup, if not nil, is who gets the second attempt: the primary database of a replica, say. fn asks OnBackup. It has
	// a breaker and limits of its own, and its observer hears of each as a call. If the breaker of this Dependency refuses a call, Backup takes it at once; that costs
	// no budget, since the call was not made. If an attempt fails early, Backup is asked at once too, within the budget.
	Backup *Dependency
}

func (h Hedge) enabled() bool { return h != Hedge{} }

const (
	defaultQuantile   = 0.95
	defaultMinSamples = 100
	maxHedgeRatio     = 0.05

	// hedgeMargin puts the second attempt a little after the quantile. Calls crowd just below it; waiting for them
	// to pass halves the hedges and costs the slow ones next to nothing.
	hedgeMargin = 1.1
)

// hedger is what a Dependency with hedging knows.
type hedger struct {
	policy  Hedge
	latency quantile
	cap     *budget
}

func newHedger(h Hedge, now time.Time) *hedger {
	return &hedger{
		policy:  h,
		latency: quantile{p: h.Quantile, minSamples: h.MinSamples},
		cap:     newBudget(h.MaxRatio, 0, now),
	}
}

// sample takes the time of an attempt that ran its course, or that had to be ended because it took too long.
func (h *hedger) sample(o Outcome, lost bool, took time.Duration) {
	if o == OutcomeSuccess || o == OutcomeSlow || o == OutcomeTimeout || lost {
		h.latency.observe(took)
	}
}

// canRace tells whether c may have a second attempt at all.
func (c *call) canRace() bool { return c.dep.hedger != nil && !onlyOnce(c.ctx) }

// hedgeDelay returns how long an attempt may take before a second one starts; ok is false while that is not known.
func (h *hedger) hedgeDelay() (delay time.Duration, ok bool) {
	p, ok := h.latency.estimate()
	return max(time.Duration(float64(p)*hedgeMargin), time.Millisecond), ok
}

// mayHedge is asked when the delay is over. Nobody is hedged while a breaker is not closed: a probe must stay alone, and a
// dependency in trouble needs less load, not more.
func (d *Dependency) mayHedge(now time.Time) bool {
	return d.breakerClosed(now) && d.hedgeTarget().breakerClosed(now) &&
		d.hedger.cap.withdraw(now) && d.budget.withdraw(now)
}

// mayFailOver tells whether the backup is asked right away, after the first attempt has ended with err.
func (c *call) mayFailOver(err error) bool {
	if c.dep.hedger.policy.Backup == nil || c.ctx.Err() != nil {
		return false
	}
	switch c.outcome {
	case OutcomeRejectedOpen, OutcomeRejectedHalfOpen:
		return true
	case OutcomeFailure, OutcomeTimeout:
		return c.dep.cfg.Retry.When(err) && c.dep.budget.withdraw(c.now)
	}
	return false
}

func (d *Dependency) hedgeTarget() *Dependency {
	if b := d.hedger.policy.Backup; b != nil {
		return b
	}
	return d
}

func (d *Dependency) breakerClosed(now time.Time) bool {
	if d.breaker == nil {
		return true
	}
	state, _, _, _ := d.breaker.read(now)
	return state == BreakerClosed
}

// HedgeResult says what became of hedging in a call.
type HedgeResult string

// The results; the zero value means that the call could not have been hedged.
const (
	HedgeNotNeeded  HedgeResult = "not_needed"  // the first attempt ended in time
	HedgePrimaryWon HedgeResult = "primary_won" // both ran
	HedgeBackupWon  HedgeResult = "hedge_won"
	HedgeBothFailed HedgeResult = "both_failed"
	HedgeSuppressed HedgeResult = "suppressed" // due, but not made: over the cap or the budget, a breaker not closed, no slot free
)

type markKey struct{}

// mark says which attempt of a race a context belongs to.
type mark struct{ hedge, backup bool }

func marked(ctx context.Context, hedge, backup bool) context.Context {
	return context.WithValue(ctx, markKey{}, mark{hedge, backup})
}

// unmarked keeps the marks of one call out of another that fn makes with its context: that one has a first attempt of its own, on
// nobody's backup.
func unmarked(ctx context.Context) context.Context {
	if markOf(ctx) == (mark{}) {
		return ctx
	}
	return marked(ctx, false, false)
}

func markOf(ctx context.Context) mark {
	m, _ := ctx.Value(markKey{}).(mark)
	return m
}

// OnBackup tells fn that it runs for Hedge.Backup, not for the Dependency it was called with. A Call inside fn starts afresh.
func OnBackup(ctx context.Context) bool { return markOf(ctx).backup }

// IsHedge tells fn and observers that another attempt of the same call may be running, which took unusually long.
func IsHedge(ctx context.Context) bool { return markOf(ctx).hedge }
