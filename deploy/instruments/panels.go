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
	return fmt.Sprintf(`(sum(rate(http_server_request_duration_seconds_count{service="%s",code=~"5..|499"}[$__rate_interval])) or 0 * %s) / (%s > 0)`, service, all, all)
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

func breakers(which string) string {
	return fmt.Sprintf(`2 * max by (service, dependency) (circuit_breaker_state{state="open"%[1]s}) + max by (service, dependency) (circuit_breaker_state{state="half_open"%[1]s})`, which)
}

func stat(title string, width int, unit string, limit float64, what, expr string) panel {
	return panel{title, "stat", width, unit, what, limit, []query{{"", expr}}}
}

func chart(title string, width int, unit string, limit float64, what string, queries ...query) panel {
	return panel{title, "timeseries", width, unit, what, limit, queries}
}
