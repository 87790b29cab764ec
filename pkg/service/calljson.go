package service

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"watertight.example/pkg/resilience"
)

// maxAnswer bounds what another service can make us hold in memory.
const maxAnswer = 1 << 20

// ErrBadAnswer is wrapped by errors about an answer that came in time but cannot be used: not JSON, too large, wrong types.
var ErrBadAnswer = errors.New("answer cannot be used")

// CallJSON sends req and decodes a 2xx answer of at most 1 MiB into out, a pointer; nil discards it. Use it inside
// resilience.Call: other statuses become *resilience.StatusError, an unusable body wraps ErrBadAnswer, both count against the
// dependency. Unknown fields are allowed, so that the other side may be deployed first.
func CallJSON(client *http.Client, req *http.Request, out any) error {
	req.Header.Set("Accept", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := resilience.CheckResponse(resp); err != nil {
		return err
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1)) // to the end, or the connection is lost
	switch {
	case err != nil:
		return fmt.Errorf("read answer: %w", err)
	case len(body) > maxAnswer:
		return fmt.Errorf("%w: larger than %d bytes", ErrBadAnswer, maxAnswer)
	case out == nil:
		return nil
	case !isJSON(resp.Header.Get("Content-Type")):
		return fmt.Errorf("%w: content type %q", ErrBadAnswer, resp.Header.Get("Content-Type"))
	case bytes.Equal(bytes.TrimSpace(body), []byte("null")):
		return fmt.Errorf("%w: null", ErrBadAnswer)
	}
	if err := json.Unmarshal(body, out); err != nil {
		return fmt.Errorf("%w: %w", ErrBadAnswer, err)
	}
	return nil
}
