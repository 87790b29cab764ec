package control

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"watertight.example/demo/faults"
)

// order is the body of POST /api/faults. Durations are written like 30s or 4.8s.
type order struct {
	Edges   []string `json:"edges"`
	Kind    string   `json:"kind"`
	For     string   `json:"for"`     // 1s to 10m; 30s when left out: a fault without an end cannot be asked for
	Latency string   `json:"latency"` // of kind latency; 4.8s when left out
}

var errPlaying = refuse(http.StatusConflict, "incident-running", "An incident is being played, and it is judged by its own fault only. Mend everything stops it.")

// setFaults answers POST /api/faults: all of the edges are broken, or none.
func (r *Room) setFaults(w http.ResponseWriter, req *http.Request) error {
	var o order
	if err := decode(w, req, &o); err != nil {
		return err
	}
	list, err := o.faults()
	if err != nil {
		return refuse(http.StatusBadRequest, "invalid-parameter", err.Error())
	}
	r.acting.Lock()
	defer r.acting.Unlock()
	if r.incidents.running() {
		return errPlaying
	}
	var set []faults.Active
	for _, f := range list {
		a, err := r.proxies.Set(req.Context(), f)
		if err != nil {
			for _, done := range set {
				_ = r.proxies.End(req.Context(), done) // if not, its own time ends it
			}
			return refuse(http.StatusUnprocessableEntity, "cannot-break", err.Error())
		}
		set = append(set, a)
	}
	r.note("%s: %s for %s", placeOf(o.Edges[0]).Name, list[0].Kind, list[0].For)
	return answer(w, http.StatusCreated, map[string]any{"edges": o.Edges, "kind": o.Kind, "until": set[0].Until})
}

// faults checks an order.
func (o order) faults() ([]faults.Fault, error) {
	length, err := duration("for", o.For, defaultFault)
	if err != nil {
		return nil, err
	}
	late, err := duration("latency", o.Latency, 4800*time.Millisecond)
	if err != nil {
		return nil, err
	}
	switch {
	case len(o.Edges) == 0 || len(o.Edges) > 20:
		return nil, fmt.Errorf(`"edges" must name 1 to 20 edges`)
	case !slices.ContainsFunc(faults.Kinds(), func(k faults.Kind) bool { return k.Name == o.Kind }):
		return nil, fmt.Errorf(`there is no "kind" %q; there are %s`, o.Kind, strings.Join(kindNames(), ", "))
	case bounded(length) != nil:
		return nil, bounded(length)
	case late < time.Millisecond || late > time.Minute:
		return nil, fmt.Errorf(`"latency" must be between 1ms and 1m`)
	}
	var list []faults.Fault
	for _, edge := range o.Edges {
		list = append(list, faults.Fault{Kind: o.Kind, Edge: edge, For: length, Latency: late})
	}
	return list, nil
}

func bounded(length time.Duration) error {
	if length < shortestFault || length > longestFault {
		return fmt.Errorf(`"for" must be between %s and %s`, shortestFault, longestFault)
	}
	return nil
}

func kindNames() (names []string) {
	for _, k := range faults.Kinds() {
		names = append(names, k.Name)
	}
	return names
}

func duration(name, text string, otherwise time.Duration) (time.Duration, error) {
	if text == "" {
		return otherwise, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q must be a duration like 30s or 4.8s, not %q", name, text)
	}
	return d, nil
}

// mend answers POST /api/mend: the incident stops, and every fault ends, whoever set it.
func (r *Room) mend(w http.ResponseWriter, req *http.Request) error {
	r.acting.Lock()
	defer r.acting.Unlock()
	wait := r.incidents.stop()
	ended, err := r.proxies.Mend(req.Context())
	wait()
	if err == nil && r.planIsFlipped() {
		err = r.mendPlan(req.Context())
	}
	if err != nil {
		return refuse(http.StatusBadGateway, "cannot-mend", "Not everything could be mended: "+err.Error())
	}
	r.note("everything mended")
	edges := []string{}
	for _, a := range ended {
		edges = append(edges, a.Edge)
	}
	return answer(w, http.StatusOK, map[string]any{"mended": edges})
}

// decode reads a small JSON body strictly: a misspelt member must not be taken for one left out.
func decode(w http.ResponseWriter, req *http.Request, into any) error {
	if mediaType, _, _ := strings.Cut(req.Header.Get("Content-Type"), ";"); strings.TrimSpace(mediaType) != "application/json" {
		return refuse(http.StatusUnsupportedMediaType, "unsupported-media-type", "Send JSON, with Content-Type: application/json.")
	}
	d := json.NewDecoder(http.MaxBytesReader(w, req.Body, 4<<10))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return refuse(http.StatusBadRequest, "malformed", "The body is not the JSON that is expected: "+err.Error())
	}
	return nil
}
