package load

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Summary is a whole run. Its JSON form is meant for scripts: latencies in milliseconds, shares from 0 to 1.
type Summary struct {
	Target    string             `json:"target"`
	Asked     int                `json:"asked_per_second"`
	Seconds   float64            `json:"seconds"`
	Seed      uint64             `json:"seed"`
	Requests  int                `json:"requests"` // that were answered or given up
	Full      ClassSummary       `json:"full"`
	Degraded  ClassSummary       `json:"degraded"`
	Parts     map[string]int     `json:"degraded_parts"` // pages without each part; a page can lack several
	Failed    ClassSummary       `json:"failed"`
	Causes    map[string]int     `json:"failed_causes"`
	Pages     map[Kind]PageCount `json:"pages"`
	Purchases Purchases          `json:"purchases"`
	CutShort  int                `json:"cut_short"` // still in flight when the run was stopped; in no other figure
}

// ClassSummary is one class of answers; the percentiles are of this class alone.
type ClassSummary struct {
	Count int     `json:"count"`
	Share float64 `json:"share"`
	P50   float64 `json:"p50_ms"`
	P95   float64 `json:"p95_ms"`
	P99   float64 `json:"p99_ms"`
	Max   float64 `json:"max_ms"`
}

// PageCount is one kind of page; P95 is of all its answers.
type PageCount struct {
	Full     int     `json:"full"`
	Degraded int     `json:"degraded"`
	Failed   int     `json:"failed"`
	P95      float64 `json:"p95_ms"`
}

func (t *tally) summary() Summary {
	s := Summary{
		Requests: t.all.count, Parts: t.parts, Causes: t.causes, Pages: make(map[Kind]PageCount),
		Full: t.class(Full), Degraded: t.class(Degraded), Failed: t.class(Failed),
	}
	for kind, k := range t.kinds {
		s.Pages[kind] = PageCount{k.classes[Full], k.classes[Degraded], k.classes[Failed], milliseconds(k.quantile(0.95))}
	}
	return s
}

func (t *tally) class(c Class) ClassSummary {
	l := &t.classes[c]
	return ClassSummary{
		Count: l.count, Share: float64(l.count) / float64(max(1, t.all.count)),
		P50: milliseconds(l.quantile(0.50)), P95: milliseconds(l.quantile(0.95)),
		P99: milliseconds(l.quantile(0.99)), Max: milliseconds(l.max),
	}
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Round(10*time.Microsecond)) / float64(time.Millisecond)
}

// Print writes the summary as tables for a person.
func (s Summary) Print(w io.Writer) {
	fmt.Fprintf(w, "\n%d requests to %s in %.1f s (%d/s asked, seed %d)\n\n", s.Requests, s.Target, s.Seconds, s.Asked, s.Seed)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "\tanswers\tshare\tp50\tp95\tp99\tmax\t")
	for _, c := range []struct {
		name string
		ClassSummary
	}{{"full", s.Full}, {"degraded", s.Degraded}, {"failed", s.Failed}} {
		fmt.Fprintf(tw, "%s\t%d\t%.1f %%\t", c.name, c.Count, 100*c.Share)
		if c.Count > 0 {
			fmt.Fprintf(tw, "%.0f ms\t%.0f ms\t%.0f ms\t%.0f ms\t", c.P50, c.P95, c.P99, c.Max)
		}
		fmt.Fprintln(tw)
	}
	tw.Flush()
	fmt.Fprintln(w)
	fmt.Fprintln(tw, "page\tfull\tdegraded\tfailed\tp95\t")
	for _, kind := range Kinds() {
		if p, ok := s.Pages[kind]; ok {
			fmt.Fprintf(tw, "%s\t%d\t%d\t%d\t%.0f ms\t\n", kind, p.Full, p.Degraded, p.Failed, p.P95)
		}
	}
	tw.Flush()
	fmt.Fprintln(w)
	if s.Purchases != (Purchases{}) {
		fmt.Fprintf(w, "purchases: %d placed, %d refused, %d unfinished\n", s.Purchases.Placed, s.Purchases.Refused, s.Purchases.Unfinished)
	}
	printCounts(w, "pages without", s.Parts)
	printCounts(w, "failed by", s.Causes)
	if s.CutShort > 0 {
		fmt.Fprintf(w, "not counted: %d still in flight when the run was stopped\n", s.CutShort)
	}
}

func printCounts(w io.Writer, title string, counts map[string]int) {
	if len(counts) == 0 {
		return
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, fmt.Sprintf("%s %d", name, counts[name]))
	}
	fmt.Fprintf(w, "%s: %s\n", title, strings.Join(list, ", "))
}
