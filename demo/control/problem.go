package control

import (
	"encoding/json"
	"errors"
	"net/http"
)

// problem is an error for whoever asked, as RFC 9457 has it.
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
}

func (p *problem) Error() string { return p.Detail }

// refuse makes the error that a handler returns when it will not do what was asked. name ends its type; detail is for a person.
func refuse(status int, name, detail string) error {
	return &problem{"/problems/" + name, http.StatusText(status), status, detail}
}

// handle turns the error of a handler into its answer. One that is no problem is the room's own, and only logged.
func (r *Room) handle(do func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		err := do(w, req)
		if err == nil || req.Context().Err() != nil {
			return
		}
		var p *problem
		if !errors.As(err, &p) {
			r.cfg.Log.Error("request failed", "method", req.Method, "path", req.URL.Path, "cause", err.Error())
			p = &problem{"/problems/internal", http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError,
				"Something went wrong in the control room; its log says what."}
		}
		p.write(w)
	}
}

func (p *problem) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p)
}

func answer(w http.ResponseWriter, status int, v any) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	return json.NewEncoder(w).Encode(v)
}
