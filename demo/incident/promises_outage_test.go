package incident

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"watertight.example/demo/load"
)

// Each promise of the outage is broken once, by as little as breaks it; what breaks along with it is named.
func TestEachPromiseOfTheOutageCanBeBroken(t *testing.T) {
	first := func(alter func(*load.Sample)) func(int, *load.Sample) {
		return func(n int, one *load.Sample) {
			if n == 0 {
				alter(one)
			}
		}
	}
	full := first(func(one *load.Sample) { one.Class, one.Parts = load.Full, nil })
	readings := func(r *record, p Place, from, to float64, alter func(*reading)) {
		all := r.place(p).readings[p.Dependency]
		for i := range all {
			if !all[i].At.Before(second(from)) && all[i].At.Before(second(to)) {
				alter(&all[i])
			}
		}
	}
	noBanner := func(most int) func(int, *load.Sample) {
		return func(n int, one *load.Sample) { one.Banner = one.Banner && n >= most }
	}
	hedges := func(r *record, n int) {
		for i := range r.ledger.reads[2:] {
			r.ledger.reads[2+i].Primary = n
		}
	}
	closed, open := func(one *reading) { one.Breaker = "closed" }, func(one *reading) { one.Breaker = "open" }
	limit := func(n int) func(*reading) { return func(one *reading) { one.Limit = n } }
	for name, c := range map[string]struct {
		spoil func(*record)
		want  []string
	}{
		"as promised": {func(*record) {}, nil},
		"one failed page": {func(r *record) {
			r.protected.change(load.Product, 50, 51, func(n int, one *load.Sample) { one.Class = load.Class(2 * min(1, n%20)) })
		}, []string{"no-errors"}},
		"slow pages":        {func(r *record) { r.protected.change(load.Product, 50, 51, slow(551*time.Millisecond)) }, []string{"budget"}},
		"a slow home page":  {func(r *record) { r.protected.change(load.Browse, 10, 40, slow(61*time.Millisecond)) }, []string{"home"}},
		"a slow order page": {func(r *record) { r.protected.change(load.Order, 10, 40, slow(61*time.Millisecond)) }, []string{"order"}},
		"slow home pages in act two, too few to be seen in the whole": {func(r *record) {
			r.protected.change(load.Browse, 46, 50, slow(61*time.Millisecond))
		}, []string{"home"}},
		"as few slow order pages in the calm": {func(r *record) {
			r.protected.change(load.Order, 60, 64, slow(61*time.Millisecond))
		}, nil},
		"slow prices in act three":              {func(r *record) { slowBetween(r, "pricing", 71, 73) }, []string{"price"}},
		"slow recommendations before their act": {func(r *record) { slowBetween(r, optional, 46, 48) }, []string{"recs"}},
		"slow recommendations in it":            {func(r *record) { slowBetween(r, optional, 72, 80) }, nil},
		"slow stock while some reads are slow":  {func(r *record) { slowBetween(r, "inventory", 12, 14) }, []string{"hedged"}},
		"slow stock in act three":               {func(r *record) { slowBetween(r, "inventory", 72, 74) }, []string{"stock"}},
		"a stray probe": {func(r *record) {
			r.protected.series(`dependency_attempt_duration_seconds_count{dependency="recommendations"}`, 76, func(n float64) float64 { return n + 1 })
		}, []string{"probes"}},
		"9 % hedged":                       {func(r *record) { hedges(r, 16) }, []string{"extra"}},
		"12 hedges, of 180 reads":          {func(r *record) { hedges(r, 12) }, nil},
		"one hedge":                        {func(r *record) { hedges(r, 1) }, []string{"extra"}},
		"two hedges, of 180 reads":         {func(r *record) { hedges(r, 2) }, nil},
		"the limit is not cut far enough":  {func(r *record) { readings(r, replica(), 21, 42, limit(13)) }, []string{"cut"}},
		"the breaker opens before the cut": {func(r *record) { readings(r, replica(), 20, 25.1, limit(20)) }, []string{"cut", "replica-opens"}},
		"the replica's breaker opens late": {func(r *record) { readings(r, replica(), 25, 35.1, closed) }, []string{"replica-opens", "fails-over: no answers"}},
		"two pages in a hundred without a live count": {func(r *record) {
			r.protected.change(load.Product, 26, 27, func(n int, one *load.Sample) {
				if n < 4 {
					one.Class, one.Parts = load.Degraded, []string{"stock"}
				}
			})
		}, []string{"fails-over"}},
		"the replica's limit stays low":      {func(r *record) { readings(r, replica(), 42, 45, limit(17)) }, []string{"replica-back"}},
		"stock is asked for all the time":    {func(r *record) { readings(r, stock(), 46, 61, closed) }, []string{"stock-opens", "banner"}},
		"one page hides its banner":          {func(r *record) { r.protected.change(load.Product, 50, 51, full) }, []string{"banner"}},
		"7 pages of 210 without a count":     {func(r *record) { r.protected.change(load.Product, 50, 51, noBanner(7)) }, []string{"banner"}},
		"6 pages of 210 without a count":     {func(r *record) { r.protected.change(load.Product, 50, 51, noBanner(6)) }, nil},
		"a refusal that says nothing":        {func(r *record) { r.customers[3].First[1].RetryAfter = false }, []string{"button"}},
		"a form without an order":            {func(r *record) { r.customers[3].Order, r.customers[3].Said = "", "no form" }, []string{"one-intent"}},
		"stock is never asked for again":     {func(r *record) { readings(r, stock(), 60, 105, open) }, []string{"stock-back"}},
		"the plan does not come back":        {func(r *record) { r.ledger.plans[2].Name = "row by row" }, []string{"plan"}},
		"recommendations are asked for late": {func(r *record) { readings(r, recommendations(), 71, 75.1, closed) }, []string{"recs-opens"}},
		"never full again": {func(r *record) {
			r.protected.change(load.Product, 82, 105, func(n int, one *load.Sample) { one.Class = load.Class(n / 10 % 2) })
		}, []string{"heals"}},
		"the limit comes back 16 s after the pages": {func(r *record) { readings(r, recommendations(), 83, 98.2, limit(30)) }, []string{"recs-back"}},
		"two orders of one form":                    {func(r *record) { r.ledger.duplicates = 1 }, []string{"duplicates"}},
		"oversold":                                  {func(r *record) { r.ledger.audited.Checks[0].Wrong = 1 }, []string{"audit"}},
		"the replica's limit is restored, and its breaker open": {func(r *record) { readings(r, replica(), 35, 45, open) }, []string{"replica-back"}},
		"a limit that was never cut is no promise broken":       {func(r *record) { readings(r, stock(), 45, 62, limit(50)) }, nil},
		"never cut, and not asked again": {func(r *record) {
			readings(r, stock(), 45, 62, limit(50))
			readings(r, stock(), 60, 105, open)
		}, []string{"stock-back"}},
		"the naive page stands in act three": {func(r *record) { r.naive.change(load.Product, 70, 80, slow(61*time.Millisecond)) }, []string{"slows"}},
		"the naive page stands":              {func(r *record) { r.naive.change(load.Product, 45, 60, slow(time.Second)) }, []string{"collapses"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := keptOutage()
			c.spoil(&r)
			var broken []string
			for _, v := range judgeOutage(r) {
				switch v.Result() {
				case Fail:
					broken = append(broken, v.ID)
				case NotMeasured:
					broken = append(broken, v.ID+": "+v.Protected.Measured)
				}
			}
			if !slices.Equal(broken, c.want) {
				t.Errorf("broken %q, want %q", broken, c.want)
			}
		})
	}
}

// slowBetween lets each call to a dependency take 100 ms for a while.
func slowBetween(r *record, dependency string, from, to int) {
	for i, one := range r.protected.scrapes {
		late := 20 * float64(min(max(i-from, 0), to-from))
		one.series[fmt.Sprintf(`dependency_call_duration_seconds_bucket{dependency=%q,le="0.02"}`, dependency)] -= late
	}
}
