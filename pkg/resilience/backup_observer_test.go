package resilience

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestBackupsObserverHearsWhatItIsAsked: a call each, admitted or refused; otherwise the series of a backup that refuses everything
// would stay at zero.
func TestBackupsObserverHearsWhatItIsAsked(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(*Dependency)
		onIt    body
		want    Outcome
		started int
	}{
		"it answers":               {func(*Dependency) {}, returns(2, time.Millisecond, nil), OutcomeSuccess, 1},
		"it fails":                 {func(*Dependency) {}, returns(0, time.Millisecond, errDown), OutcomeFailure, 1},
		"it panics":                {func(*Dependency) {}, panics, OutcomeFailure, 1},
		"its breaker is open":      {func(d *Dependency) { d.ForceOpen("", 0) }, succeed, OutcomeRejectedOpen, 0},
		"its bulkhead is full":     {func(d *Dependency) { go try(d, after(time.Hour, nil)); synctest.Wait() }, succeed, OutcomeRejectedLimit, 0},
		"the first answers sooner": {func(*Dependency) {}, returns(2, time.Hour, nil), OutcomeCanceled, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				onReplica, onPrimary := &recorder{}, &recorder{}
				cfg := breakerOn3()
				cfg.Timeout.Total, cfg.Bulkhead.Max = time.Hour, 1
				primary := mustNew(t, cfg, onPrimary)
				cfg = hedging()
				cfg.Hedge.Backup = primary
				replica := mustNew(t, cfg, onReplica)
				warmUp(replica)
				c.prepare(primary)
				first := returns(0, time.Millisecond, unavailable(0))
				if c.want == OutcomeCanceled {
					first = returns(1, time.Second, nil)
				}
				surviving(func() {
					try(replica, func(ctx context.Context) (int, error) {
						if OnBackup(ctx) {
							return c.onIt(ctx)
						}
						return first(ctx)
					})
				})
				synctest.Wait()
				calls, attempts := onPrimary.heard()
				if calls != 1 {
					t.Fatalf("heard of %d calls, want 1", calls)
				}
				e := onPrimary.last()
				if e.Outcome != c.want || e.Attempts != c.started || attempts != c.started {
					t.Errorf("the backup's observer heard %+v and of %d attempts", e, attempts)
				}
				if r, ok := errors.AsType[*Rejected](e.Err); ok != (c.started == 0) || ok && r.Outcome != c.want {
					t.Errorf("its error is %v", e.Err)
				}
				if e := onReplica.last(); e.Attempts != 1+c.started || e.OnBackup != c.started {
					t.Errorf("the replica's observer heard %+v", e)
				}
				time.Sleep(2 * time.Hour)
			})
		})
	}
}
