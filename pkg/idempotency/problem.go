package idempotency

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// WriteProblem sends err as RFC 9457 problem details, with Retry-After when repeating the request can help. Anything but a
// *Refusal is a bare 500: its text is for logs.
func WriteProblem(w http.ResponseWriter, _ *http.Request, err error) {
	var r *Refusal
	if !errors.As(err, &r) {
		r = &Refusal{Name: "internal", Status: http.StatusInternalServerError}
	}
	body, _ := json.Marshal(struct { // strings and an int: cannot fail
		Type   string `json:"type"`
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail,omitempty"`
	}{"/problems/" + r.Name, r.Title(), r.Status, r.Detail})
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	if r.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int((r.RetryAfter+time.Second-1)/time.Second)))
	}
	if r.Name == KeyMissing { // the draft asks for a pointer to the policy
		h.Set("Link", "</problems/"+r.Name+`>; rel="describedby"`)
	}
	w.WriteHeader(r.Status)
	_, _ = w.Write(append(body, '\n'))
}

// Title is the problem's name in words.
func (r *Refusal) Title() string {
	words := strings.ReplaceAll(r.Name, "-", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}
