package resilience

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// TestRefusedHedgeIsNotCounted: what found no slot was never made, even if it stood in line for one when the first answered.
func TestRefusedHedgeIsNotCounted(t *testing.T) {
	for name, wait := range map[string]time.Duration{"refused at once": 0, "still in line": time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := hedging()
				cfg.Bulkhead = Bulkhead{Max: 1, MaxWait: wait}
				obs := &recorder{}
				d := mustNew(t, cfg, obs)
				warmUp(d)
				begun := len(obs.attempts)
				if err := try(d, after(50*time.Millisecond, nil)); err != nil {
					t.Error(err)
				}
				synctest.Wait()
				e, made := obs.last(), len(obs.attempts)-begun
				if e.Attempts != made || made == 1 && e.Hedge != HedgeSuppressed || wait == 0 && made != 1 {
					t.Errorf("reported %d attempts and %q, %d were made", e.Attempts, e.Hedge, made)
				}
				wantIdle(t, d)
			})
		})
	}
}

// TestHedgeOfACallThatPanicsIsCounted: both were made, whatever became of the first.
func TestHedgeOfACallThatPanicsIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs := &recorder{}
		d := mustNew(t, hedging(), obs)
		warmUp(d)
		first := func(context.Context) (int, error) { time.Sleep(50 * time.Millisecond); panic("boom") }
		surviving(func() { try(d, byAttempt(first, after(time.Second, nil))) })
		if e := obs.last(); e.Attempts != 2 {
			t.Errorf("reported %d attempts, want 2", e.Attempts)
		}
	})
}

// TestMarksEndWithTheirCall: a call made inside a hedge, or on a backup, is neither itself.
func TestMarksEndWithTheirCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := hedging()
		cfg.Hedge.Backup = mustNew(t, Config{}, nil)
		replica := mustNew(t, cfg, nil)
		warmUp(replica)
		other := withTransport(mustNew(t, Config{}, nil), func(r *http.Request) (*http.Response, error) {
			if IsHedge(r.Context()) || OnBackup(r.Context()) {
				t.Error("another dependency's call carries the marks of the one around it")
			}
			return answer(200), nil
		})
		nested := 0
		hedged := func(ctx context.Context) (int, error) {
			if !OnBackup(ctx) {
				return after(time.Second, nil)(ctx)
			}
			v, err := Call(ctx, other, func(ctx context.Context) (int, error) {
				nested++
				return send(ctx, other, http.MethodPost, "http://upstream/", "", "x")
			})
			if !IsHedge(ctx) || !OnBackup(ctx) {
				t.Error("the outer call has lost its marks")
			}
			return v, err
		}
		if v, err := Call(t.Context(), replica, hedged); v != 200 || err != nil || nested != 1 {
			t.Errorf("%d, %v after %d nested calls", v, err, nested)
		}
	})
}

// TestSecondAttemptOfARaceThatIsOverGivesEverythingBack: it got its slot, and the place of a probe, when nobody needed it any more.
func TestSecondAttemptOfARaceThatIsOverGivesEverythingBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := breakerOn3()
		cfg.Bulkhead.Max = 1
		obs := &recorder{}
		d := mustNew(t, cfg, obs)
		trip(t, d)
		waitOpen(d)
		made := len(obs.attempts)
		late := call{dep: d, ctx: t.Context(), now: time.Now(), rival: &lanes{standing: standing{over: true}}}
		if _, err := attempt(&late, succeed); err != context.Canceled || late.outcome != OutcomeCanceled || len(obs.attempts) != made {
			t.Errorf("%v, %s", err, late.outcome)
		}
		wantIdle(t, d)
		if err := try(d, succeed); err != nil {
			t.Errorf("the probe's place is gone: %v", err)
		}
	})
}
