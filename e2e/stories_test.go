//go:build e2e && soak

package e2e

import "testing"

// TestTheOutageAtItsUsualSpeed is what make incident NAME=outage plays. It costs about three minutes.
func TestTheOutageAtItsUsualSpeed(t *testing.T) { playStory(t, "outage", 10) }

// TestARetryStormStaysWithinItsBudget costs about half a minute.
func TestARetryStormStaysWithinItsBudget(t *testing.T) { playStory(t, "retry-storm", 24) }

// TestRedisIsLostWhileItIsNeeded costs about three quarters of a minute.
func TestRedisIsLostWhileItIsNeeded(t *testing.T) { playStory(t, "redis-loss", 20) }

// TestKilledInTheMiddleOfTheOutage costs about a minute.
func TestKilledInTheMiddleOfTheOutage(t *testing.T) { playStory(t, "casualties", 15) }

// TestEverythingRestarts costs about a minute.
func TestEverythingRestarts(t *testing.T) { playStory(t, "restart-all", 15) }
