package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Client speaks the part of Toxiproxy's HTTP API that faults need. It is safe for concurrent use.
//
// The official client is not used: it is part of the server's module and brings the server's dependencies along.
type Client struct {
	base string
	http *http.Client
}

// NewClient makes a client of the Toxiproxy at base, e.g. http://127.0.0.1:8474. transport nil is the real network.
func NewClient(base string, transport http.RoundTripper) *Client {
	if transport == nil {
		transport = &http.Transport{IdleConnTimeout: 30 * time.Second} // no proxy from the environment
	}
	// An answer takes milliseconds; a removal may flush a slow connection first, for at most 5 s.
	return &Client{strings.TrimSuffix(base, "/"), &http.Client{Transport: transport, Timeout: 10 * time.Second}}
}

// Edge is one connection between two parts of the system: a proxy in Toxiproxy's words.
type Edge struct {
	Name     string  `json:"name"`
	Upstream string  `json:"upstream"` // host:port where it leads
	Enabled  bool    `json:"enabled"`
	Toxics   []toxic `json:"toxics"`
}

type toxic struct {
	Name       string           `json:"name"`
	Type       string           `json:"type"`
	Stream     string           `json:"stream"`
	Toxicity   float64          `json:"toxicity"`
	Attributes map[string]int64 `json:"attributes"`
}

// Edges lists all edges by name, with what is broken on them.
func (c *Client) Edges(ctx context.Context) (map[string]Edge, error) {
	edges := make(map[string]Edge)
	if err := c.call(ctx, http.MethodGet, "/proxies", nil, &edges); err != nil {
		return nil, err
	}
	return edges, nil
}

func (c *Client) addToxic(ctx context.Context, edge string, t toxic) error {
	return c.call(ctx, http.MethodPost, "/proxies/"+url.PathEscape(edge)+"/toxics", t, nil)
}

// removeToxic is content when somebody else was faster.
func (c *Client) removeToxic(ctx context.Context, edge, name string) error {
	err := c.call(ctx, http.MethodDelete, "/proxies/"+url.PathEscape(edge)+"/toxics/"+url.PathEscape(name), nil, nil)
	if status := (*statusError)(nil); errors.As(err, &status) && status.code == http.StatusNotFound {
		return nil
	}
	return err
}

func (c *Client) setEnabled(ctx context.Context, edge string, enabled bool) error {
	return c.call(ctx, http.MethodPost, "/proxies/"+url.PathEscape(edge), map[string]bool{"enabled": enabled}, nil)
}

// statusError is an answer of Toxiproxy that is none of 2xx.
type statusError struct {
	code int
	text string
}

func (e *statusError) Error() string { return fmt.Sprintf("toxiproxy answers %d: %s", e.code, e.text) }

func (c *Client) call(ctx context.Context, method, path string, in, out any) error {
	var body bytes.Buffer
	if in != nil {
		if err := json.NewEncoder(&body).Encode(in); err != nil {
			return err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, &body)
	if err != nil {
		return fmt.Errorf("toxiproxy: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("toxiproxy: %w", err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return fmt.Errorf("toxiproxy: %w", err)
	}
	if resp.StatusCode/100 != 2 {
		return &statusError{resp.StatusCode, strings.TrimSpace(string(answer))}
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("toxiproxy: %s %s: %w", method, path, err)
	}
	return nil
}
