//go:build e2e

package e2e

import (
	"slices"
	"testing"
)

// TestATrialFailsAsATestDoes: whatever a test may call, the failure is kept, and tidying up happens last thing first.
func TestATrialFailsAsATestDoes(t *testing.T) {
	for name, c := range map[string]struct {
		play  func(t testing.TB)
		said  []string
		final bool
	}{
		"nothing": {func(t testing.TB) {}, nil, false},
		"errors":  {func(t testing.TB) { t.Errorf("%d pages", 3); t.Error("and", 4) }, []string{"3 pages", "and4"}, false},
		"fatal": {func(t testing.TB) {
			t.Fatalf("no %s", "stack")
			t.Error("not reached")
		}, []string{"no stack"}, false},
		"inexcusable": {func(t testing.TB) { inexcusable(t, "two orders") }, []string{"two orders"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			var order []int
			one := &trial{TB: t}
			one.run(func(t testing.TB) {
				t.Cleanup(func() { order = append(order, 1) })
				t.Cleanup(func() { order = append(order, 2) })
				c.play(t)
			})
			if !slices.Equal(one.said, c.said) || one.final != c.final || one.Failed() != (len(c.said) > 0) || t.Failed() {
				t.Errorf("%q, final %t", one.said, one.final)
			}
			if !slices.Equal(order, []int{2, 1}) || one.Context().Err() == nil {
				t.Errorf("tidied %v, %v", order, one.Context().Err())
			}
		})
	}
}
