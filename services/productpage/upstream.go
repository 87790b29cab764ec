package main

import (
	"context"
	"fmt"
	"net/http"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/service"
)

// get asks another service for JSON. Call it inside resilience.Call. What comes back is well-formed, in time and of bounded size;
// whether it makes sense is for the caller to check.
func get[T any](ctx context.Context, dep *resilience.Dependency, address string, header http.Header) (T, error) {
	var out T
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return out, err
	}
	for name, values := range header {
		req.Header[name] = values
	}
	return out, service.CallJSON(dep.HTTPClient(), req, &out)
}

// nonsense is the error for an answer that is JSON but cannot be true. It counts against the dependency like any failure, so a
// service that talks nonsense is soon left alone.
func nonsense(format string, args ...any) error {
	return fmt.Errorf("%w: %s", service.ErrBadAnswer, fmt.Sprintf(format, args...))
}
