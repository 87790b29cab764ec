package main

import "fmt"

// alertPair are the alerts that two sets of rules have for one thing.
type alertPair struct{ article, ours string }

// tried is a scenario with the alerts that it is about.
type tried struct {
	scenario
	alerts alertPair
}

func scenarios() (all []tried) {
	add := func(alerts alertPair, some []scenario) {
		for _, s := range some {
			all = append(all, tried{s, alerts})
		}
	}
	add(alertPair{"CircuitBreakerOpenRateHigh", "CircuitBreakerOpen"}, breakerScenarios())
	add(alertPair{"BulkheadSaturated", "BulkheadSaturated"}, bulkheadScenarios())
	add(alertPair{"RetryStormDetected", "RetryStormDetected"}, retryScenarios())
	return all
}

// of names a series of one replica that calls a dependency named stock.
func of(metric string, replica int, more ...string) string {
	name := fmt.Sprintf(`%s{dependency="stock",instance="%d"`, metric, replica)
	for _, label := range more {
		name += "," + label
	}
	return name + "}"
}

// replicas collects the series of n replicas.
func replicas(n int, one func(replica int) []series) (all []series) {
	for i := range n {
		all = append(all, one(i)...)
	}
	return all
}
