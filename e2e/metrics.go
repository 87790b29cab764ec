//go:build e2e

package e2e

import (
	"bufio"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// services are the five, in the order of a customer's request.
var services = []string{"productpage", "recommendations", "inventory", "pricing", "orders"}

// stores are what they keep their state in.
var stores = []string{"postgres", "postgres-recommendations", "postgres-inventory", "postgres-inventory-replica", "redis"}

// sum adds up every series of the metric on the service's own /metrics page
// whose text contains all of the given label pairs.
func (s *Stack) sum(t testing.TB, service, metric string, labels ...string) (total float64) {
	t.Helper()
	s.eachLine(t, service, func(line string) {
		name, _, _ := strings.Cut(line, " ")
		base, _, _ := strings.Cut(name, "{")
		if base != metric || slices.ContainsFunc(labels, func(label string) bool { return !strings.Contains(line, label) }) {
			return
		}
		v, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
		if err != nil {
			t.Fatalf("%s: %q: %v", service, line, err)
		}
		total += v
	})
	return total
}

// eachLine reads a service's own /metrics page.
func (s *Stack) eachLine(t testing.TB, service string, do func(line string)) {
	t.Helper()
	resp, err := http.Get(s.Internal(service) + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(io.LimitReader(resp.Body, 8<<20))
	for lines.Scan() {
		do(lines.Text())
	}
	if err := lines.Err(); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: /metrics: %s %v", service, resp.Status, err)
	}
}

// breakerOpenings counts how often any breaker of any service has opened since
// the processes started.
func (s *Stack) breakerOpenings(t testing.TB) (n float64) {
	t.Helper()
	for _, service := range services {
		n += s.sum(t, service, "circuit_breaker_state_changes_total", `to_state="open"`)
	}
	return n
}

func (s *Stack) noBreakerOpened(t testing.TB) {
	t.Helper()
	for _, service := range services {
		if n := s.sum(t, service, "circuit_breaker_state_changes_total", `to_state="open"`); n != 0 {
			t.Errorf("%s: breakers opened %v times", service, n)
		}
	}
}

// memory is each service's resident memory in bytes.
func (s *Stack) memory(t testing.TB) map[string]float64 {
	t.Helper()
	m := map[string]float64{}
	for _, service := range services {
		m[service] = s.sum(t, service, "process_resident_memory_bytes")
	}
	return m
}

// memoryIsFlat fails when a service has grown by more than 12 MiB: a leak of one kilobyte a request is 15 MB in ten minutes
// at 25/s; without one it was 2 to 5 MiB, the heap's own breathing.
func (s *Stack) memoryIsFlat(t testing.TB, before map[string]float64) {
	t.Helper()
	for service, now := range s.memory(t) {
		grown := now - before[service]
		t.Logf("%-16s %5.1f MiB, %+.1f MiB", service, now/(1<<20), grown/(1<<20))
		if grown > 12<<20 {
			t.Errorf("%s grew by %.1f MiB", service, grown/(1<<20))
		}
	}
}
