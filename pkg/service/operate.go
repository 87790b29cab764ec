package service

import (
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
)

const (
	maxOverrideBytes = 1 << 10
	maxLimit         = 10_000 // more slots than a process has connections for is a slip of the finger
)

// handleOperators adds what people may see and change of the dependencies while the service runs. Overrides last until they are
// released or the process ends: the next start begins with the configured policy again.
func (s *Service) handleOperators(mux *http.ServeMux) {
	mux.HandleFunc("GET /resilience", s.showDependencies)
	mux.HandleFunc("POST /resilience/{dependency}/breaker", Handle(s.overrideBreaker))
	mux.HandleFunc("POST /resilience/{dependency}/limit", Handle(s.overrideLimit))
}

// sameOrigin refuses changes that a web page of somebody else makes a browser on this network ask for.
func sameOrigin(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		WriteProblem(w, r, NewProblem(http.StatusForbidden, "cross-origin", "Another site's page may not change anything here."))
	}))
	return protection.Handler(next)
}

// overrideBreaker takes {"force": "open"}, which refuses every call, "closed", which lets every call pass, or "release".
func (s *Service) overrideBreaker(w http.ResponseWriter, r *http.Request) error {
	var ask struct {
		Force string `json:"force"`
	}
	d, err := s.asked(w, r, &ask, func(form url.Values) { ask.Force = form.Get("force") })
	if err != nil {
		return err
	}
	switch by := "asked for by " + r.RemoteAddr; ask.Force {
	case "open":
		err = d.ForceOpen(by, 0)
	case "closed":
		err = d.ForceClosed(by)
	case "release":
		err = d.Release()
	default:
		return NewProblem(http.StatusBadRequest, "invalid-parameter", `"force" must be "open", "closed" or "release".`)
	}
	if err != nil {
		return NewProblem(http.StatusNotFound, "not-found", "This dependency has no breaker.").Wrap(err)
	}
	s.Log.Warn("override", "dependency", d.Name(), "breaker", ask.Force, "by", r.RemoteAddr)
	return answerOverride(w, r, d)
}

// overrideLimit takes {"limit": 40}. An adaptive limit goes on from there.
func (s *Service) overrideLimit(w http.ResponseWriter, r *http.Request) error {
	var ask struct {
		Limit int `json:"limit"`
	}
	d, err := s.asked(w, r, &ask, func(form url.Values) { ask.Limit, _ = strconv.Atoi(form.Get("limit")) })
	if err != nil {
		return err
	}
	before := d.State().Limit
	switch {
	case before == 0:
		return NewProblem(http.StatusNotFound, "not-found", "This dependency has no limit.")
	case ask.Limit < 1 || ask.Limit > maxLimit:
		return NewProblem(http.StatusBadRequest, "invalid-parameter", fmt.Sprintf(`"limit" must be between 1 and %d.`, maxLimit))
	}
	if err := d.SetLimit(ask.Limit); err != nil {
		return err
	}
	s.Log.Warn("override", "dependency", d.Name(), "limit", ask.Limit, "before", before, "by", r.RemoteAddr)
	return answerOverride(w, r, d)
}

// asked reads what is wanted of which dependency: JSON, or a form of the page.
func (s *Service) asked(w http.ResponseWriter, r *http.Request, ask any, fromForm func(url.Values)) (*dependency, error) {
	d := s.find(r.PathValue("dependency"))
	if d == nil {
		return nil, NewProblem(http.StatusNotFound, "not-found", "This service has no such dependency.")
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxOverrideBytes)
	if !isForm(r) {
		return d, DecodeJSON(r, ask)
	}
	if err := r.ParseForm(); err != nil {
		return nil, NewProblem(http.StatusBadRequest, "invalid-parameter", "The form could not be read.").Wrap(err)
	}
	fromForm(r.PostForm)
	return d, nil
}

// answerOverride sends a browser back to the page, and everybody else the new state.
func answerOverride(w http.ResponseWriter, r *http.Request, d *dependency) error {
	if isForm(r) {
		http.Redirect(w, r, "/resilience", http.StatusSeeOther)
		return nil
	}
	return WriteJSON(w, http.StatusOK, d.view())
}

func isForm(r *http.Request) bool {
	mediaType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return mediaType == "application/x-www-form-urlencoded"
}

func (s *Service) find(name string) *dependency {
	for _, d := range s.dependencies {
		if d.Name() == name {
			return d
		}
	}
	return nil
}
