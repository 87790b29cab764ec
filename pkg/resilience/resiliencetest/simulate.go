package resiliencetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"watertight.example/pkg/resilience"
)

// Load is an open-loop load: calls come at their rate, however slowly they are answered.
type Load struct {
	Rate   float64       // calls a second, evenly spaced
	For    time.Duration // how long they come
	Budget time.Duration // the deadline of each caller; 0 means none
	Every  time.Duration // a line of the timeline; 0 means a twentieth of For
}

// Line is what happened in one interval of a simulation.
type Line struct {
	At       time.Duration // its end, since the start
	Breaker  resilience.BreakerState
	InFlight int
	Limit    int
	Offered  int // calls that returned in the interval
	OK       int
	Failed   int // called in vain
	Died     int // of these, by a panic or runtime.Goexit
	Refused  int // not called
	P50, Max time.Duration
}

// Timeline is a whole simulation.
type Timeline []Line

// Simulate calls script through d under load, and returns when every call has returned. Run it in a synctest bubble.
func Simulate(d *resilience.Dependency, script *Script, load Load) Timeline {
	if load.Every == 0 {
		load.Every = load.For / 20
	}
	sim := &simulation{dep: d, script: script, load: load}
	start := time.Now()
	var callers sync.WaitGroup
	gap := time.Duration(float64(time.Second) / load.Rate)
	next := load.Every
	for at := time.Duration(0); at < load.For; at += gap {
		time.Sleep(time.Until(start.Add(at)))
		if at >= next {
			sim.mark(at)
			next += load.Every
		}
		callers.Go(sim.call)
	}
	time.Sleep(time.Until(start.Add(load.For)))
	sim.mark(load.For)
	callers.Wait()
	return sim.timeline
}

type simulation struct {
	dep    *resilience.Dependency
	script *Script
	load   Load

	mu       sync.Mutex
	line     Line
	took     []time.Duration
	timeline Timeline
}

func (s *simulation) call() {
	ctx := context.Background()
	if s.load.Budget > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.load.Budget)
		defer cancel()
	}
	start := time.Now()
	var reached atomic.Bool // a hedged call runs fn twice at once
	err, died := error(nil), true
	defer func() { // a script may panic, which must end the call and not the test
		_ = recover()
		s.count(err, reached.Load(), died, time.Since(start))
	}()
	err = resilience.Do(ctx, s.dep, func(ctx context.Context) error {
		reached.Store(true)
		return s.script.Call(ctx)
	})
	died = false
}

func (s *simulation) count(err error, reached, died bool, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line.Offered++
	s.took = append(s.took, took)
	switch {
	case died:
		s.line.Failed++
		s.line.Died++
	case err == nil:
		s.line.OK++
	case reached:
		s.line.Failed++
	default:
		s.line.Refused++
	}
}

func (s *simulation) mark(at time.Duration) {
	state := s.dep.State()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line.At, s.line.Breaker, s.line.InFlight, s.line.Limit = at, state.Breaker, state.InFlight, state.Limit
	if len(s.took) > 0 {
		slices.Sort(s.took)
		s.line.P50, s.line.Max = s.took[len(s.took)/2], s.took[len(s.took)-1]
	}
	s.timeline = append(s.timeline, s.line)
	s.line, s.took = Line{}, nil
}

// String prints the timeline as a table.
func (t Timeline) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%8s  %-9s %9s %6s %8s %6s %7s %6s %8s %9s %9s\n", "T+", "breaker", "in flight", "limit", "returned", "ok", "failed", "died", "refused", "p50", "max")
	for _, l := range t {
		fmt.Fprintf(&b, "%02d:%02d.%d0  %-9s %9d %6d %8d %6d %7d %6d %8d %9v %9v\n",
			int(l.At.Minutes()), int(l.At.Seconds())%60, l.At.Milliseconds()/100%10, l.Breaker, l.InFlight, l.Limit,
			l.Offered, l.OK, l.Failed, l.Died, l.Refused, l.P50.Round(time.Millisecond), l.Max.Round(time.Millisecond))
	}
	return b.String()
}
