//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"testing"
)

// query asks the stack's Prometheus and gives one line for each series of the answer: its labels and its value. It fails the test
// when Prometheus does not understand the query.
func (s *Stack) query(t testing.TB, query string) (series []string) {
	t.Helper()
	resp, err := http.Get(s.Prometheus() + "/api/v1/query?query=" + url.QueryEscape(query))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer struct {
		Error string
		Data  struct {
			Result []struct {
				Metric map[string]string
				Value  [2]any
			}
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	if answer.Error != "" {
		t.Fatalf("%s: %s", query, answer.Error)
	}
	for _, r := range answer.Data.Result {
		series = append(series, fmt.Sprintf("%v = %v", r.Metric, r.Value[1]))
	}
	return series
}
