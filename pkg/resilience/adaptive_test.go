package resilience

import (
	"container/heap"
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// plant is a dependency in a simulation by events: no goroutines and no clock, so that ten minutes at 4,000 calls a second take
// a second. It has a number of workers; who finds none free waits in its queue.
type plant struct {
	limiter *limiter
	rng     *rand.Rand
	workers int
	service func(at time.Duration) time.Duration // of a call that a worker begins at this time
	now     time.Time
	start   time.Time
	busy    int
	queue   []time.Time // admitted, waiting for a worker
	ends    endings

	offered, admitted, served int // since the latest mark
	slowest                   time.Duration
}

type ending struct{ begun, at time.Time }

type endings []ending

func (e endings) Len() int           { return len(e) }
func (e endings) Less(i, j int) bool { return e[i].at.Before(e[j].at) }
func (e endings) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *endings) Push(x any)        { *e = append(*e, x.(ending)) }
func (e *endings) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

func newPlant(a Adaptive, workers int, service func(at time.Duration) time.Duration) *plant {
	a = Config{Adaptive: a}.withDefaults().Adaptive // what a Dependency would have
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return &plant{
		limiter: &limiter{limit: a.Initial, adaptor: newAdaptor(a, start)},
		rng:     rand.New(rand.NewPCG(11, 12)), workers: workers, service: service, now: start, start: start,
	}
}

// offer makes one call now.
func (p *plant) offer() bool {
	p.offered++
	if ok, _ := p.limiter.acquire(context.Background(), 0); !ok {
		return false
	}
	p.admitted++
	p.queue = append(p.queue, p.now)
	p.work()
	return true
}

func (p *plant) work() {
	for len(p.queue) > 0 && p.busy < p.workers {
		p.busy++
		heap.Push(&p.ends, ending{p.queue[0], p.now.Add(p.service(p.now.Sub(p.start)))})
		p.queue = p.queue[1:]
	}
}

// end ends the next call in progress.
func (p *plant) end() {
	e := heap.Pop(&p.ends).(ending)
	p.now = e.at
	p.busy--
	p.served++
	took := e.at.Sub(e.begun)
	p.slowest = max(p.slowest, took)
	p.limiter.releaseSample(OutcomeSuccess, e.begun, took, p.now)
	p.work()
}

// open offers rate calls a second, at random times, until at.
func (p *plant) open(rate float64, at time.Duration) {
	until := p.start.Add(at)
	for next := p.now; ; {
		next = next.Add(time.Duration(p.rng.ExpFloat64() / rate * float64(time.Second)))
		for len(p.ends) > 0 && !p.ends[0].at.After(next) && !p.ends[0].at.After(until) {
			p.end()
		}
		if next.After(until) {
			p.now = until
			return
		}
		p.now = next
		if p.offer() || len(p.ends) == 0 {
			continue
		}
		// The limiter is full until the next call ends. What comes until then is refused, and a Poisson process that
		// starts anew there is the same one.
		full := min(p.ends[0].at.Sub(next), until.Sub(next))
		p.offered += int(rate * full.Seconds())
		next = next.Add(full)
	}
}

// mark returns the limit and the share admitted since the last mark.
func (p *plant) mark() (limit int, share float64) {
	share = float64(p.admitted) / float64(max(p.offered, 1))
	p.offered, p.admitted, p.served, p.slowest = 0, 0, 0, 0
	return p.limiter.limit, share
}

// onset is when the outage begins, over when it ends.
const (
	onset = 20 * time.Second
	over  = onset + 10*time.Minute
)

// outage is the articles': 20 ms, then 400 ms for ten minutes, then 20 ms again (or what back says).
func outage(back time.Duration) func(at time.Duration) time.Duration {
	return func(at time.Duration) time.Duration {
		switch {
		case at < onset:
			return 20 * time.Millisecond
		case at < over:
			return 400 * time.Millisecond
		}
		return back
	}
}

func upTo200(algorithm func() LimitAlgorithm) Adaptive {
	return Adaptive{Min: 5, Max: 200, Initial: 100, Algorithm: algorithm}
}

