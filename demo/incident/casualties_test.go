package incident

import (
	"context"
	"errors"
	"testing"
)

// fakeEngine knows which containers live; its first starts may fail.
type fakeEngine struct {
	dead  map[string]bool
	fails int
}

func (e *fakeEngine) Kill(_ context.Context, services ...string) error {
	for _, s := range services {
		e.dead[s] = true
	}
	return nil
}

func (e *fakeEngine) Start(ctx context.Context, services ...string) error {
	if e.fails--; e.fails >= 0 {
		return errors.New("the engine is busy")
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for _, s := range services {
		delete(e.dead, s)
	}
	return nil
}

// Whatever becomes of the story's own start, no container stays dead, and one that lives is not started a second time.
func TestWhatWasKilledIsStartedAgain(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for name, c := range map[string]struct {
		starting context.Context
		fails    int
		wantErr  bool
		wantUndo int // left for cleanUp
	}{
		"started":                {t.Context(), 0, false, 0},
		"the engine failed once": {t.Context(), 1, true, 1},
		"stopped by Ctrl-C":      {stopped, 0, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			e := &fakeEngine{map[string]bool{}, c.fails}
			cfg := newWorld().config()
			cfg.Engine = e
			s := newRun(Casualties(10), cfg).stage
			s.kill(t.Context(), "redis")
			if !e.dead["redis"] {
				t.Fatal("not killed")
			}
			s.start(c.starting, "redis")
			if (s.err != nil) != c.wantErr || len(s.undo) != c.wantUndo {
				t.Errorf("%v, %d left to undo", s.err, len(s.undo))
			}
			if err := s.cleanUp(c.starting); err != nil || len(e.dead) > 0 {
				t.Errorf("%v, dead: %v", err, e.dead)
			}
		})
	}
}
