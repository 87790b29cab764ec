package incident

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"watertight.example/demo/faults"
	"watertight.example/demo/load"
)

// newTransport is the real network, of which visitors of one second keep their connections. There is no proxy from the
// environment in it: targets are checked, a proxy would not be.
func newTransport(rate int) http.RoundTripper {
	return &http.Transport{MaxIdleConnsPerHost: rate, IdleConnTimeout: 30 * time.Second, DialContext: (&net.Dialer{Timeout: patience}).DialContext}
}

// run is an incident that is being played.
type run struct {
	Incident
	Config
	stage     *stage
	witnesses []*witness // the protected page, then the naive one if it is looked at
	began     time.Time
	speaking  sync.Mutex // phases and seconds are told by two goroutines
}

func newRun(in Incident, cfg Config) *run {
	r := &run{Incident: in, Config: cfg, witnesses: []*witness{newWitness("protected", cfg.Protected, cfg.Transport)}}
	if cfg.Naive != nil {
		r.witnesses = append(r.witnesses, newWitness("naive", *cfg.Naive, cfg.Transport))
	}
	r.stage = &stage{proxies: faults.NewClient(cfg.Toxiproxy, cfg.Transport), begin: r.announce}
	return r
}

// ready refuses what could not be told to its end.
func (r *run) ready(ctx context.Context) error {
	for i, w := range r.witnesses {
		if err := w.ready(ctx, r.Config); err != nil && i > 0 {
			return fmt.Errorf("%w (-only-shop goes without it)", err)
		} else if err != nil {
			return err
		}
	}
	if err := r.stage.ready(ctx, r.edges); err != nil {
		return err
	}
	return r.witnesses[0].awaitWhole(ctx, r.Config)
}

// play tells the story while visitors come, and ends when all of it has ended and been mended.
func (r *run) play(ctx context.Context) error {
	if r.witnesses[0].internal == nil {
		r.say("the page's internal listener is not read: its breaker is not shown, and not every promise is judged. " + notReadAdvice)
	}
	r.began = time.Now()
	playing, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var others sync.WaitGroup
	for _, w := range r.witnesses {
		others.Go(func() {
			if _, err := load.Run(playing, w.visitors(r.Config)); err != nil {
				stop(err) // without visitors there is nothing to tell
			}
		})
		if w.internal != nil {
			others.Go(func() { w.internal.watch(playing) })
		}
	}
	others.Go(func() { r.speak(playing) })

	r.tell(playing, r.stage)
	r.stage.endPhase(time.Now())
	err := r.stage.cleanUp(ctx)
	stop(nil)
	others.Wait()
	if ctx.Err() == nil { // being stopped is no error; the report says it
		err = errors.Join(r.stage.err, err)
	}
	return err
}

// record is everything the verdicts are computed from.
type record struct {
	began          time.Time
	phases         []phase
	broken, mended time.Time
	stopped        bool // before the story was over
	openFor        time.Duration
	protected      *seen
	naive          *seen // nil when it was not looked at
}

// phase gives the named phase; one that was never reached is empty.
func (r record) phase(name string) phase {
	for _, p := range r.phases {
		if p.Name == name {
			return p
		}
	}
	return phase{Name: name}
}

func (r *run) record(stopped bool) record {
	rec := record{
		began: r.began, phases: r.stage.phases, broken: r.stage.broken, mended: r.stage.mended,
		stopped: stopped || r.stage.err != nil, openFor: r.OpenFor, protected: r.witnesses[0].testimony(),
	}
	if len(r.witnesses) > 1 {
		rec.naive = r.witnesses[1].testimony()
	}
	return rec
}
