package load

import (
	"context"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// grace is how long answers are still awaited after the run was stopped: enough for a healthy page, and well inside
// the 10 s that compose gives a container between SIGTERM and SIGKILL.
const grace = 2 * time.Second

// Run waits until the target is ready, as Await does, sends visitors until Duration is over or ctx ends, and reports. Stopping it is
// not an error: the summary holds what was seen. The error is about a Config that cannot be, or about ctx having
// ended before the target was ready. Memory is bounded by Rate x Timeout, however long it runs.
func Run(ctx context.Context, cfg Config) (Summary, error) {
	if err := cfg.Validate(); err != nil {
		return Summary{}, err
	}
	target, _ := parseTarget(cfg.Target, cfg.OwnHost)                 // Validate has looked at the error
	inFlight, abort := context.WithCancel(context.WithoutCancel(ctx)) // outlives ctx by the grace
	defer abort()
	client := newClient(inFlight, cfg)
	defer client.CloseIdleConnections()
	if err := await(ctx, client, cfg); err != nil {
		return Summary{}, err
	}

	shop := newShopper(target.String(), cfg.Mix, cfg.Seed)
	// Open-loop means that a slow shop never slows the visitors: there is a worker for every request that can be in
	// flight (rate x timeout, and some for vegeta's catching up after a hiccup). vegeta starts them when needed.
	workers := uint64(float64(cfg.Rate)*cfg.Timeout.Seconds()*1.5) + 20
	attacker := vegeta.NewAttacker(vegeta.Client(client), vegeta.Workers(1), vegeta.MaxWorkers(workers), vegeta.MaxBody(1<<20))
	began := time.Now()
	results := attacker.Attack(shop.next, vegeta.Rate{Freq: cfg.Rate, Per: time.Second}, cfg.Duration, "")
	defer context.AfterFunc(ctx, func() { attacker.Stop() })()

	total := collect(ctx, cfg, shop, results, began)
	s := total.summary()
	s.Target, s.Asked, s.Seed = target.String(), cfg.Rate, cfg.Seed
	s.Seconds = time.Since(began).Seconds()
	s.Purchases, s.CutShort = shop.report(), shop.inFlight()

	abort()
	for range results { // vegeta's workers wait until somebody has heard them: none is left behind
	}
	return s, nil
}

// collect settles results until there are no more, or until the grace after ctx's end is over.
func collect(ctx context.Context, cfg Config, shop *shopper, results <-chan *vegeta.Result, began time.Time) *tally {
	total, window := newTally(), newTally()
	var tick <-chan time.Time
	if cfg.Every > 0 && cfg.Progress != nil {
		ticker := time.NewTicker(cfg.Every)
		defer ticker.Stop()
		tick = ticker.C
	}
	stopped, giveUp := ctx.Done(), (<-chan time.Time)(nil)
	for {
		select {
		case res, ok := <-results:
			if !ok {
				return total
			}
			sample := shop.settle(res)
			total.add(sample)
			window.add(sample)
			if cfg.Observe != nil {
				cfg.Observe(sample)
			}
		case now := <-tick:
			cfg.Progress(window.window(began, now, cfg.Every, shop.inFlight()))
			window = newTally()
		case <-stopped:
			stopped, giveUp = nil, time.After(grace)
		case <-giveUp:
			return total
		}
	}
}
