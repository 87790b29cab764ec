package service

import (
	"context"
	"log/slog"
	"strings"

	"watertight.example/pkg/resilience"
)

// Dependency makes a [resilience.Dependency] whose calls, attempts and breaker are measured and logged, and which is closed at
// the stop. An impossible Config is an error that names every problem, and Run refuses to start with a Timeout.Total longer than any
// request may take. Its table of numbers is logged, line by line. Without a Classify of its own it gets [Classify].
func (s *Service) Dependency(name string, cfg resilience.Config) (*resilience.Dependency, error) {
	if cfg.Classify == nil {
		cfg.Classify = Classify
	}
	cfg = s.base.Without.leaveOut(cfg)
	kept := &dependency{cfg: cfg}
	d, err := resilience.New(name, cfg, &dependencyObserver{kept: kept, series: s.calls.prepare(name, kept), traces: s.traces, log: s.Log})
	if err != nil {
		return nil, err
	}
	kept.Dependency = d
	s.calls.state.add(kept)
	s.dependencies = append(s.dependencies, kept)
	s.OnStop("dependency "+name, func(context.Context) error { d.Close(); return nil })
	s.Log.Info("dependency", "dependency", name, "policy", strings.Split(strings.TrimSpace(d.Describe()), "\n")[1:])
	return d, nil
}

// checkBudgets says whether a dependency would outlast every request. It is asked when the routes are known. A worker that needs longer
// leaves Total at 0 and brings a deadline.
func (s *Service) checkBudgets() error {
	if s.base.Without == Deadline {
		return nil
	}
	var all []*resilience.Dependency
	for _, d := range s.dependencies {
		all = append(all, d.Dependency)
	}
	return resilience.CheckBudget("the longest request", s.longestRequest(), all...)
}

// dependencyObserver turns the events of one dependency into metrics and spans, and a breaker's transitions into one log line each.
type dependencyObserver struct {
	kept   *dependency
	series *dependencySeries
	traces *traces
	log    *slog.Logger
}

func (o *dependencyObserver) OnCallStart(ctx context.Context, dependency string) context.Context {
	return o.traces.call(ctx, dependency)
}

func (o *dependencyObserver) OnCall(ctx context.Context, e resilience.CallEvent) {
	o.series.call(e)
	o.traces.called(ctx, e)
}

func (o *dependencyObserver) OnAttempt(ctx context.Context, dependency string, number int) context.Context {
	return o.traces.attempt(ctx, dependency, number)
}

func (o *dependencyObserver) OnAttemptDone(ctx context.Context, e resilience.AttemptEvent) {
	o.series.attempted(e)
	o.traces.attempted(ctx, e)
}

func (o *dependencyObserver) OnTransition(e resilience.TransitionEvent) {
	o.series.transition(e)
	o.kept.remember(e)
	level := slog.LevelInfo
	if e.To == resilience.BreakerOpen {
		level = slog.LevelWarn
	}
	o.log.Log(context.Background(), level, "circuit breaker", "dependency", e.Dependency, "from", e.From, "to", e.To,
		"reason", e.Reason, "calls", e.Calls, "failures", e.Failures, "slow", e.Slow)
}
