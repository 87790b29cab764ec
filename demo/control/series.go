package control

import (
	"math"
	"slices"
	"time"
)

const (
	shown   = 2 * time.Minute // what a chart shows
	width   = 5 * time.Second // of the time each point is computed from: 4 visitors a second make 20, enough for a p95
	tooLong = 2 * time.Second // to wait for a page: whoever still waits then counts as not served
)

// visit is one request of the room's own: answered, or still waiting, with the time that has passed.
type visit struct {
	At                        time.Time
	Latency                   time.Duration
	Failed, Degraded, Waiting bool
	Parts                     []string // that a degraded page lacked
}

// Point is what the visitors of the five seconds before At got. Shares are from 0 to 1, of all of them.
type Point struct {
	At       int64   `json:"at"` // Unix seconds
	Visits   int     `json:"visits"`
	P50      float64 `json:"p50_ms"` // of all, also of those who still wait, with their time so far
	P95      float64 `json:"p95_ms"`
	Unserved float64 `json:"unserved"` // an error, or no answer after 2 s
	Degraded float64 `json:"degraded"`
}

// series computes a point per second. Visits belong to the second they were sent in: where a wait began is where it shows.
func series(visits []visit, now time.Time) []Point {
	end := now.Truncate(time.Second).Add(-tooLong) // so that everybody in it has had that long
	points := []Point{}                            // null is no list for the page
	for at := end.Add(-shown); !at.After(end); at = at.Add(time.Second) {
		if p, ok := point(visits, at); ok {
			points = append(points, p)
		}
	}
	return points
}

func point(visits []visit, at time.Time) (Point, bool) {
	var latencies []time.Duration
	unserved, degraded := 0, 0
	for _, v := range visits {
		if v.At.Before(at.Add(-width)) || !v.At.Before(at) {
			continue
		}
		latencies = append(latencies, v.Latency)
		if v.Failed || v.Latency > tooLong {
			unserved++
		} else if v.Degraded {
			degraded++
		}
	}
	n := len(latencies)
	if n == 0 {
		return Point{}, false
	}
	slices.Sort(latencies)
	share := func(part int) float64 { return math.Round(1000*float64(part)/float64(n)) / 1000 }
	return Point{at.Unix(), n, millis(quantile(latencies, 0.50)), millis(quantile(latencies, 0.95)), share(unserved), share(degraded)}, true
}

// quantile of sorted durations: the smallest that at least the share q did not exceed.
func quantile(sorted []time.Duration, q float64) time.Duration {
	rank := int(math.Ceil(q*float64(len(sorted)) - 1e-9)) // 0.95 is a little less or more than it says
	return sorted[max(rank, 1)-1]
}

func millis(d time.Duration) float64 {
	return float64(d.Round(100*time.Microsecond)) / float64(time.Millisecond)
}

// Page is how one product page is doing.
type Page struct {
	Now     Point    `json:"now"`
	Series  []Point  `json:"series"`
	Waiting int      `json:"waiting"`   // without an answer now
	Longest float64  `json:"longest_s"` // how long the first of them has waited
	Lacks   []string `json:"lacks"`     // parts missing from pages of the last five seconds
	Shot    Shot     `json:"shot"`
	Public  string   `json:"public,omitempty"`
}

func newPage(visits []visit, now time.Time) Page {
	p := Page{Series: series(visits, now), Lacks: []string{}}
	if n := len(p.Series); n > 0 {
		p.Now = p.Series[n-1]
	}
	for _, v := range visits {
		if v.Waiting {
			p.Waiting++
			p.Longest = max(p.Longest, v.Latency.Round(100*time.Millisecond).Seconds())
		}
		for _, part := range v.Parts {
			if v.At.After(now.Add(-width-tooLong)) && !slices.Contains(p.Lacks, part) {
				p.Lacks = append(p.Lacks, part)
			}
		}
	}
	slices.Sort(p.Lacks)
	return p
}
