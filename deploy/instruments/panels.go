package main

import "fmt"

// The queries that more than one dashboard asks. $__rate_interval is four scrapes or more, so a rate is never empty.
const (
	byRoute     = `route!~"/healthz|/readyz|/static/.*"`
	productPage = `route="/products/{id}"`
)

func pages(service string) string {
	return fmt.Sprintf(`sum(rate(http_server_request_duration_seconds_count{service="%s",%s}[$__rate_interval]))`, service, byRoute)
}

// failedShare is of all requests. Zero times their rate stands in where nothing has failed yet; with no requests there is no answer.
func failedShare(service string) string {
	all := pages(service)
	return fmt.Sprintf(`(sum(rate(http_server_request_duration_seconds_count{service="%s",code=~"5..|499",%s}[$__rate_interval])) or 0 * %s) / (%s > 0)`, service, byRoute, all, all)
}

func wholeShare(service string) string {
	return fmt.Sprintf(`1 - sum(rate(degraded_responses_total{service="%s"}[$__rate_interval])) / (%s > 0)`, service, pages(service))
}

func pageQuantile(q float64, service string) string {
	return fmt.Sprintf(`histogram_quantile(%g, sum by (le) (rate(http_server_request_duration_seconds_bucket{service="%s",%s}[$__rate_interval])))`, q, service, productPage)
}

func quantiles(service string) []query {
	return []query{{"p50", pageQuantile(0.5, service)}, {"p95", pageQuantile(0.95, service)}, {"p99", pageQuantile(0.99, service)}}
}

// attemptQuantile is of single attempts, by who asks whom.
func attemptQuantile(q float64) query {
	return query{"{{service}} -> {{dependency}}",
		fmt.Sprintf(`histogram_quantile(%g, sum by (le, service, dependency) (rate(dependency_attempt_duration_seconds_bucket[$__rate_interval])))`, q)}
}

// shareOf is the share of a counter's series with these outcomes in all of them.
func shareOf(counter, outcomes string) query {
	return query{"{{service}} -> {{dependency}}", fmt.Sprintf(`sum by (service, dependency) (rate(%[1]s{outcome=~"%[2]s"}[$__rate_interval]))`+
		` / (sum by (service, dependency) (rate(%[1]s[$__rate_interval])) > 0)`, counter, outcomes)}
}

func breakers(which string) string {
	return fmt.Sprintf(`2 * max by (service, dependency) (circuit_breaker_state{state="open"%[1]s}) + max by (service, dependency) (circuit_breaker_state{state="half_open"%[1]s})`, which)
}

func stat(title string, width int, unit string, limit float64, what, expr string) panel {
	return panel{title: title, kind: "stat", width: width, unit: unit, what: what, limit: limit, queries: []query{{"", expr}}}
}

// statAtLeast is red below the limit.
func statAtLeast(title string, width int, unit string, limit float64, what, expr string) panel {
	p := stat(title, width, unit, limit, what, expr)
	p.atLeast = true
	return p
}

func timeline(title string, width int, what string, q query) panel {
	return panel{title: title, kind: "state-timeline", width: width, unit: "short", what: what, queries: []query{q}}
}

func chart(title string, width int, unit string, limit float64, what string, queries ...query) panel {
	return panel{title: title, kind: "timeseries", width: width, unit: unit, what: what, limit: limit, queries: queries}
}