func TestAdaptiveLimitInTheArticlesOutage(t *testing.T) {
	for name, back := range map[string]time.Duration{"back as before": 20 * time.Millisecond, "back a quarter slower": 25 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			p := newPlant(upTo200(nil), 120, outage(back)) // the default
			p.open(4000, onset)
			healthy, share := p.mark()
			if share < 0.99 {
				t.Errorf("healthy: %.1f %% admitted at limit %d", share*100, healthy)
			}
			for second := time.Second; second <= 5*time.Second; second += time.Second {
				p.open(4000, onset+second)
				limit, share := p.mark()
				if share == 0 {
					t.Errorf("everything was refused in the second before %v", second)
				}
				if second == 2*time.Second && limit > (healthy+1)/2 { // it has grown by one since
					t.Errorf("two seconds in the limit is %d, want at most half of %d", limit, healthy)
				}
			}
			settled, _ := p.mark()
			for at := onset + 10*time.Second; at < over; at += 5 * time.Second {
				p.open(4000, at)
				served := p.served
				limit, share := p.mark()
				can := float64(limit) / 0.4 * 5 // calls of 400 ms in 5 s
				if share == 0 || limit > settled || float64(served) < 0.95*can {
					t.Fatalf("at %v: limit %d (settled at %d), %d served in 5 s, %.0f possible", at, limit, settled, served, can)
				}
			}
			p.open(4000, over)
			if limit, _ := p.mark(); limit > settled {
				t.Errorf("at the end of the outage the limit is %d, settled at %d", limit, settled)
			}
			p.open(4000, over+10*time.Second)
			if limit, _ := p.mark(); limit < healthy*9/10 {
				t.Errorf("ten seconds after recovery the limit is %d, want 90 %% of %d", limit, healthy)
			}
			p.open(4000, over+20*time.Second)
			if _, share := p.mark(); share < 0.99 {
				t.Errorf("recovered: %.1f %% admitted", share*100)
			}
		})
	}
}

// TestRestoringNeedsNoUse has a night's traffic after the outage: too little to fill even the halved limit.
func TestRestoringNeedsNoUse(t *testing.T) {
	p := newPlant(upTo200(nil), 120, outage(20*time.Millisecond))
	p.open(4000, onset)
	healthy, _ := p.mark()
	p.open(4000, over)
	if low, _ := p.mark(); low > (healthy+1)/2 {
		t.Fatalf("limit %d in the outage, %d before", low, healthy)
	}
	p.open(100, over+10*time.Second) // two in use
	if limit, _ := p.mark(); limit < healthy*9/10 || limit > healthy+1 {
		t.Errorf("ten quiet seconds after the outage the limit is %d, want the %d it was, and not more", limit, healthy)
	}
}

// A machine that stands still for a moment makes everything late, however little of the limit is in use. Cutting it then changes
// nothing, so it proves nothing, and a hundred such moments must not leave a caller at its floor for ever.
func TestMomentsOfSlownessDoNotWearTheLimitDown(t *testing.T) {
	a, limit := AIMD(), 50
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	window := func(latency time.Duration, peak int) {
		at = at.Add(400 * time.Millisecond)
		limit = max(5, a.Next(limit, LimitWindow{At: at, Length: 400 * time.Millisecond, Latency: latency, Peak: peak}))
	}
	window(20*time.Millisecond, 2)
	for range 100 {
		window(90*time.Millisecond, 4)
		if limit != 25 {
			t.Fatalf("limit %d after a slow moment, want 25", limit)
		}
		for range 25 { // ten seconds
			window(20*time.Millisecond, 2)
		}
		if limit != 50 {
			t.Fatalf("limit %d ten seconds after a slow moment, want 50 again", limit)
		}
	}
	window(90*time.Millisecond, 50) // this time it was our own queue: the cut bites, and cures it
	for range 25 {
		window(20*time.Millisecond, 24)
	}
	if limit != 25 {
		t.Errorf("limit %d although the queue was ours", limit)
	}
}

