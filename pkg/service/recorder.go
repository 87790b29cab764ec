package service

import "net/http"

// recorder remembers what was answered. Unwrap lets http.ResponseController reach the connection.
type recorder struct {
	http.ResponseWriter
	status int // 0: nothing was written yet
}

func (rec *recorder) WriteHeader(status int) {
	if rec.status == 0 && status >= http.StatusOK { // 1xx are not the answer
		rec.status = status
	}
	rec.ResponseWriter.WriteHeader(status)
}

func (rec *recorder) Write(b []byte) (int, error) {
	if rec.status == 0 {
		rec.status = http.StatusOK
	}
	return rec.ResponseWriter.Write(b)
}

func (rec *recorder) Unwrap() http.ResponseWriter { return rec.ResponseWriter }

// answerBegan reports whether something was already sent, also when further middleware wrapped the writer.
func answerBegan(w http.ResponseWriter) bool {
	for {
		switch t := w.(type) {
		case *recorder:
			return t.status != 0
		case interface{ Unwrap() http.ResponseWriter }:
			w = t.Unwrap()
		default:
			return false
		}
	}
}
