package main

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/prometheus/common/model"
)

// pace is how much faster than in production time passes in the demo: an outage of five minutes is told in half a minute.
const pace = 10

const demoHeader = `# Generated from watertight.yml, with every duration divided by 10, for a demo whose incidents last half a minute. Do not edit;
# go generate ./deploy/instruments makes it anew.
`

// durations are everything that Prometheus would read as one, in windows, `for`, names and descriptions alike, so that all of
// them still agree afterwards. Prose writes its own with a space: 0.5 s.
var durations = regexp.MustCompile(`\d+[smhd]\b`)

// atDemoPace returns the rules with every duration divided by pace.
func atDemoPace(rules string) (string, error) {
	_, rules, found := strings.Cut(rules, "\ngroups:\n") // the comment above is about the production rules
	if !found {
		return "", fmt.Errorf("%s has no groups", productionRules)
	}
	var bad error
	fast := durations.ReplaceAllStringFunc(rules, func(text string) string {
		d, err := model.ParseDuration(text)
		if err == nil && time.Duration(d)%(pace*time.Second) != 0 {
			err = fmt.Errorf("%s is not a whole number of seconds when divided by %d", text, pace)
		}
		if err != nil {
			bad = err
		}
		return (d / pace).String()
	})
	return demoHeader + "groups:\n" + fast, bad
}
