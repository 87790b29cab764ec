package main

// oneDependency is everything about one dependency, of all who call it.
func oneDependency() dashboard {
	const (
		which = `dependency=~"$dependency"`
		who   = "{{service}} -> {{dependency}}"
	)
	by := func(metric, more string) string {
		return `sum by (service, dependency` + more + `) (rate(` + metric + `{` + which + `}[$__rate_interval]))`
	}
	fullest := func(gauge string) string { return `max by (service, dependency) (` + gauge + `{` + which + `})` }
	attempt := func(q string) string {
		return `histogram_quantile(` + q + `, sum by (le, service) (rate(dependency_attempt_duration_seconds_bucket{` + which + `}[$__rate_interval])))`
	}
	return dashboard{uid: "watertight-dependency", title: "One dependency",
		variables: []variable{{"dependency", "Dependency", "label_values(dependency_calls_total, dependency)"}},
		rows: []row{
			{"$dependency: the breaker", 8, []panel{
				timeline("Breaker", 12, "Of each service that calls it.", query{who, breakers("," + which)}),
				chart("Open on how many replicas", 6, "short", 0, "Of how many there are.",
					query{"open " + who, `sum by (service, dependency) (circuit_breaker_state{state="open",` + which + `})`},
					query{"of " + who, `count by (service, dependency) (circuit_breaker_state{state="open",` + which + `})`}),
				chart("What the breaker was told", 6, "reqps", 0, "Refused calls are not_permitted; callers who left are excluded.", query{"{{service}} {{result}}", by("circuit_breaker_calls_total", ", result")}),
			}},
			{"Calls", 8, []panel{
				chart("Calls by outcome", 8, "reqps", 0, "They add up to all calls.", query{"{{service}} {{outcome}}", by("dependency_calls_total", ", outcome")}),
				chart("Attempts", 8, "reqps", 0, "By how they ended.", query{"{{service}} {{outcome}}", by("retry_attempts_total", ", outcome")}),
				chart("One attempt", 8, "s", 0, "By the service that asks.", query{"p50 {{service}}", attempt("0.5")}, query{"p95 {{service}}", attempt("0.95")}, query{"p99 {{service}}", attempt("0.99")}),
			}},
			{"Places", 8, []panel{
				chart("Places", 12, "short", 0, "In use, and how many there are.",
					query{"in use " + who, fullest("bulkhead_active_calls")}, query{"limit " + who, fullest("bulkhead_max_concurrent")}),
				chart("Refused for want of a place", 12, "reqps", 0, "", query{who, by("bulkhead_rejected_total", "")}),
			}},
			{"Adaptive limit (a dependency with a fixed one has none of this)", 8, []panel{
				chart("Limit", 8, "short", 0, "Of the replica with the lowest: it shows its saw teeth.", query{who, `min by (service, dependency) (adaptive_limit{` + which + `})`}),
				chart("Usual latency", 8, "s", 0, "What the limit compares with; 0 until it has seen enough.", query{who, fullest("adaptive_limit_min_rtt_seconds")}),
				chart("Changes", 8, "ops", 0, "Up and down in turn is usual; down alone is a collapse.", query{"{{service}} {{direction}}", by("adaptive_limit_changes_total", ", direction")}),
			}},
		}}
}