func TestLastingShiftIsAccepted(t *testing.T) {
	p := newPlant(Adaptive{Min: 5, Max: 200, Initial: 80}, 200, func(at time.Duration) time.Duration {
		if at < 20*time.Second {
			return 12 * time.Millisecond
		}
		return 30 * time.Millisecond
	})
	p.open(500, 20*time.Second)
	p.mark()
	p.open(500, 3*time.Minute)
	p.mark()
	p.open(500, 4*time.Minute)
	if limit, share := p.mark(); share < 0.99 || limit < 70 {
		t.Errorf("minutes after a shift from 12 to 30 ms: limit %d, %.1f %% admitted", limit, share*100)
	}
}

func TestAfterAnHourEvenAnOutageIsTheNewNormal(t *testing.T) {
	a := AIMD()
	at := time.Now()
	limit := 100
	window := func(latency time.Duration, span time.Duration) {
		at = at.Add(span)
		limit = a.Next(limit, LimitWindow{At: at, Length: span, Latency: latency, Peak: 1})
	}
	window(20*time.Millisecond, time.Second)
	for range 59 * 60 {
		window(400*time.Millisecond, time.Second)
	}
	if limit != 50 {
		t.Errorf("after 59 minutes the limit is %d, want it held at half", limit)
	}
	window(800*time.Millisecond, time.Second)
	if limit != 37 {
		t.Errorf("when it gets worse the limit is %d, want another cut", limit)
	}
	for range 5 * 60 {
		window(800*time.Millisecond, time.Second)
	}
	if limit != 100 {
		t.Errorf("after more than an hour the limit is %d, want it restored", limit)
	}
}

func TestOwnQueueNeverBecomesTheNorm(t *testing.T) {
	a := AIMD()
	at := time.Now()
	window := func(limit int, latency time.Duration, peak int) int {
		at = at.Add(time.Second)
		return a.Next(limit, LimitWindow{At: at, Length: time.Second, Latency: latency, Peak: peak})
	}
	window(100, 10*time.Millisecond, 1)
	for range 3600 { // an hour of full windows, just below twice the time
		window(100, 19*time.Millisecond, 100)
	}
	if limit := window(100, 21*time.Millisecond, 100); limit != 50 {
		t.Errorf("the limit is %d, want it halved: an hour of queueing has become the baseline", limit)
	}
}

func TestSamplesOfAnOlderWindowDoNotCount(t *testing.T) {
	start := time.Now()
	a := newAdaptor(Adaptive{Min: 5, Max: 100, Algorithm: AIMD}, start)
	for range 50 {
		a.sample(100, start.Add(-time.Millisecond), time.Second, start.Add(time.Second))
	}
	if len(a.samples) != 0 {
		t.Errorf("%d samples of attempts begun before the window", len(a.samples))
	}
}

func TestOrdinarySpreadIsNoQueue(t *testing.T) {
	for _, sigma := range []float64{0.2, 0.5} {
		rng := rand.New(rand.NewPCG(1, 2))
		p := newPlant(Adaptive{Min: 5, Max: 100, Initial: 40}, 1000, func(time.Duration) time.Duration {
			return time.Duration(20 * math.Exp(sigma*rng.NormFloat64()) * float64(time.Millisecond))
		})
		p.open(1000, time.Minute)
		if limit, share := p.mark(); share < 0.97 || limit < 36 {
			t.Errorf("lognormal, sigma %v: limit %d, %.1f %% admitted", sigma, limit, share*100)
		}
	}
}

// What is below the floor is no queue, however much it varies; what is far above it is.
func TestLatenciesBelowTheFloorAreAlike(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		floor, later time.Duration
		cut          bool
	}{{0, 9 * time.Millisecond, true}, {10 * time.Millisecond, 9 * time.Millisecond, false}, {10 * time.Millisecond, 40 * time.Millisecond, true}} {
		a, limit := newAdaptor(Adaptive{Min: 1, Max: 80, Floor: c.floor, Algorithm: AIMD}, now), 80
		for i := range 40 {
			took := 2 * time.Millisecond
			if i >= 20 {
				took = c.later
			}
			limit = a.sample(limit, now.Add(time.Duration(i)*50*time.Millisecond), took, now.Add(time.Duration(i)*50*time.Millisecond+took))
		}
		if (limit < 80) != c.cut {
			t.Errorf("floor %v: from 2 ms to %v the limit went to %d", c.floor, c.later, limit)
		}
	}
}

