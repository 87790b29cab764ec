//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"watertight.example/demo/planflip"
)

// asDemo is recommendations' database as the role demo, who may flip a plan there, around Toxiproxy. The test leaves it mended.
func (s *Stack) asDemo(t testing.TB) (*pgxpool.Pool, string) {
	t.Helper()
	url := fmt.Sprintf("postgres://demo:demo-demo@%s/recommendations?sslmode=disable", s.ports.addr("postgres-recommendations", 5432))
	db, err := planflip.Open(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := planflip.Analyze(context.Background(), db); err != nil {
			t.Error(err)
		}
		db.Close()
	})
	return db, url
}

// TestAPlanFlips makes the query behind recommendations slow by nothing but statistics, with visitors on the page, and mends it by
// ANALYZE alone. It takes 30 s.
func TestAPlanFlips(t *testing.T) { fairly(t, aPlanFlips) }

func aPlanFlips(t testing.TB) {
	const part = "recommendations"
	s := stack(t)
	db, _ := s.asDemo(t)
	s.waitWhole(t)
	usual := explained(t, db, false)
	list := s.boughtTogether(t)
	b := browse(t, s.URL("productpage"), 20)
	began := time.Now()
	time.Sleep(4 * time.Second) // 80 pages: the usual, of this very minute

	opened, sick := s.opened(t), s.sum(t, part, "dependency_calls_total", `dependency="postgres"`, `outcome="timeout"`)
	breaking := time.Now()
	if _, err := planflip.Flip(t.Context(), db, 5*time.Minute); err != nil {
		t.Fatal(err)
	}
	broken := time.Now()
	t.Logf("flipped in %s", broken.Sub(breaking).Round(10*time.Millisecond))
	explained(t, db, true)
	hundredfold(t, db, usual.Took)
	time.Sleep(time.Until(broken.Add(9 * time.Second))) // two open periods and what comes before: the breaker has probed in vain
	if n := s.opened(t) - opened; n < 2 {
		t.Errorf("the page's breaker opened %v times within 9 s, want one and one after each probe in vain", n)
	}
	if n := s.sum(t, part, "dependency_calls_total", `dependency="postgres"`, `outcome="timeout"`) - sick; n < 5 {
		t.Errorf("recommendations gave up %v statements for their time, want those that opened the breakers", n)
	}

	mending := time.Now()
	if err := planflip.Analyze(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	mended := time.Now()
	explained(t, db, false)
	openedBefore := s.opened(t)
	b.heals(t, mended, openFor+probeTime)
	if n := s.opened(t) - openedBefore; n > 0 {
		t.Errorf("the first probe after ANALYZE was not enough: the breaker opened %v times more", n)
	}
	if now := s.boughtTogether(t); now != list {
		t.Errorf("the list was %s and is %s", list, now)
	}

	all := b.stop()
	all.noneFails(t)
	all.keepTheBudget(t)
	all.within(broken.Add(openWithin), mending).allLack(t, part)
	all.within(broken.Add(openWithin), mending).areAsFastAs(t, all.within(began, breaking))
}

// explained checks that the plan is what it should be, of a usual product, whose query can be run with both plans: 25 rows of the
// product, compared with the day's 49,997 one by one or not.
func explained(t testing.TB, db planflip.DB, flipped bool) planflip.Plan {
	t.Helper()
	p, err := planflip.ExplainAnalyze(t.Context(), db, 7)
	if err != nil || p.Flipped != flipped || (p.Removed > 1_000_000) != flipped {
		t.Fatalf("flipped: %t, %d rows compared in vain, %v; want flipped: %t\n%s", p.Flipped, p.Removed, err, flipped, p.Text)
	}
	hot, err := planflip.Explain(t.Context(), db, planflip.Hottest)
	if err != nil || hot.Flipped != flipped {
		t.Errorf("the hottest product's plan, flipped: %t, %v; want %t\n%s", hot.Flipped, err, flipped, hot.Text)
	}
	t.Logf("product 7: flipped %t, %s, %d rows compared in vain", p.Flipped, p.Took, p.Removed)
	return p
}

// hundredfold: the hottest product's query does not end within a hundred times what a healthy one takes.
func hundredfold(t testing.TB, db planflip.DB, usual time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 100*usual)
	defer cancel()
	if p, err := planflip.ExplainAnalyze(ctx, db, planflip.Hottest); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the hottest product's query ended after %s, %v; a usual one takes %s when healthy", p.Took, err, usual)
	}
}

