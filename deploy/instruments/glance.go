package main

// glance is the home page. Its first row says in five seconds: are customers hurt, how, and does the protection work?
func glance() dashboard {
	return dashboard{uid: "watertight", title: "Watertight at a glance", rows: []row{
		{"At a glance", 4, []panel{
			stat("Failed", 3, "percentunit", 0.001, "Errors, and customers who did not wait. The promise is 0.1 %.", failedShare("productpage")),
			statAtLeast("Whole pages", 3, "percentunit", 0.95, "Pages with all of their parts. Below 95 % it is an alert.", wholeShare("productpage")),
			stat("p99 of a product page", 3, "s", 0.5, "The page's budget is 500 ms.", pageQuantile(0.99, "productpage")),
			stat("Breakers open", 3, "short", 1, "Dependencies that somebody has stopped calling.", `sum(max by (service, dependency) (circuit_breaker_state{state="open"}))`),
			stat("Calls refused", 3, "reqps", 1, "For want of a place.", `sum(rate(bulkhead_rejected_total[$__rate_interval]))`),
			stat("Attempts repeated", 3, "percentunit", 0.3, "Above 30 % it is a storm.",
				`sum(rate(retry_attempts_total{outcome="retry"}[$__rate_interval])) / (sum(rate(retry_attempts_total[$__rate_interval])) > 0)`),
			stat("Alerts firing", 3, "short", 1, "See the timeline below.", `count(ALERTS{alertstate="firing"}) or 0 * count(up)`),
			stat("Processes away", 3, "short", 1, "Of all that are scraped.", `count(up) - sum(up)`),
		}},
		{"Incident", 8, []panel{
			timeline("Circuit breakers", 14, "Who has stopped calling whom, and since when.", query{"{{service}} -> {{dependency}}", breakers("")}),
			chart("Alerts", 10, "short", 0, "Those that fire; an empty chart is a good one.", query{"{{alertname}} {{service}} {{dependency}}", firing}),
		}},
		{"Customers", 8, []panel{
			chart("Answers by code", 8, "reqps", 0, "Of the product page's service.",
				query{"{{code}}", `sum by (code) (rate(http_server_request_duration_seconds_count{service="productpage",` + byRoute + `}[$__rate_interval]))`}),
			chart("Product page: how long", 8, "s", 0.5, "Dots are slow or degraded pages with their trace id.", quantiles("productpage")...),
			chart("Degraded answers", 8, "reqps", 0, "By what stands in for the missing part.",
				query{"{{route}} {{reason}}", `sum by (route, reason) (rate(degraded_responses_total{service="productpage"}[$__rate_interval]))`}),
		}},
		{"Dependencies", 8, []panel{
			chart("Calls that succeeded", 6, "reqps", 0, "What the chart beside it is to be compared with.",
				query{"{{service}} -> {{dependency}}", `sum by (service, dependency) (rate(dependency_calls_total{outcome="success"}[$__rate_interval]))`}),
			chart("Calls that were no success", 6, "reqps", 0, "By outcome: failure, timeout, slow, or refused and why.",
				query{"{{service}} -> {{dependency}} {{outcome}}", `sum by (service, dependency, outcome) (rate(dependency_calls_total{outcome!="success"}[$__rate_interval])) > 0`}),
			chart("One attempt, p95", 6, "s", 0, "The hedge's delay is made of it.", attemptQuantile(0.95)),
			chart("One attempt, p99", 6, "s", 0, "A flat top is the time that its attempts are given.", attemptQuantile(0.99)),
		}},
		{"Retries, hedges and limits", 8, []panel{
			chart("Attempts by how they ended", 8, "reqps", 0, "budget_denied says that the budget holds a storm back.",
				query{"{{outcome}}", `sum by (outcome) (rate(retry_attempts_total[$__rate_interval]))`}),
			chart("Attempts repeated", 8, "percentunit", 0.3, "Above the line it is a storm.", shareOf("retry_attempts_total", "retry")),
			chart("Retry budget left", 8, "short", 0, "Extra attempts still allowed.", query{"{{service}} -> {{dependency}}", `min by (service, dependency) (retry_budget_tokens)`}),
			chart("Hedges", 8, "reqps", 0, "By what became of the calls that have one.",
				query{"{{service}} {{outcome}}", `sum by (service, outcome) (rate(hedge_calls_total[$__rate_interval]))`}),
			chart("Calls hedged", 8, "percentunit", 0.05, "The line is the cap, over ten seconds.",
				shareOf("hedge_calls_total", "primary_won|backup_won|both_failed")),
			chart("Places in use", 8, "percentunit", 0.85, "Of the fullest replica; adaptive limits included.",
				query{"{{service}} -> {{dependency}}", `max by (service, dependency) (bulkhead_active_calls / bulkhead_max_concurrent)`}),
		}},
		{"Correctness", 8, []panel{
			chart("Orders and distinct keys", 6, "reqps", 0, "One order for each key at most, so the orders stay below; one that is finished late comes after its key.",
				query{"keys", `sum(rate(idempotency_requests_total{result="new"}[$__rate_interval]))`},
				query{"orders", `sum(rate(orders_outcomes_total{outcome="confirmed"}[$__rate_interval]))`}),
			chart("Idempotency keys", 6, "reqps", 0, "new, replayed, in flight, mismatched.", query{"{{result}}", `sum by (result) (rate(idempotency_requests_total[$__rate_interval]))`}),
			chart("Orders", 6, "reqps", 0, "How attempts to place one ended.", query{"{{outcome}}", `sum by (outcome) (rate(orders_outcomes_total[$__rate_interval]))`}),
			chart("Events waiting", 6, "short", 0, "Not delivered yet. Parked ones need a human.",
				query{"waiting {{kind}}", `max by (kind) (outbox_waiting_events)`}, query{"parked {{kind}}", `max by (kind) (outbox_parked_events)`}),
		}},
		{"Stores", 8, []panel{
			chart("Postgres connections in use", 8, "percentunit", 0.85, "Of each pool.", query{"{{service}} {{db}}", `max by (service, db) (pgxpool_acquired_conns / pgxpool_max_conns)`}),
			chart("Waiting for a Postgres connection", 8, "short", 0, "Seconds of waiting in each second: how many wait at a time.",
				query{"{{service}} {{db}}", `sum by (service, db) (rate(pgxpool_acquire_wait_seconds_total[$__rate_interval]))`}),
			chart("Gave up waiting for one", 8, "reqps", 0, "Their time was over before a connection came free.",
				query{"{{service}} {{db}}", `sum by (service, db) (rate(pgxpool_canceled_acquire_total[$__rate_interval]))`}),
			chart("New Postgres connections", 12, "reqps", 0, "Many: queries are cut off by their contexts, and each takes its connection along.",
				query{"{{service}} {{db}}", `sum by (service, db) (rate(pgxpool_new_conns_total[$__rate_interval]))`}),
			chart("Redis: waits and timeouts", 12, "reqps", 0, "For a connection of the pool.",
				query{"waits {{service}}", `sum by (service) (rate(redis_pool_waits_total[$__rate_interval]))`},
				query{"timeouts {{service}}", `sum by (service) (rate(redis_pool_timeouts_total[$__rate_interval]))`}),
		}},
		{"Runtime", 8, []panel{
			chart("Goroutines", 8, "short", 0, "Of a service without limits they climb as long as its dependency is slow.", query{"{{service}}", `sum by (service) (go_goroutines)`}),
			chart("Memory", 8, "bytes", 0, "Resident.", query{"{{service}}", `sum by (service) (process_resident_memory_bytes)`}),
			chart("CPU", 8, "percentunit", 0, "1 is a whole core.", query{"{{service}}", `sum by (service) (rate(process_cpu_seconds_total[$__rate_interval]))`}),
			chart("Heap, of the memory limit", 12, "percentunit", 0.9, "Of GOMEMLIMIT: near it the garbage collector takes the CPU.",
				query{"{{service}}", `max by (service) (go_memstats_heap_inuse_bytes / go_gc_gomemlimit_bytes)`}),
			chart("Open file descriptors", 12, "short", 0, "Mostly connections.", query{"{{service}}", `sum by (service) (process_open_fds)`}),
		}},
	}}
}
