package service

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Problem is an error answer (RFC 9457). It is an error, so a handler returns it like any other. Type is "/problems/<name>",
// a page of the shop that explains it. RetryAfter above zero says that the same request may succeed later. Extra members are
// added to the JSON object. A Problem is built by one goroutine and then only read.
type Problem struct {
	Type, Title string
	Status      int
	Detail      string
	RetryAfter  time.Duration
	Extra       map[string]any

	cause error // logged, never sent
}

// NewProblem makes a problem of type /problems/name; its title is the name as words.
func NewProblem(status int, name, detail string) *Problem {
	title := strings.ReplaceAll(name, "-", " ")
	if title != "" {
		title = strings.ToUpper(title[:1]) + title[1:]
	}
	return &Problem{Type: "/problems/" + name, Title: title, Status: status, Detail: detail}
}

// WithExtra adds a member to the JSON object and returns p.
func (p *Problem) WithExtra(k string, v any) *Problem {
	if p.Extra == nil {
		p.Extra = map[string]any{}
	}
	p.Extra[k] = v
	return p
}

// WithRetryAfter sets the time after which a retry is worth it and returns p.
func (p *Problem) WithRetryAfter(d time.Duration) *Problem { p.RetryAfter = d; return p }

// Wrap keeps the cause for logs and errors.Is, never for the client, and returns p.
func (p *Problem) Wrap(cause error) *Problem { p.cause = cause; return p }

// Unwrap returns the cause given to Wrap.
func (p *Problem) Unwrap() error { return p.cause }

// Error tells title, detail and cause.
func (p *Problem) Error() string {
	text := p.Title
	if p.Detail != "" {
		text += ": " + p.Detail
	}
	if p.cause != nil {
		text = fmt.Sprintf("%s: %v", text, p.cause)
	}
	return text
}

// MarshalJSON writes the members of RFC 9457 and the extra ones, which cannot replace them.
func (p *Problem) MarshalJSON() ([]byte, error) {
	members := maps.Clone(p.Extra)
	if members == nil {
		members = map[string]any{}
	}
	members["type"], members["title"], members["status"] = p.Type, p.Title, p.Status
	if p.Detail != "" {
		members["detail"] = p.Detail
	}
	return json.Marshal(members)
}

// WriteProblem answers with p: as HTML through the service's ErrorPage when the client prefers HTML, else as
// application/problem+json with the request id added.
func WriteProblem(w http.ResponseWriter, r *http.Request, p *Problem) {
	header := w.Header()
	for _, name := range []string{"Content-Encoding", "Content-Length", "Etag", "Last-Modified"} {
		header.Del(name) // they described the answer that did not happen
	}
	header.Set("Cache-Control", "no-store")
	header.Add("Vary", "Accept")
	if p.RetryAfter > 0 {
		header.Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(p.RetryAfter.Seconds())))))
	}
	sc := scopeOf(r.Context())
	sc.problem = p
	if sc.service.ErrorPage != nil && PrefersHTML(r) {
		sc.service.ErrorPage(w, r, p)
		return
	}
	if sc.requestID != "" {
		p = p.withRequestID(sc.requestID)
	}
	body, err := json.Marshal(p)
	if err != nil { // an extra member that is no JSON: a bug of the caller, not of the client
		body, _ = json.Marshal(NewProblem(p.Status, "internal", ""))
	}
	header.Set("Content-Type", "application/problem+json")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(p.Status)
	_, _ = w.Write(body) // the client is gone: nobody to tell
}

// withRequestID returns a copy, because the same Problem may be answered to several clients at once.
func (p *Problem) withRequestID(id string) *Problem {
	c := *p
	c.Extra = maps.Clone(p.Extra)
	return c.WithExtra("request_id", id)
}
