package service

import (
	"net/http"
	"runtime/debug"
)

// recoverPanic turns a panic into a 500 problem, a metric and a log line with the stack. http.ErrAbortHandler is a handler's
// way to cut the connection and is passed on; so is a panic after the answer began, when cutting is all one can do.
func (s *Service) recoverPanic(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			value := recover()
			if value == nil {
				return
			}
			if value == http.ErrAbortHandler {
				panic(value)
			}
			s.http.panics.WithLabelValues(routeOf(r)).Inc()
			s.Log.ErrorContext(r.Context(), "panic", "route", routeOf(r), "value", value, "stack", string(debug.Stack()))
			if answerBegan(w) {
				panic(http.ErrAbortHandler)
			}
			WriteProblem(w, r, NewProblem(http.StatusInternalServerError, "internal", "Something went wrong on our side."))
		}()
		next.ServeHTTP(w, r)
	})
}
