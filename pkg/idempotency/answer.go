package idempotency

import (
	"net/http"
	"slices"
)

// Answer is a final answer as it is stored and sent again: same status, same allow-listed headers, same bytes.
type Answer struct {
	Status   int
	Header   http.Header
	Body     []byte
	Replayed bool // set on answers that were read back
}

// Write sends the answer, marked with Idempotent-Replayed when it is a replay.
func (a Answer) Write(w http.ResponseWriter) error {
	for name, values := range a.Header {
		w.Header()[name] = slices.Clone(values)
	}
	if a.Replayed {
		w.Header().Set(ReplayedHeader, "true")
	}
	w.WriteHeader(a.Status)
	_, err := w.Write(a.Body)
	return err
}

// stored keeps the headers that belong to the answer. Those of one exchange (request and trace ids, cookies, dates) would
// be lies, or leaks, in a replay.
func (a Answer) stored(allow []string) Answer {
	kept := http.Header{}
	for _, name := range allow {
		if values := a.Header.Values(name); len(values) > 0 {
			kept[http.CanonicalHeaderKey(name)] = slices.Clone(values)
		}
	}
	return Answer{Status: a.Status, Header: kept, Body: a.Body}
}