// opened counts how often the page's breaker for recommendations has opened.
func (s *Stack) opened(t testing.TB) float64 {
	return s.sum(t, "productpage", "circuit_breaker_state_changes_total", `"recommendations"`, `to_state="open"`)
}

// boughtTogether is what recommendations itself says about a product.
func (s *Stack) boughtTogether(t testing.TB) string {
	return newVisitor(t, s.URL("recommendations")).get("/products/42/bought-together").body
}

// TestEveryPlanFlipEndsByItself flips with the real tool and takes it away, in each way. It takes 30 s.
func TestEveryPlanFlipEndsByItself(t *testing.T) {
	s := stack(t)
	demo := buildDemo(t)
	db, url := s.asDemo(t)
	tool := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), demo, args...)
		cmd.Env = append(os.Environ(), "TOXIPROXY_URL="+s.API(), "DEMO_RECOMMENDATIONS_URL="+url)
		return cmd
	}
	say := func(args ...string) string {
		t.Helper()
		out, err := tool(args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	flipped := func() bool {
		status, err := planflip.State(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		return status.Broken()
	}
	start := func(args ...string) (*exec.Cmd, *bytes.Buffer) {
		t.Helper()
		cmd, out := tool(append([]string{"fault", "plan-flip", "-product", "7"}, args...)...), &bytes.Buffer{}
		cmd.Stdout, cmd.Stderr = out, out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		eventuallyIn(t, 30*time.Second, "the plan is flipped", flipped)
		return cmd, out
	}

	t.Run("by Ctrl-C", func(t *testing.T) {
		cmd, out := start("-for", "5m")
		if list := say("faults"); !strings.Contains(list, "recommendations   plan-flip   in ") {
			t.Errorf("demo faults says\n%s", list)
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		err := cmd.Wait()
		if err != nil || flipped() || !strings.Contains(out.String(), "before, product 7") || !strings.HasSuffix(out.String(), "mended: ANALYZE order_items\n") {
			t.Errorf("%v, flipped %t\n%s", err, flipped(), out)
		}
	})

	t.Run("by demo mend and demo fault analyze", func(t *testing.T) {
		out := say("fault", "plan-flip", "-product", "7", "-detach", "-for", "5m")
		before, after, _ := strings.Cut(out, "plan-flip until ")
		if strings.Contains(before, "row by row") || !strings.Contains(after, "row by row") || !flipped() {
			t.Errorf("flipped %t\n%s", flipped(), out)
		}
		t.Logf("\n%s", out)
		if out := say("mend"); !strings.Contains(out, "mended recommendations: plan-flip") || flipped() {
			t.Errorf("flipped %t: %s", flipped(), out)
		}
		say("fault", "plan-flip", "-product", "7", "-detach", "-for", "5m")
		before, after, _ = strings.Cut(say("fault", "analyze"), "ANALYZE order_items\n")
		if !strings.Contains(before, "row by row") || strings.Contains(after, "row by row") || flipped() {
			t.Errorf("flipped %t: %s%s", flipped(), before, after)
		}
	})

	t.Run("by the janitor when the tool is killed", func(t *testing.T) {
		cmd, _ := start("-for", faultTime.String())
		if err := cmd.Process.Kill(); err != nil { // SIGKILL: nothing of it is left to mend anything
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if !flipped() {
			t.Fatal("the flip went with the tool")
		}
		set := time.Now()
		eventuallyIn(t, faultEnds+2*time.Second, "the plan is mended", func() bool { return !flipped() }) // 2 s for ANALYZE on half a processor
		t.Logf("ended %s after it was set", time.Since(set).Round(10*time.Millisecond))
	})

	s.waitWhole(t)
}
