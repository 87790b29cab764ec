package resilience

import (
	"slices"
	"testing"
)

func TestOutcomesAreAClosedSet(t *testing.T) {
	want := []string{"success", "slow", "failure", "timeout", "canceled",
		"rejected_open", "rejected_half_open", "rejected_limit", "rejected_budget", "rejected_deadline"}
	var got []string
	for _, o := range Outcomes() {
		got = append(got, o.String())
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if s := Outcome(200).String(); s != "unknown" {
		t.Errorf("Outcome(200) is %q", s)
	}
}
