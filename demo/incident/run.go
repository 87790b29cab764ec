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
	"watertight.example/demo/pulse"
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
	witnesses []*witness           // the protected page, then the naive one if it is looked at
	inside    map[string]*internal // of the protected shop, by service
	customers customers
	ledger    ledger
	began     time.Time
	pauses    pulse.Pauses // of this machine, meanwhile
	speaking  sync.Mutex   // phases and seconds are told by two goroutines
}

func newRun(in Incident, cfg Config) *run {
	r := &run{Incident: in, Config: cfg, inside: map[string]*internal{}}
	r.witnesses = append(r.witnesses, newWitness("protected", cfg.Protected, cfg))
	if cfg.Naive != nil {
		r.witnesses = append(r.witnesses, newWitness("naive", *cfg.Naive, cfg))
	}
	if page := r.witnesses[0].internal; page != nil {
		r.inside["productpage"] = page
	}
	for service, base := range cfg.Inside {
		r.inside[service] = newInternal(base, cfg.Transport)
	}
	r.stage = &stage{proxies: faults.NewClient(cfg.Toxiproxy, cfg.Transport), shop: r}
	return r
}

// ready refuses what could not be told to its end.
func (r *run) ready(ctx context.Context) error {
	for i, w := range r.witnesses {
		if err := w.ready(ctx, r.visitors(w)); err != nil && i > 0 {
			return fmt.Errorf("%w (-only-shop goes without it)", err)
		} else if err != nil {
			return err
		}
	}
	for service, inside := range r.inside {
		if err := inside.read(ctx); err != nil {
			return fmt.Errorf("the internal listener of %s does not answer (leave it out to go without): %w", service, err)
		}
		if inside.without != r.Without {
			return fmt.Errorf("%s runs without %q, the incident is to be played without %q (scripts/incident.sh restarts the shop for it)", service, inside.without, r.Without)
		}
	}
	if err := r.stage.ready(ctx, r.edges); err != nil {
		return err
	}
	return r.awaitWhole(ctx, r.witnesses[0])
}

// play tells the story while visitors come, and ends when all of it has ended and been mended.
func (r *run) play(ctx context.Context) error {
	if r.witnesses[0].internal == nil {
		r.say("the page's internal listener is not read: its breaker is not shown, and not every promise is judged. " + notReadAdvice)
	}
	r.began = time.Now()
	heart := pulse.Start()
	playing, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var others sync.WaitGroup
	for _, w := range r.witnesses {
		others.Go(func() {
			if err := r.receive(playing, w); err != nil {
				stop(err) // without visitors there is nothing to tell
			}
		})
		if w.internal != nil {
			others.Go(func() { w.internal.watch(playing) })
		}
	}
	for _, inside := range r.inside {
		if inside != r.witnesses[0].internal {
			others.Go(func() { inside.watch(playing) })
		}
	}
	others.Go(func() { r.speak(playing) })

	r.tell(playing, r.stage)
	r.count()
	r.stage.endPhase(time.Now())
	err := r.stage.cleanUp(ctx)
	stop(nil)
	others.Wait()
	r.pauses = heart.Stop()
	if ctx.Err() == nil { // being stopped is no error; the report says it
		err = errors.Join(r.stage.err, err)
	}
	if r.needs.books && ctx.Err() == nil {
		err = errors.Join(err, r.ledger.close(ctx, r.Books, r.began))
	}
	return err
}

// state is what was read last about a place; ok is false when that is no news any more, or nobody reads it.
func (r *run) state(p Place) (now reading, ok bool) { return r.inside[p.Service].now(p.Dependency) }
