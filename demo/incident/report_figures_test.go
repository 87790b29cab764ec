package incident

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"strings"
	"testing"
)

// figures are the JSON file, read the way a stranger would, not by the types that wrote it.
type figures struct {
	Verdicts, Events []map[string]any
	Pages            []struct {
		Name   string
		Routes []map[string]any
		Series []map[string]any
		Dots   [][]any `json:"product_pages"`
	}
	Dependencies []struct {
		Name    string
		Breaker []map[string]any
		Limit   []map[string]any
	}
}

func readFigures(t *testing.T, rep Report) (f figures) {
	t.Helper()
	var file bytes.Buffer
	if err := rep.WriteJSON(&file); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(file.Bytes(), &f); err != nil {
		t.Fatal(err)
	}
	return f
}

// areIn fails the test unless the page shows the same.
func (f figures) areIn(t *testing.T, page string) {
	t.Helper()
	kinds := map[any]string{"product": "product", "browse": "home", "order": "order"}
	for _, twin := range f.Pages {
		for _, r := range twin.Routes {
			row := fmt.Sprintf("<td>%v</td><td>%s</td><td>%v</td><td>%v</td><td>%v</td><td>%v</td><td>%v</td><td>%v</td>",
				r["phase"], kinds[r["kind"]], r["answers"], r["degraded"], r["failed"], r["p50_ms"], r["p95_ms"], r["max_ms"])
			if _, table, _ := strings.Cut(page, "<caption>"+twin.Name); !strings.Contains(table, row) {
				t.Errorf("no row %s", row)
			}
		}
	}
	page = html.UnescapeString(page)
	for _, v := range f.Verdicts {
		_, row, found := strings.Cut(page, fmt.Sprintf(`<tr id="%v"><th scope="row">%v<`, v["id"], v["promise"]))
		row, _, _ = strings.Cut(row, "</tr>")
		for _, who := range []string{"protected", "naive"} {
			finding := v[who].(map[string]any)
			for _, what := range []string{"measured", "result"} {
				found = found && (finding[what] == nil || strings.Contains(row, fmt.Sprint(finding[what])))
			}
		}
		if !found || !strings.Contains(row, v["bound"].(string)) {
			t.Errorf("%v is told otherwise: %s", v, row)
		}
	}
	for i, e := range f.Events {
		if row := fmt.Sprintf(`<td>%.1f</td><td><span class="number">%d</span> %v</td>`, e["at_s"], i+1, e["says"]); !strings.Contains(page, row) {
			t.Errorf("no moment %s", row)
		}
	}
}

func TestThePageOfTheOutageShowsWhatItsJSONSays(t *testing.T) {
	r := keptOutage()
	r.events = []event{{second(21), "the replica's limit is cut"}, {second(25), "the replica's breaker is open"}}
	rep, page := rendered(t, Outage(10), r, newWorld().config())
	f := readFigures(t, rep)
	f.areIn(t, page)
	if len(f.Verdicts) != 27 || len(f.Events) != 2 || len(f.Pages) != 2 || len(f.Dependencies) != 3 {
		t.Errorf("%d promises, %d moments, %d pages, %d dependencies", len(f.Verdicts), len(f.Events), len(f.Pages), len(f.Dependencies))
	}
	if limit := f.Dependencies[0].Limit; len(limit) != 4 || limit[1]["value"] != 10.0 || limit[1]["at_s"] != 21.0 {
		t.Errorf("limit of %s: %v", f.Dependencies[0].Name, limit)
	}
}
