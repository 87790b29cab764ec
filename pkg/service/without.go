package service

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"watertight.example/pkg/resilience"
)

// Pattern is a pattern that a service can be started without (RESILIENCE_WITHOUT), to see what breaks: article 1 says of its
// timeline "take any one of these out". It is for demonstrations; the service says so loudly at its start.
type Pattern string

// The patterns. Fallback and Idempotency are the services' own and theirs to leave out; the chassis leaves out the others.
const (
	Deadline    Pattern = "deadline"     // nobody's time is bounded or passed on: 30 s, as a client that somebody gave a timeout at all
	Bulkhead    Pattern = "bulkhead"     // any number of calls in flight, where the limit is a fixed one
	Limiter     Pattern = "limiter"      // an adaptive limit stays at its maximum
	Breaker     Pattern = "breaker"      // everything is always asked
	RetryBudget Pattern = "retry-budget" // every failure that may be retried is
	Hedging     Pattern = "hedge"        // no second attempt, unless the first has failed or was refused
	Fallback    Pattern = "fallback"     // what a part cannot give, the whole does not have
	Idempotency Pattern = "idempotency"  // an attempt does not say which intent it is of
)

// Patterns lists them.
func Patterns() []Pattern {
	return []Pattern{Deadline, Bulkhead, Limiter, Breaker, RetryBudget, Hedging, Fallback, Idempotency}
}

// UnmarshalText reads the name of a pattern, or nothing.
func (p *Pattern) UnmarshalText(text []byte) error {
	*p = Pattern(text)
	if *p == "" || slices.Contains(Patterns(), *p) {
		return nil
	}
	var names []string
	for _, known := range Patterns() {
		names = append(names, string(known))
	}
	return fmt.Errorf("want one of %s", strings.Join(names, ", "))
}

// boundless stands for no time limit at all: some end is needed, or a demonstration would never have one.
const boundless = 30 * time.Second

// manyRetries is a budget that no demonstration uses up.
const manyRetries = 1_000_000

// leaveOut takes the pattern out of a policy; what remains is still a valid one.
func (p Pattern) leaveOut(cfg resilience.Config) resilience.Config {
	switch p {
	case Deadline:
		cfg.Timeout = resilience.Timeout{Total: boundless * time.Duration(cfg.Retry.Max+1), Attempt: boundless}
		if cfg.Retry.Max > 0 {
			cfg.Timeout.Total += boundless // for the pauses
		}
		if cfg.Breaker != (resilience.Breaker{}) {
			cfg.Breaker.Window = 10 * boundless // it must hold ten attempts, or New refuses it: without deadlines a breaker is slow to see
		}
	case Bulkhead:
		cfg.Bulkhead = resilience.Bulkhead{}
	case Limiter:
		if a := cfg.Adaptive; a.Max > 0 {
			cfg.Adaptive, cfg.Bulkhead = resilience.Adaptive{}, resilience.Bulkhead{Max: a.Max, MaxWait: a.MaxWait}
		}
	case Breaker:
		cfg.Breaker = resilience.Breaker{}
	case RetryBudget:
		if cfg.Retry.Max > 0 {
			cfg.Retry.BudgetFloor = manyRetries
		}
	case Hedging:
		if cfg.Hedge.MaxRatio > 0 {
			cfg.Hedge.MaxRatio = 1e-12 // none of them, and the backup stays for what the first attempt is refused
		}
	}
	return cfg
}