func TestAFewSlowAnswersDoNotSetTheLimit(t *testing.T) {
	for _, share := range []float64{0.01, 0.05, 0.2} {
		rng := rand.New(rand.NewPCG(1, 2))
		p := newPlant(Adaptive{Min: 5, Max: 180, Initial: 180}, 1000, func(time.Duration) time.Duration {
			if rng.Float64() < share {
				return 50 * time.Millisecond
			}
			return 20 * time.Millisecond
		})
		p.open(1000, 30*time.Second)
		if limit, _ := p.mark(); limit < 170 {
			t.Errorf("%.0f %% of answers at 2.5x: limit %d of 180", share*100, limit)
		}
	}
}

func TestOneOutlierMovesTheLimitByAStepAtMost(t *testing.T) {
	for name, odd := range map[string]time.Duration{"slow": time.Minute, "quick": 50 * time.Microsecond} {
		for algorithm, make := range map[string]func() LimitAlgorithm{"AIMD": AIMD, "Vegas": Vegas, "Gradient2": Gradient2} {
			after := func(outlier bool) int {
				n := 0
				p := newPlant(Adaptive{Min: 5, Max: 100, Initial: 50, Algorithm: make}, 1000, func(time.Duration) time.Duration {
					if n++; n == 5000 && outlier {
						return odd
					}
					return 20 * time.Millisecond
				})
				p.open(1000, 30*time.Second)
				limit, _ := p.mark()
				return limit
			}
			if with, without := after(true), after(false); with < without-without/20 || with > without+without/20 {
				t.Errorf("%s: one %s answer makes the limit %d instead of %d", algorithm, name, with, without)
			} else if algorithm == "AIMD" && (with < without-1 || with > without+1) {
				t.Errorf("the default: one %s answer makes the limit %d instead of %d", name, with, without)
			}
		}
	}
}

func TestBurstOfSlowAnswersCutsOnce(t *testing.T) {
	slow := true
	p := newPlant(Adaptive{Min: 4, Max: 200, Initial: 80}, 200, func(at time.Duration) time.Duration {
		if at > time.Second && slow {
			return 60 * time.Millisecond
		}
		return 20 * time.Millisecond
	})
	p.open(1000, time.Second)
	for range 80 {
		p.offer()
	}
	slow = false
	p.open(1000, 3*time.Second)
	if limit, _ := p.mark(); limit < 40 {
		t.Errorf("a full house of slow answers, once, cut the limit from 80 to %d", limit)
	}
}

// closedLoop has n callers who call again as soon as they are answered, or after 1 ms when refused.
func closedLoop(p *plant, n int, at time.Duration) {
	until := p.start.Add(at)
	for p.now.Before(until) {
		for len(p.queue)+p.busy < n && p.offer() {
		}
		if len(p.ends) == 0 {
			return
		}
		p.end()
	}
}

func TestSaturatedDependencyIsUsedToTheFullWithoutAQueue(t *testing.T) {
	p := newPlant(Adaptive{Min: 4, Max: 500, Initial: 10}, 20, func(time.Duration) time.Duration { return 10 * time.Millisecond })
	closedLoop(p, 100, 10*time.Second)
	p.mark()
	lowest, highest := 1000, 0
	for at := 10 * time.Second; at < 70*time.Second; at += time.Second {
		closedLoop(p, 100, at)
		lowest, highest = min(lowest, p.limiter.limit), max(highest, p.limiter.limit)
	}
	if rate := float64(p.served) / 59; rate < 0.95*2000 {
		t.Errorf("%.0f calls a second of 2000 possible", rate)
	}
	if p.slowest > 30*time.Millisecond || lowest < 15 || highest > 60 {
		t.Errorf("slowest %v, limit between %d and %d, want it around what the 20 workers need", p.slowest, lowest, highest)
	}
}

