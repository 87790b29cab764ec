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

// The phases of a story. Promises are about what happened within them.
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
	From, To time.Time
}

// stage is where a story is played. Its steps remember the first error and do nothing from then on, so that a story
// needs no error handling: it is read by people. All steps are called from the one goroutine that tells the story.
type stage struct {
	proxies *faults.Client
	begin   func(phase string) // hears of every phase

	phases         []phase
	broken, mended time.Time // when the first fault was in force, and the last one gone
	set            []faults.Active
	restore        func(context.Context) error // undoes act; nil when there is nothing to undo
	err            error
}

// phase ends the one before and begins the next.
func (s *stage) phase(name string) {
	if s.err != nil {
		return
	}
	now := time.Now()
	s.endPhase(now)
	s.phases = append(s.phases, phase{Name: name, From: now})
	s.begin(name)
}

func (s *stage) endPhase(now time.Time) {
	if n := len(s.phases); n > 0 && s.phases[n-1].To.IsZero() {
		s.phases[n-1].To = now
	}
}

// wait lets d pass.
func (s *stage) wait(ctx context.Context, d time.Duration) {
	if s.err != nil {
		return
	}
	select {
	case <-ctx.Done():
		s.err = context.Cause(ctx)
	case <-time.After(d):
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
	s.set = append(s.set, active)
	if s.broken.IsZero() {
		s.broken = time.Now()
	}
}

// act does what breaks something, and remembers how to undo it.
func (s *stage) act(ctx context.Context, lose, restore func(context.Context) error) {
	if s.err != nil {
		return
	}
	s.restore = restore // also when lose fails half-way
	if s.err = lose(ctx); s.err == nil {
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	var errs []error
	undone := len(s.set) > 0 || s.restore != nil
	if restore := s.restore; restore != nil {
		s.restore = nil
		errs = append(errs, restore(ctx))
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
