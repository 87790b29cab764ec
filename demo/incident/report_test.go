package incident

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"watertight.example/demo/load"
)

func rendered(t *testing.T, in Incident, r record, cfg Config) (Report, string) {
	t.Helper()
	rep := newReport(in, cfg, r)
	var page bytes.Buffer
	if err := rep.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	return rep, page.String()
}

func TestPageNeedsNothingElse(t *testing.T) {
	_, page := rendered(t, usual(), kept(), newWorld().config())
	for _, bad := range []string{"<script", "<link", "<img", "src=", `href="http`, `href="/`, "url(", "@import", "ZgotmplZ", "<no value>", "NaN"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q in it", bad)
		}
	}
	charts := regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(page, -1)
	if len(charts) != 2 {
		t.Fatalf("%d charts, want a wide and a narrow one", len(charts))
	}
	for _, chart := range charts {
		decoder := xml.NewDecoder(strings.NewReader(chart))
		for {
			if _, err := decoder.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// In reports/ the page leads to the repository's files. Where the control room serves it, such links would lead nowhere.
func TestLinksAreOnlyWhereTheyLeadSomewhere(t *testing.T) {
	rep := newReport(usual(), newWorld().config(), kept())
	var file, served bytes.Buffer
	if err := errors.Join(rep.WriteHTML(&file), rep.WriteServed(&served)); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(file.String(), `<a href="../`); n != 2*len(rep.Verdicts) {
		t.Errorf("%d links to the code and the tests of %d promises", n, len(rep.Verdicts))
	}
	if page := served.String(); strings.Contains(page, "<a ") || !strings.Contains(page, "services/productpage/page.go, services/productpage/fallback_test.go") {
		t.Error("the page of the server has links, or does not name the files")
	}
}

const productPages = 1699 // in kept

func TestPageShowsWhatTheJSONSays(t *testing.T) {
	rep, page := rendered(t, usual(), kept(), newWorld().config())
	figures := readFigures(t, rep)
	figures.areIn(t, page)
	for _, twin := range figures.Pages {
		if n := len(twin.Dots); n != productPages || len(twin.Dots[0]) != 3 || len(twin.Series) != 85 {
			t.Errorf("%d product pages like %v, %d seconds", n, twin.Dots[0], len(twin.Series))
		}
	}
	if dots := strings.Count(page, "h0"); dots != 2*2*productPages {
		t.Errorf("%d dots in two charts, want every product page of both twins in both", dots)
	}
	breaker := figures.Dependencies[0].Breaker
	if len(breaker) != 3 || breaker[1]["state"] != "open" || breaker[1]["from_s"] != 10.6 {
		t.Errorf("breaker %v", breaker)
	}
}

func TestPageSaysWhatWasBroken(t *testing.T) {
	r := kept()
	r.naive, r.protected.insight, r.stopped = nil, insight{}, true
	r.protected.change(load.Product, 20, 21, fail)
	cfg := newWorld().config()
	cfg.Naive = nil
	rep, page := rendered(t, usual(), r, cfg)
	if got := rep.Sentence(); !strings.HasPrefix(got, "2 of 15 promises broken: no-errors, marked. 6 not measured: ") {
		t.Error(got)
	}
	for _, want := range []string{`<p class="sum fail">`, `<b class="fail">FAIL</b>`, `<b class="not-measured">not measured</b>`, "not read</text>", "stopped early"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in the page", want)
		}
	}
	if strings.Contains(page, "naive, while") {
		t.Error("a twin that nobody looked at has a place in the page")
	}
}

func TestPageOfAnIncidentStoppedAtOnce(t *testing.T) {
	r := record{began: start, stopped: true, phases: []phase{calmly(baseline, 0, 1)}, protected: new(seen), naive: new(seen)}
	if _, page := rendered(t, usual(), r, newWorld().config()); strings.Count(page, "No answers.") != 2 {
		t.Error(page)
	}
}

func TestGapsAreNotDrawnOver(t *testing.T) {
	r := kept()
	r.protected.samples = append(r.protected.samples.sent(second(0), second(30)), r.protected.samples.sent(second(33), second(85))...)
	r.protected.readings[optional] = append(r.protected.readings[optional][:5], r.protected.readings[optional][100:]...)
	rep, page := rendered(t, usual(), r, newWorld().config())
	if line := regexp.MustCompile(`<path class="line protected" d="([^"]*)"`).FindStringSubmatch(page); strings.Count(line[1], "M") != 2 {
		t.Errorf("the line %s has no gap", line[1])
	}
	if breaker := rep.Watched[0].Breaker; len(breaker) != 3 || breaker[0].To > 1 || breaker[1].From < 20 {
		t.Errorf("episodes %+v: nobody knows what was between seconds 1 and 20", breaker)
	}
}