func TestLimitGrowsByOneAWindowAndOnlyWhenFull(t *testing.T) {
	p := newPlant(Adaptive{Min: 4, Max: 500, Initial: 40}, 1000, func(time.Duration) time.Duration { return 20 * time.Millisecond })
	p.open(500, time.Minute) // ten in use
	if limit, _ := p.mark(); limit != 40 {
		t.Errorf("unused, the limit grew from 40 to %d", limit)
	}
	closedLoop(p, 1000, 61*time.Second)
	if limit, _ := p.mark(); limit > 51 || limit < 45 {
		t.Errorf("in a second of full use the limit grew from 40 to %d, want one per 100 ms", limit)
	}
}

func TestQueueOfASteadyQuarterIsBounded(t *testing.T) {
	// Gradient2 is not bounded: its long average follows the queue. That is one reason why it is not the default.
	for name, make := range map[string]func() LimitAlgorithm{"AIMD": AIMD, "Vegas": Vegas} {
		p := newPlant(Adaptive{Min: 4, Max: 10_000, Initial: 50, Algorithm: make}, 40, func(time.Duration) time.Duration { return 20 * time.Millisecond })
		for at := time.Second; at < 45*time.Second; at += time.Second { // unbounded, it would be at 450
			closedLoop(p, 5000, at)
			if limit := p.limiter.limit; limit > 130 {
				t.Fatalf("%s: at %v the limit is %d for 40 workers", name, at, limit)
			}
		}
	}
}

func TestOutcomesThatTeachTheLimitNothing(t *testing.T) {
	at := time.Now()
	for _, o := range []Outcome{OutcomeFailure, OutcomeCanceled} {
		l := &limiter{limit: 50, adaptor: newAdaptor(Adaptive{Min: 5, Max: 50, Algorithm: AIMD}, at)}
		now := at
		use := func(o Outcome, took time.Duration) {
			l.acquire(context.Background(), 0)
			now = now.Add(10 * time.Millisecond)
			l.releaseSample(o, now.Add(-min(took, 10*time.Millisecond)), took, now)
		}
		for range 100 {
			use(OutcomeSuccess, 10*time.Millisecond)
		}
		for range 100 { // fifty quick refusals, or hedge losers that took long
			use(o, 50*time.Microsecond)
			use(o, time.Second)
		}
		for range 1000 {
			use(OutcomeSuccess, 10*time.Millisecond)
		}
		if l.limit != 50 {
			t.Errorf("%s moved the limit from 50 to %d", o, l.limit)
		}
	}
}

// What an operator compares the latency with: none before the first window, then what answers took until now.
func TestTheStateTellsWhatIsUsual(t *testing.T) {
	for name, algorithm := range map[string]func() LimitAlgorithm{"aimd": AIMD, "vegas": Vegas, "gradient2": Gradient2} {
		p := newPlant(upTo200(algorithm), 100, func(time.Duration) time.Duration { return 20 * time.Millisecond })
		for _, usual := range []time.Duration{0, 20 * time.Millisecond} {
			var s State
			if p.limiter.read(&s); s.LimitBaseline.Round(time.Millisecond) != usual {
				t.Errorf("%s: %v is usual, want %v", name, s.LimitBaseline, usual)
			}
			p.open(1000, 10*time.Second)
		}
	}
}

func TestAdaptiveDependency(t *testing.T) {
	d := mustNew(t, Config{Adaptive: Adaptive{Min: 2, Max: 10, Initial: 2, Algorithm: Vegas}}, nil)
	var held []chan struct{}
	for range 2 {
		release := make(chan struct{})
		started := make(chan struct{})
		go try(d, func(context.Context) (int, error) { close(started); <-release; return 0, nil })
		<-started
		held = append(held, release)
	}
	wantOutcome(t, try(d, succeed), OutcomeRejectedLimit)
	if s := d.State(); s.Limit != 2 || s.InFlight != 2 {
		t.Errorf("state is %+v", s)
	}
	for _, release := range held {
		close(release)
	}
	if !strings.Contains(d.Describe(), "adaptive, 2 to 10, starting at 2") {
		t.Errorf("described as:\n%s", d.Describe())
	}
}
