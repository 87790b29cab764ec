package incident

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// Two runs side by side: what broke without a pattern is said in its column, what held is said to have held, and a file that is no
// report is refused.
func TestRunsAreSetSideBySide(t *testing.T) {
	file := func(without string, spoil func(*record)) []byte {
		r := keptOutage()
		spoil(&r)
		var out bytes.Buffer
		if err := newReport(Outage(10), Config{Without: without}, r).WriteJSON(&out); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	well := func(r *record) { r.naive = nil }
	side, err := Compare(
		file("idempotency", func(r *record) { well(r); r.ledger.duplicates = 6 }),
		file("", well),
		file("hedge", well))
	if err != nil {
		t.Fatal(err)
	}
	columns := side.Columns()
	if len(columns) != 3 || columns[0].Without != "" || columns[1].Without != "hedge" || columns[2].Without != "idempotency" {
		t.Fatalf("%+v, want the whole shop first", columns)
	}
	if len(columns[0].Broke)+len(columns[1].Broke) != 0 || len(columns[2].Broke) != 1 || columns[2].Broke[0].ID != "duplicates" {
		t.Errorf("%+v", columns)
	}
	for _, row := range side.Rows() {
		if len(row.Found) != 3 || (row.Found[2].Result == Fail) != strings.HasPrefix(row.Promise, "Nothing was ordered twice") {
			t.Errorf("%+v", row)
		}
	}
	var page strings.Builder
	if err := side.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"with all of them", "without idempotency", `<span class="fail">Nothing was ordered twice, by the databases</span>: 6 too many.`,
		"In this story, on this shop, the others carried it."} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("no %q in the page", want)
		}
	}
	if _, err := Compare([]byte("<html>")); err == nil {
		t.Error("a page was taken for a report")
	}
}

// Whoever finds last week's run, or one at another speed, beside today's is told so.
func TestRunsThatAreNotOfOneSeriesAreSaidToBe(t *testing.T) {
	file := func(without string, began time.Time, speed float64) []byte {
		r := keptOutage()
		r.naive, r.began, r.speed = nil, began, speed
		var out bytes.Buffer
		if err := newReport(Outage(speed), Config{Without: without}, r).WriteJSON(&out); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	for name, c := range map[string]struct {
		later time.Duration
		speed float64
		want  string
	}{
		"one series":    {6 * time.Hour, 10, ""},
		"another speed": {time.Hour, 40, "speed;"},
		"another day":   {7 * time.Hour, 10, "These runs are not of one day;"},
		"both":          {-7 * time.Hour, 40, "speed and are not of one day;"},
		"an older file": {0, 0, "speed;"},
	} {
		side, err := Compare(file("", start, 10), file("hedge", start.Add(c.later), c.speed))
		if err != nil {
			t.Fatal(err)
		}
		var page strings.Builder
		if err := side.WriteHTML(&page); err != nil {
			t.Fatal(err)
		}
		if got := side.Caveat(); (got == "") != (c.want == "") || !strings.Contains(got, c.want) || !strings.Contains(page.String(), got) {
			t.Errorf("%s: %q", name, got)
		}
		if !strings.Contains(page.String(), "Played on 1 January 2026, 12:00 UTC, at speed 10.") {
			t.Errorf("%s: the page does not say when and how fast", name)
		}
	}
	if c, err := Compare(); err != nil || c.Caveat() != "" {
		t.Errorf("nothing to compare: %v, %q", err, c.Caveat())
	}
}
