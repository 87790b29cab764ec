package main

import "time"

// retryScenarios: the article's rule divides retry_attempts_total{outcome="retry"} by retry_attempts_total. Prometheus matches series
// with equal labels, so the retries are divided by themselves, and whatever their share is, the answer is 1.
func retryScenarios() []scenario {
	const minutes = time.Minute
	return []scenario{
		{"P20", "1,000 calls a second and one retry in the hour", attempts(0, 1000, func(t time.Duration) float64 {
			if t < onset {
				return 0
			}
			return 1
		}), 1, 0, 0},
		{"P21", "0.0017 % retried", attempts(0, 1000, perSecond(0.017)), 1, 0, 0},
		{"P22", "29 % retried", attempts(0, 71, perSecond(29)), 1, 0, 0},
		{"P23", "60 % retried", attempts(0, 40, perSecond(60)), 1, 1, 6 * minutes},
		{"P24", "no retries", attempts(0, 100, func(time.Duration) float64 { return 0 }), 0, 0, 0},
		{"P25", "60 % retried on 20 replicas", replicas(20, func(i int) []series { return attempts(i, 40, perSecond(60)) }), 20, 1, 6 * minutes},
		{"P26", "nearly idle: a call every ten seconds, and half of the attempts retried", attempts(0, 0.1, perSecond(0.1)), 1, 0, 0},
	}
}

func attempts(replica int, successes float64, retries func(time.Duration) float64) []series {
	return []series{
		{of("retry_attempts_total", replica, `outcome="success"`), func(t time.Duration) float64 { return successes * t.Seconds() }},
		{of("retry_attempts_total", replica, `outcome="retry"`), retries},
	}
}
