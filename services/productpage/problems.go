package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"watertight.example/pkg/service"
)

//go:embed data/problems.json
var problemsJSON []byte

// explanation tells people what a problem type means and what to do about it.
type explanation struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Text  string `json:"text"`
	Do    string `json:"do"`
}

func loadProblems() (map[string]explanation, error) {
	var list []explanation
	if err := json.Unmarshal(problemsJSON, &list); err != nil {
		return nil, fmt.Errorf("data/problems.json: %w", err)
	}
	byName := make(map[string]explanation, len(list))
	for _, e := range list {
		byName[e.Name] = e
	}
	return byName, nil
}

// showProblem answers GET /problems/{name}, the address in every problem's type.
func (s *shop) showProblem(w http.ResponseWriter, r *http.Request) error {
	e, ok := s.problems[chi.URLParam(r, "name")]
	if !ok {
		return service.NewProblem(http.StatusNotFound, "not-found", "There is no such problem, which is good news.")
	}
	w.Header().Set("Cache-Control", "public, max-age=3600")
	return s.render(w, r, http.StatusOK, "problem", e.Title, e)
}

// errorView is what the error page's template needs.
type errorView struct {
	Status    int
	Title     string
	Detail    string
	Explained explanation
	RequestID string
}

// errorPage answers a browser with a problem in the shop's look. It must not fail: when its template does, plain text is sent.
func (s *shop) errorPage(w http.ResponseWriter, r *http.Request, p *service.Problem) {
	w.Header().Set("Cache-Control", "no-store")
	v := errorView{Status: p.Status, Title: p.Title, Detail: p.Detail, Explained: s.problems[strings.TrimPrefix(p.Type, "/problems/")], RequestID: service.RequestID(r.Context())}
	if v.Explained.Title != "" {
		v.Title = v.Explained.Title
	}
	if err := s.render(w, r, p.Status, "error", v.Title, v); err != nil {
		s.Log.ErrorContext(r.Context(), "error page", "error", err)
		http.Error(w, strconv.Itoa(p.Status)+" "+p.Title, p.Status)
	}
}
