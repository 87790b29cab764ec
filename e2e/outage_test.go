//go:build e2e

package e2e

import "testing"

// TestTheOutage is article 1's thirty minutes in one: all three acts, with waits that are just long enough to judge them by; timeouts,
// open periods and ages are real. The incident judges every promise itself (demo/incident), and here all of them must have been measured
// and kept.
func TestTheOutage(t *testing.T) { playStory(t, "outage", 40) }
