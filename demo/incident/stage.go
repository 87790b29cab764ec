package incident

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"watertight.example/demo/faults"
)

// The phases that most stories have. Promises are about what happened within a phase.
const (
	baseline = "baseline"
	fault    = "fault"
	recovery = "recovery"
)

// expiry is how long a fault outlives its phase when nobody mends it, because the incident was killed.
const expiry = 5 * time.Second

// phase is a chapter of a story; the last one ends when the story does.
type phase struct {
	Name     string
	Says     string
	Sick     bool // something is broken in it
	From, To time.Time
}

// event is a moment of the story that its chart marks.
type event struct {
	At   time.Time
	Says string
}

// stage is where a story is played. Its steps remember the first error and do nothing from then on, so that a story
// needs no error handling: it is read by people. All steps are called from the one goroutine that tells the story.
type stage struct {
	proxies *faults.Client
	shop    *run    // whose visitors, databases and containers the steps use
	speed   float64 // divides the waits; 0 means 1

	phases         []phase
	events         []event
	broken, mended time.Time // when the first fault was in force, and the last one gone
	set            []faults.Active
	undo           []func(context.Context) error // what cleanUp does besides ending faults
	err            error
}

// calm begins a phase in which nothing is broken, act one in which something is.
func (s *stage) calm(name, says string) { s.begin(phase{Name: name, Says: says}) }
func (s *stage) act(name, says string)  { s.begin(phase{Name: name, Says: says, Sick: true}) }

func (s *stage) begin(p phase) {
	if s.err != nil {
		return
	}
	p.From = time.Now()
	s.endPhase(p.From)
	s.phases = append(s.phases, p)
	s.shop.say("--- " + p.Name + ": " + p.Says)
	s.shop.count()
}

func (s *stage) endPhase(now time.Time) {
	if n := len(s.phases); n > 0 && s.phases[n-1].To.IsZero() {
		s.phases[n-1].To = now
	}
}

// mark puts a moment into the chart.
func (s *stage) mark(format string, args ...any) {
	says := fmt.Sprintf(format, args...)
	s.events = append(s.events, event{time.Now(), says})
	s.shop.say("    * " + says)
}

// wait lets d pass, divided by the story's speed.
func (s *stage) wait(ctx context.Context, d time.Duration) {
	if s.speed > 0 {
		d = time.Duration(float64(d) / s.speed)
	}
	s.sleep(ctx, d)
}

func (s *stage) sleep(ctx context.Context, d time.Duration) {
	if s.err != nil {
		return
	}
	select {
	case <-ctx.Done():
		s.err = context.Cause(ctx)
	case <-time.After(d):
	}
}

// until waits for something to happen and marks it, for at most the given time, which speed does not scale: breakers
// and timeouts are real. That it did not happen is marked too; whether that breaks a promise is not for the story to say.
func (s *stage) until(ctx context.Context, what string, atMost time.Duration, happened func() bool) {
	for end := time.Now().Add(atMost); s.err == nil; s.sleep(ctx, readEvery/2) {
		if happened() {
			s.mark("%s", what)
			return
		}
		if time.Now().After(end) {
			s.mark("not within %s: %s", atMost, what)
			return
		}
	}
}

// breakEdge sets a fault. It ends by itself when its time is over, also when this process is killed.
func (s *stage) breakEdge(ctx context.Context, f faults.Fault) {
	if s.err != nil {
		return
	}
	active, err := s.proxies.Set(ctx, f)
	if err != nil {
		s.err = err
		return
	}
	s.set = slices.DeleteFunc(s.set, func(a faults.Active) bool { return a.Edge == f.Edge && a.Kind == f.Kind }) // replaced
	s.set = append(s.set, active)
	if s.broken.IsZero() {
		s.broken = time.Now()
	}
}

// do breaks something by other means than Toxiproxy's, and remembers how to undo it, also when breaking fails half-way.
func (s *stage) do(ctx context.Context, lose, restore func(context.Context) error) {
	if s.err != nil {
		return
	}
	s.undo = append(s.undo, restore)
	if s.err = lose(ctx); s.err == nil && s.broken.IsZero() {
		s.broken = time.Now()
	}
}

// mend ends all faults of this story, and says so when somebody else was faster: then there was less of an incident
// than the promises are about.
func (s *stage) mend(ctx context.Context) {
	if s.err != nil {
		return
	}
	active, err := s.proxies.Active(ctx)
	for _, a := range s.set {
		if err == nil && !slices.Contains(active, a) {
			s.err = fmt.Errorf("%s on %s was ended by somebody else", a.Kind, a.Edge)
		}
	}
	s.err = errors.Join(s.err, err, s.cleanUp(ctx))
}

// cleanUp ends what is still broken, whatever happened before, and also when ctx has ended.
func (s *stage) cleanUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	var errs []error
	undone, undo := len(s.set)+len(s.undo) > 0, s.undo
	s.undo = nil // once, also when it fails
	for _, undo := range undo {
		errs = append(errs, undo(ctx))
	}
	for _, a := range s.set {
		if err := s.proxies.End(ctx, a); err != nil {
			errs = append(errs, fmt.Errorf("could not mend %s (it ends by itself at %s): %w", a.Edge, a.Until.Format(time.TimeOnly), err))
		}
	}
	err := errors.Join(errs...)
	if undone && err == nil {
		s.set, s.mended = nil, time.Now()
	}
	return err
}

// ready refuses a stage on which the story cannot be told: an edge is not there, or something is broken already.
func (s *stage) ready(ctx context.Context, edges []string) error {
	there, err := s.proxies.Edges(ctx)
	if err != nil {
		return err
	}
	for _, name := range edges {
		if _, ok := there[name]; !ok {
			return fmt.Errorf("there is no edge %q; there are %s", name, strings.Join(slices.Sorted(maps.Keys(there)), ", "))
		}
	}
	active, err := s.proxies.Active(ctx)
	for _, a := range active {
		err = errors.Join(err, fmt.Errorf("broken already: %s on %s (demo mend ends it)", a.Kind, a.Edge))
	}
	return err
}
