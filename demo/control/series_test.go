package control

import (
	"testing"
	"time"
)

func TestPoints(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	asked := now
	ago := func(seconds float64) time.Time { return asked.Add(-time.Duration(seconds * float64(time.Second))) }
	now = now.Add(tooLong) // a point is made when everybody in it has had that long
	visits := []visit{
		{At: ago(6), Latency: time.Second, Failed: true}, // older than the point looks back
		{At: ago(4), Latency: 10 * time.Millisecond},
		{At: ago(3), Latency: 20 * time.Millisecond, Degraded: true, Parts: []string{"stock"}},
		{At: ago(2), Latency: 40 * time.Millisecond, Failed: true},
		{At: ago(2.5), Latency: 4500 * time.Millisecond, Waiting: true},
	}
	p := newPage(visits, now)
	if want := (Point{1_000_000, 4, 20, 4500, 0.5, 0.25}); p.Now != want {
		t.Errorf("now %+v, want %+v", p.Now, want)
	}
	if p.Waiting != 1 || p.Longest != 4.5 || len(p.Lacks) != 1 || p.Lacks[0] != "stock" {
		t.Errorf("%+v", p)
	}
	// The failure belongs to the seconds that hold its beginning, and nothing is told of those without a visit.
	if first := p.Series[0]; first.At != 999_995 || first.Visits != 1 || first.Unserved != 1 {
		t.Errorf("first point %+v", first)
	}
	if empty := newPage(nil, now); len(empty.Series) != 0 || empty.Now.Visits != 0 {
		t.Errorf("without visits: %+v", empty)
	}
}

func TestSpans(t *testing.T) {
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	var spans []Span
	for s := int64(100); s <= 130; s++ {
		spans = extend(spans, s >= 110 && s < 120 || s >= 125, at(s))
	}
	if len(spans) != 2 || spans[0] != (Span{110, 119}) || spans[1] != (Span{125, 130}) {
		t.Errorf("%v", spans)
	}
	if spans = extend(spans, false, at(245)); len(spans) != 1 {
		t.Errorf("what no chart shows is kept: %v", spans)
	}
}
