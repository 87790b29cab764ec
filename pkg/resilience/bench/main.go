// Command bench measures what a protected call costs beside a hand-written loop and failsafe-go with the same policies.
//
// All run in one process, in short turns one after the other, and are compared turn by turn: on a busy machine absolute
// nanoseconds mean little, the median of the ratios means something. With -check it exits with 1 if an allocation count or a
// ratio is not what the README promises.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
	"text/tabwriter"
	"time"

	"watertight.example/pkg/resilience"
)

const (
	turns    = 41
	turnTime = 4 * time.Millisecond
)

// row is one situation. The first contestant is ours; the others' limits are bounds of their ratio to it.
type row struct {
	name        string
	contestants []contestant
	maxAllocs   float64
}

type contestant struct {
	name     string
	call     func()
	maxRatio float64 // ours / theirs at most; 0: not gated
}

func rows() []row {
	noTimeout := policies()
	noTimeout.Timeout, noTimeout.Retry = resilience.Timeout{}, resilience.Retry{}
	hedged := policies()
	hedged.Hedge = resilience.Hedge{MaxRatio: 0.05, Idempotent: true}
	return []row{
		{"retry + breaker + bulkhead + timeout", []contestant{
			{"watertight", ours(policies()), 0}, {"by hand", byHand(), 1.35}, {"failsafe-go", failsafeComposed(false, false), 1.0 / 2},
		}, 4},
		{"breaker + bulkhead", []contestant{{"watertight", ours(noTimeout), 0}}, 0},
		{"all four + idle hedge", []contestant{
			{"watertight", ours(hedged), 0}, {"failsafe-go", failsafeComposed(true, false), 1.0 / 4},
		}, 7},
		{"rejected by an open breaker", []contestant{
			{"watertight", oursOpen(), 0}, {"failsafe-go", failsafeComposed(false, true), 1.0 / 4},
		}, 0},
	}
}

func main() {
	check := flag.Bool("check", false, "exit with 1 if a promise is broken")
	flag.Parse()
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "situation\tcontestant\tns/call\tallocs\tours/theirs\tat most\t")
	broken := 0
	for _, r := range rows() {
		broken += r.run(w)
	}
	w.Flush()
	if *check && broken > 0 {
		fmt.Printf("%d promises broken\n", broken)
		os.Exit(1)
	}
}

// run measures a row, prints it, and returns the number of broken promises.
func (r row) run(w *tabwriter.Writer) (broken int) {
	times := make([][]float64, len(r.contestants))
	for range turns {
		for i, c := range r.contestants {
			times[i] = append(times[i], turn(c.call))
		}
	}
	for i, c := range r.contestants {
		allocs := testing.AllocsPerRun(1000, c.call)
		verdict := "\t\t"
		switch {
		case i == 0:
			verdict = fmt.Sprintf("\t%.0f allocs%s\t", r.maxAllocs, mark(allocs > r.maxAllocs, &broken))
		case c.maxRatio > 0:
			ratio := medianRatio(times[0], times[i])
			verdict = fmt.Sprintf("%.2f\t%.2f%s\t", ratio, c.maxRatio, mark(ratio > c.maxRatio, &broken))
		}
		fmt.Fprintf(w, "%s\t%s\t%.0f\t%.0f\t%s\n", r.name, c.name, median(times[i]), allocs, verdict)
	}
	return broken
}

func mark(bad bool, broken *int) string {
	if !bad {
		return ""
	}
	*broken++
	return " BROKEN"
}

// turn returns the time of one call, measured over turnTime.
func turn(call func()) float64 {
	const batch = 100
	n := 0
	start := time.Now()
	for time.Since(start) < turnTime {
		for range batch {
			call()
		}
		n += batch
	}
	return float64(time.Since(start)) / float64(n)
}

func medianRatio(ours, theirs []float64) float64 {
	ratios := make([]float64, len(ours))
	for i := range ours {
		ratios[i] = ours[i] / theirs[i]
	}
	return median(ratios)
}

func median(v []float64) float64 {
	v = slices.Clone(v)
	slices.Sort(v)
	return v[len(v)/2]
}
