//go:build e2e

package e2e

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// series is one line of a scrape, or what is wanted of one.
type series struct {
	name   string
	labels map[string]string
}

// of is the series with these labels, given as name, value, name, value.
func of(name string, labels ...string) series {
	one := series{name, map[string]string{}}
	for pair := range slices.Chunk(labels, 2) {
		one.labels[pair[0]] = pair[1]
	}
	return one
}

// each is a series for each value of its last label.
func each(name string, labels []string, last string, values ...string) (all []series) {
	for _, value := range values {
		all = append(all, of(name, slices.Concat(labels, []string{last, value})...))
	}
	return all
}

// matches says whether there has all of the labels.
func (want series) matches(there series) bool {
	for label, value := range want.labels {
		if there.labels[label] != value {
			return false
		}
	}
	return there.name == want.name
}

func (want series) String() string {
	var pairs []string
	for _, label := range slices.Sorted(maps.Keys(want.labels)) {
		pairs = append(pairs, fmt.Sprintf("%s=%q", label, want.labels[label]))
	}
	return want.name + "{" + strings.Join(pairs, ",") + "}"
}

// scrape is what a service's /metrics says now.
func (s *Stack) scrape(t testing.TB, service string) (all []series) {
	t.Helper()
	label := regexp.MustCompile(`(\w+)="((?:[^"\\]|\\.)*)"`)
	s.eachLine(t, service, func(line string) {
		if line == "" || line[0] == '#' {
			return
		}
		one := of(line[:strings.IndexAny(line, "{ ")])
		for _, pair := range label.FindAllStringSubmatch(line, -1) {
			one.labels[pair[1]] = pair[2]
		}
		all = append(all, one)
	})
	return all
}

// lines counts all of them, comments too: it is what a scrape has to read.
func (s *Stack) lines(t testing.TB, service string) (n int) {
	t.Helper()
	s.eachLine(t, service, func(string) { n++ })
	return n
}

// bounded says whether a label's value is one of a set that no stranger can add to.
func bounded(label, value string) bool {
	switch label {
	case "method":
		return slices.Contains([]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "_OTHER"}, value)
	case "code":
		return len(value) == 3 && strings.Contains("12345", value[:1])
	case "route":
		return !strings.Contains(value, "stranger")
	case "le", "quantile", "version", "revision", "goversion":
		return true // as many as the binary has
	case "service", "dependency", "db", "state", "from_state", "to_state", "outcome", "result", "reason", "direction", "kind", "operation", "cause":
		return regexp.MustCompile(`^[a-z][a-z_-]*$`).MatchString(value)
	}
	return false
}
