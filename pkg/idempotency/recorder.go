package idempotency

import (
	"bytes"
	"net/http"
)

// recorder holds a handler's answer back until it is stored: an answer must not be seen that a retry would not get.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 && status >= 200 {
		r.status = status
	}
}

func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(p)
}

func (r *recorder) answer() Answer {
	r.WriteHeader(http.StatusOK)
	return Answer{Status: r.status, Header: r.header, Body: r.body.Bytes()}
}
