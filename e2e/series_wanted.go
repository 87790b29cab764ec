//go:build e2e

package e2e

import (
	"slices"
	"strings"
	"testing"
)

// What follows is the whole set of metrics that alerts, dashboards and runbooks stand on. It is written down here a second time on
// purpose: whoever renames one has to look at those who read it.

// ofEveryService is what each of the five says of itself.
func ofEveryService() []series {
	return []series{
		of("http_server_request_duration_seconds_count", "code", "500"), of("http_server_request_duration_seconds_count", "code", "503"),
		of("http_server_active_requests"), of("http_server_invalid_timeouts_total"),
		of("http_server_panics_total", "route", "unmatched"), of("http_server_panics_total", "route", "/readyz"),
		of("build_info"), of("go_goroutines"), of("go_memstats_heap_inuse_bytes"), of("go_gc_gomemlimit_bytes"),
		of("process_cpu_seconds_total"), of("process_resident_memory_bytes"), of("process_open_fds"), of("process_max_fds"), of("process_start_time_seconds"),
	}
}

// itsOwn is what only this service counts.
func itsOwn(service string) (all []series) {
	switch service {
	case "productpage":
		for _, route := range []string{"/", "/products/{id}", "/checkout"} {
			all = append(all, each("degraded_responses_total", []string{"route", route}, "reason", "stale", "fallback_cache", "fallback_empty")...)
			all = append(all, each("http_server_request_duration_seconds_count", []string{"method", "GET", "route", route}, "code", "500", "503")...)
		}
	case "inventory":
		for _, operation := range []string{"reserve", "commit", "release", "restock"} {
			all = append(all, each("inventory_reservations_total", []string{"operation", operation}, "result", "moved", "replayed", "short", "refused", "failed")...)
		}
		all = append(all, each("inventory_sweeps_total", nil, "result", "committed", "released", "kept")...)
		all = append(all, each("inventory_snapshot_keys_total", nil, "result", "written", "kept", "failed", "dropped")...)
		all = append(all, of("inventory_replica_lag_seconds"))
	case "orders":
		all = append(all, each("idempotency_requests_total", nil, "result",
			"new", "taken_over", "replayed", "cached", "in_flight", "mismatch", "store_error", "canceled")...)
		all = append(all, each("orders_outcomes_total", nil, "outcome", "confirmed", "refused", "recalled", "released", "fenced", "unknown")...)
		for _, kind := range []string{"commit_reservation", "purchase", "restock"} {
			all = append(all, of("outbox_waiting_events", "kind", kind), of("outbox_parked_events", "kind", kind))
			all = append(all, each("outbox_events_total", []string{"kind", kind}, "result", "delivered", "retried", "parked")...)
		}
		all = append(all, of("orders_completed_total"), of("orders_cancelled_total"), of("orders_unreadable_total"))
	}
	return all
}

// ofItsStores is what it says of its pools of connections.
func ofItsStores(service string) (all []series) {
	for _, db := range map[string][]string{
		"productpage": {"catalogue"}, "recommendations": {"postgres"}, "pricing": {"postgres"}, "orders": {"postgres"},
		"inventory": {"postgres-primary", "postgres-primary-reads", "postgres-replica"},
	}[service] {
		for _, name := range []string{"acquired_conns", "idle_conns", "max_conns", "acquire_total", "empty_acquire_total", "canceled_acquire_total",
			"new_conns_total", "acquire_wait_seconds_total"} {
			all = append(all, of("pgxpool_"+name, "db", db))
		}
	}
	if db := map[string]string{"productpage": "snapshot", "inventory": "redis", "orders": "redis"}[service]; db != "" {
		for _, name := range []string{"hits_total", "misses_total", "timeouts_total", "waits_total", "stale_total", "total_conns", "idle_conns"} {
			all = append(all, of("redis_pool_"+name, "db", db))
		}
	}
	return all
}

// ofItsDependencies is what it says of each, by the layers that protect it.
func (s *Stack) ofItsDependencies(t testing.TB, service string) (all []series) {
	t.Helper()
	var page struct {
		Dependencies []struct {
			Name       string
			State      struct{ Limit int }
			HasBreaker bool `json:"has_breaker"`
			HasBudget  bool `json:"has_budget"`
			Policy     string
		}
	}
	getJSON(t, s.Internal(service)+"/resilience", &page)
	if len(page.Dependencies) == 0 {
		t.Errorf("%s has no dependencies", service)
	}
	for _, d := range page.Dependencies {
		all = append(all, ofCalls(d.Name)...)
		if d.HasBreaker {
			all = append(all, ofBreaker(d.Name)...)
		}
		if d.State.Limit > 0 {
			all = append(all, of("bulkhead_active_calls", "dependency", d.Name), of("bulkhead_max_concurrent", "dependency", d.Name))
		}
		if strings.Contains(d.Policy, "adaptive, ") {
			all = append(all, ofAdaptiveLimit(d.Name)...)
		}
		if d.HasBudget {
			all = append(all, of("retry_budget_tokens", "dependency", d.Name))
		}
		if !strings.Contains(d.Policy, "hedge     none") {
			all = append(all, each("hedge_calls_total", []string{"dependency", d.Name}, "outcome",
				"not_needed", "primary_won", "hedge_won", "both_failed", "suppressed")...)
		}
	}
	return all
}

func ofCalls(name string) []series {
	dependency := []string{"dependency", name}
	return slices.Concat(
		each("dependency_calls_total", dependency, "outcome", "success", "slow", "failure", "timeout", "canceled",
			"rejected_open", "rejected_half_open", "rejected_limit", "rejected_budget", "rejected_deadline"),
		each("retry_attempts_total", dependency, "outcome", "success", "retry", "exhausted", "not_retryable", "budget_denied"),
		[]series{
			of("dependency_call_duration_seconds_count", "dependency", name, "outcome", "success"),
			of("dependency_attempt_duration_seconds_count", dependency...), of("bulkhead_rejected_total", dependency...),
		})
}

func ofBreaker(name string) []series {
	dependency := []string{"dependency", name}
	changed := func(from, to string) series {
		return of("circuit_breaker_state_changes_total", "dependency", name, "from_state", from, "to_state", to)
	}
	return slices.Concat(
		each("circuit_breaker_state", dependency, "state", "closed", "open", "half_open"),
		each("circuit_breaker_calls_total", dependency, "result", "success", "slow", "failure", "excluded", "not_permitted"),
		[]series{
			changed("closed", "open"), changed("open", "half_open"), changed("half_open", "closed"), changed("half_open", "open"),
			of("circuit_breaker_held", dependency...),
		})
}

func ofAdaptiveLimit(name string) []series {
	dependency := []string{"dependency", name}
	return append(each("adaptive_limit_changes_total", dependency, "direction", "up", "down"),
		of("adaptive_limit", dependency...), of("adaptive_limit_inflight", dependency...), of("adaptive_limit_min_rtt_seconds", dependency...))
}
