package incident

import "testing"

// Where the limit was not cut, there is nothing to restore, and the report does not pretend that there was.
func TestALimitThatWasNotCutIsNotCalledRestored(t *testing.T) {
	r := keptOutage()
	base, sick, back := r.phase(baseline), r.phase(slowStores), r.phase(storesBack)
	if f := r.restores(stock(), base, sick, back); f.String() != "50 of 50 after 2.00 s pass" {
		t.Error(f)
	}
	for i := range r.protected.readings["inventory"] {
		r.protected.readings["inventory"][i].Limit = 50
	}
	if f := r.restores(stock(), base, sick, back); f.String() != "never cut, closed after 1.00 s pass" {
		t.Error(f)
	}
}

// A share of a few percent of a few reads is one hedge or two: that proves neither that it hedges nor that it does so sparingly.
func TestFewReadsAreNotJudgedByTheirHedges(t *testing.T) {
	r := keptOutage()
	for i := range r.services["inventory"].scrapes {
		r.services["inventory"].scrapes[i].series[`dependency_calls_total{dependency="postgres-replica"}`] = float64(10 * i)
	}
	if f := r.extraQueries(r.phase(slowFraction)); f.String() != "only 90 reads" || f.Result != NotMeasured {
		t.Error(f)
	}
}
