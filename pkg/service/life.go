package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// stopTimeout bounds what comes after the servers are closed: workers, then each step of the stop. With the defaults of
// DRAIN_DELAY and SHUTDOWN_TIMEOUT the whole stop fits into the 10 s docker grants.
const stopTimeout = time.Second

// life is a running service: its servers and background goroutines.
type life struct {
	*Service
	public, internal *http.Server
	failed           chan error // a listener broke

	background sync.WaitGroup
	endStartup context.CancelFunc
	endWorkers context.CancelFunc
}

// live serves on the two listeners until ctx ends or one of them breaks, and then drains.
func (s *Service) live(ctx context.Context, public, internal net.Listener) error {
	l := &life{Service: s, failed: make(chan error, 2), public: newServer(s.root, s.Log), internal: newServer(s.internalHandler(), s.Log)}
	s.Log.Info("listening", "public", public.Addr().String(), "internal", internal.Addr().String())
	l.background.Go(func() { l.serve(l.public, public) })
	l.background.Go(func() { l.serve(l.internal, internal) })

	var startup, workers context.Context
	startup, l.endStartup = context.WithCancel(ctx)
	workers, l.endWorkers = context.WithCancel(context.WithoutCancel(ctx)) // they end in the drain, later than ctx
	l.background.Go(func() { l.start(startup, workers) })

	select {
	case <-ctx.Done():
		return l.drain()
	case err := <-l.failed:
		return errors.Join(fmt.Errorf("listener: %w", err), l.drain())
	}
}

// serve answers requests until the server is closed; any other end is reported.
func (l *life) serve(server *http.Server, on net.Listener) {
	if err := server.Serve(on); !errors.Is(err, http.ErrServerClosed) {
		l.failed <- err
	}
}

// start runs the start-up tasks in order, opens the gate, and then starts the workers.
func (l *life) start(ctx, workers context.Context) {
	for _, t := range l.startup {
		begin := time.Now()
		if err := keepTrying(ctx, l.Log, slog.LevelWarn, "waiting", t); err != nil {
			return
		}
		l.health.done(t.name)
		l.Log.Info("started", "task", t.name, "ms", milliseconds(time.Since(begin)))
	}
	l.health.started.Store(true)
	for _, t := range l.workers {
		l.background.Go(func() { _ = keepTrying(workers, l.Log, slog.LevelError, "worker failed", t) })
	}
	l.health.waitingFor() // the first round of checks: logs "ready", or why not
}

// drain ends the service so that no accepted request is lost. Its order is the point: clients and load balancers must have
// turned away before the port closes, and what requests need must outlive them.
func (l *life) drain() error {
	l.Log.Info("draining", "delay", l.base.DrainDelay.String(), "timeout", l.base.ShutdownTimeout.String())
	l.draining.Store(true) // /readyz 503, Connection: close
	l.endStartup()
	time.Sleep(l.base.DrainDelay)
	err := l.closePublic()
	l.endWorkers()
	err = errors.Join(err, l.internal.Close()) // metrics stayed readable until here
	err = errors.Join(err, l.waitBackground(), l.runStops())
	if err != nil {
		l.Log.Warn("stopped", "error", err)
		return err
	}
	l.Log.Info("stopped")
	return nil
}

// closePublic takes no new connections, waits for the requests in flight, and cuts off those that take too long.
func (l *life) closePublic() error {
	ctx, cancel := context.WithTimeout(context.Background(), l.base.ShutdownTimeout)
	defer cancel()
	if err := l.public.Shutdown(ctx); err != nil {
		l.Log.Warn("cut off", "after", l.base.ShutdownTimeout.String())
		return errors.Join(fmt.Errorf("requests still running after %v were cut off", l.base.ShutdownTimeout), l.public.Close())
	}
	return nil
}

func (l *life) waitBackground() error {
	return within(stopTimeout, "workers", func(context.Context) error { l.background.Wait(); return nil })
}

// runStops runs the steps of the stop, the last registered first: a pool that was made early is closed late.
func (s *Service) runStops() error {
	var errs []error
	for _, t := range slices.Backward(s.stops) {
		if err := within(stopTimeout, t.name, t.run); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// within gives f its time and then goes on without it: one step that hangs must not keep the next from its turn.
func within(d time.Duration, name string, f func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- guarded(ctx, f) }()
	select {
	case err := <-done:
		if err != nil {
			return fmt.Errorf("stop %s: %w", name, err)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop %s: not done after %v", name, d)
	}
}
