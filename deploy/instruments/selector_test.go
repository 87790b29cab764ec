package main

import (
	"slices"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// selector is a metric as a query asks for it.
type selector struct {
	name     string
	matchers []*labels.Matcher
	path     []parser.Node // from the whole query down to it
}

// selectors parses the query with Prometheus's own parser, of the version that the stack runs.
func selectors(t *testing.T, query string) (found []selector) {
	t.Helper()
	expr, err := parser.ParseExpr(query)
	if err != nil {
		t.Errorf("%s: %v", query, err)
		return nil
	}
	parser.Inspect(expr, func(node parser.Node, path []parser.Node) error {
		if v, ok := node.(*parser.VectorSelector); ok {
			found = append(found, selector{v.Name, v.LabelMatchers, slices.Clone(path)})
		}
		return nil
	})
	return found
}

func (s selector) inside(functions ...string) bool {
	return slices.ContainsFunc(s.path, func(n parser.Node) bool {
		call, ok := n.(*parser.Call)
		return ok && slices.Contains(functions, call.Func.Name)
	})
}

// groupedBy gives the labels that the query around s adds up or matches by.
func (s selector) groupedBy() (names []string) {
	for _, node := range s.path {
		switch n := node.(type) {
		case *parser.AggregateExpr:
			names = append(names, n.Grouping...)
		case *parser.BinaryExpr:
			if n.VectorMatching != nil { // nil: one side is a number
				names = append(names, n.VectorMatching.MatchingLabels...)
			}
		}
	}
	return names
}
