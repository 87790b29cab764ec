package main

// oneDependency is everything about one dependency, of all who call it.
func oneDependency() dashboard {
	const which = `dependency=~"$dependency"`
	by := func(metric, more string) string {
		return `sum by (service, dependency` + more + `) (rate(` + metric + `{` + which + `}[$__rate_interval]))`
	}
	attempt := func(q string) string {
		return `histogram_quantile(` + q + `, sum by (le, service) (rate(dependency_attempt_duration_seconds_bucket{` + which + `}[$__rate_interval])))`
	}
	return dashboard{uid: "watertight-dependency", title: "One dependency",
		variables: []variable{{"dependency", "Dependency", "label_values(dependency_calls_total, dependency)"}},
		rows: []row{
			{"$dependency", 8, []panel{
				{"Breaker", "state-timeline", 12, "short", "Of each service that calls it.", 0, []query{{"{{service}} -> {{dependency}}", breakers("," + which)}}},
				chart("Calls by outcome", 12, "reqps", 0, "They add up to all calls.", query{"{{service}} {{outcome}}", by("dependency_calls_total", ", outcome")}),
				chart("One attempt", 12, "s", 0, "By the service that asks.", query{"p50 {{service}}", attempt("0.5")}, query{"p95 {{service}}", attempt("0.95")}, query{"p99 {{service}}", attempt("0.99")}),
				chart("Places", 12, "short", 0, "In use, and how many there are; an adaptive limit shows its saw teeth.",
					query{"in use {{service}}", `max by (service, dependency) (bulkhead_active_calls{` + which + `})`},
					query{"limit {{service}}", `max by (service, dependency) (bulkhead_max_concurrent{` + which + `})`}),
				chart("Refused for want of a place", 8, "reqps", 0, "", query{"{{service}} -> {{dependency}}", by("bulkhead_rejected_total", "")}),
				chart("Attempts", 8, "reqps", 0, "By how they ended.", query{"{{service}} {{outcome}}", by("retry_attempts_total", ", outcome")}),
				chart("What the breaker was told", 8, "reqps", 0, "Refused calls are not_permitted; callers who left are excluded.", query{"{{service}} {{result}}", by("circuit_breaker_calls_total", ", result")}),
			}},
		}}
}
