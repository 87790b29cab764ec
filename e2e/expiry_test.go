//go:build e2e

package e2e

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"watertight.example/demo/faults"
)

// faultTime is how long a fault lasts here. It ends up to a second late by its name, which counts in whole seconds, one more until
// the janitor looks, and one for a busy machine.
const (
	faultTime = 5 * time.Second
	faultEnds = faultTime + 3*time.Second
)

// TestEveryFaultEndsByItself sets faults with the real tool and then takes the tool away. The stack's own janitor has to end them.
func TestEveryFaultEndsByItself(t *testing.T) {
	s := stack(t)
	demo := buildDemo(t)
	fault := func(t *testing.T, kind string, more ...string) *exec.Cmd {
		args := append([]string{"fault", kind, "-toxiproxy", s.API(), "-for", faultTime.String(), "-edge"}, more...)
		return exec.CommandContext(t.Context(), demo, args...)
	}

	t.Run("every kind, when the tool has left", func(t *testing.T) {
		edges := []string{"productpage-recommendations", "productpage-inventory", "productpage-pricing", "productpage-orders", "redis"}
		began := time.Now()
		for i, kind := range faults.Kinds() {
			if out, err := fault(t, kind.Name, edges[i%len(edges)], "-detach").CombinedOutput(); err != nil {
				t.Fatalf("%s: %v: %s", kind.Name, err, out)
			}
		}
		set := time.Now()
		if broken := s.broken(t); len(broken) != len(faults.Kinds()) {
			t.Fatalf("%d faults are set, want %d: %v", len(broken), len(faults.Kinds()), broken)
		}
		eventuallyIn(t, faultEnds, "all faults ended", func() bool {
			left := s.broken(t)
			if time.Since(began) < faultTime && len(left) < len(faults.Kinds()) {
				t.Fatalf("a fault ended after %s: %v", time.Since(began), left)
			}
			return len(left) == 0
		})
		t.Logf("all ended %s after the last was set", time.Since(set).Round(10*time.Millisecond))
	})

	t.Run("when the tool is killed", func(t *testing.T) {
		tool := fault(t, "refuse", "productpage-recommendations,productpage-pricing")
		if err := tool.Start(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "both edges are broken", func() bool { return len(s.broken(t)) == 2 })
		set := time.Now()
		if err := tool.Process.Kill(); err != nil { // SIGKILL: nothing of it is left to mend anything
			t.Fatal(err)
		}
		_ = tool.Wait()
		if broken := s.broken(t); len(broken) != 2 {
			t.Fatalf("the faults went with the tool: %v", broken)
		}
		eventuallyIn(t, faultEnds, "the faults ended", func() bool { return len(s.broken(t)) == 0 })
		t.Logf("ended %s after they were set", time.Since(set).Round(10*time.Millisecond))
	})

	s.waitWhole(t) // an edge that is listed as mended lets pages through
}

// buildDemo gives the path of the real tool.
func buildDemo(t testing.TB) string {
	t.Helper()
	demo := filepath.Join(t.TempDir(), "demo")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", demo, "watertight.example/demo").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return demo
}

// broken lists what Toxiproxy has, without touching it: `demo faults` would sweep.
func (s *Stack) broken(t testing.TB) (names []string) {
	t.Helper()
	active, err := faults.NewClient(s.API(), nil).Active(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range active {
		names = append(names, a.Edge+" "+a.Kind)
	}
	return slices.Sorted(slices.Values(names))
}
