//go:build e2e

package e2e

import (
	"context"
	"testing"
	"time"

	"watertight.example/demo/faults"
)

// API is the base URL of Toxiproxy's API.
func (s *Stack) API() string { return "http://" + s.ports.addr("toxiproxy", 8474) }

// Break breaks edges in the same way as `demo fault` does, until Mend or the end of the test. The end that the fault has of its
// own is far away: tests time their faults themselves.
func (s *Stack) Break(t testing.TB, f faults.Fault, edges ...string) {
	t.Helper()
	client := faults.NewClient(s.API(), nil)
	t.Cleanup(func() { s.Mend(t) })
	for _, edge := range edges {
		f.Edge, f.For = edge, 5*time.Minute
		if _, err := client.Set(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
}

// Mend ends every fault on these edges, or on every edge.
func (s *Stack) Mend(t testing.TB, edges ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // not the test's: cleanups use it
	defer cancel()
	if _, err := faults.NewClient(s.API(), nil).Mend(ctx, edges...); err != nil {
		t.Error(err)
	}
}
