package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
)

// engine kills and starts containers of a compose project by the engine's own API: three calls of it do not need its client, which
// is larger than all of demo. Safe for concurrent use.
type engine struct {
	http    *http.Client
	project string
}

// newEngine speaks to the engine at a Unix socket.
func newEngine(socket, project string) *engine {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
	if project == "" {
		project = "watertight"
	}
	return &engine{&http.Client{Transport: &http.Transport{DialContext: dial}}, project}
}

// Kill implements incident.Engine.
func (e *engine) Kill(ctx context.Context, services ...string) error {
	return e.each(ctx, services, "kill?signal=KILL")
}

// Start implements incident.Engine.
func (e *engine) Start(ctx context.Context, services ...string) error {
	return e.each(ctx, services, "start")
}

func (e *engine) each(ctx context.Context, services []string, do string) error {
	var errs []error
	for _, service := range services {
		id, err := e.container(ctx, service)
		if err == nil {
			err = e.call(ctx, http.MethodPost, "/containers/"+id+"/"+do, nil)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", service, err))
		}
	}
	return errors.Join(errs...)
}

func (e *engine) container(ctx context.Context, service string) (id string, err error) {
	labels, err := json.Marshal(map[string][]string{"label": {
		"com.docker.compose.project=" + e.project, "com.docker.compose.service=" + service, "com.docker.compose.oneoff=False"}})
	if err != nil {
		return "", err
	}
	var found []struct{ Id string }
	if err := e.call(ctx, http.MethodGet, "/containers/json?all=1&filters="+url.QueryEscape(string(labels)), &found); err != nil {
		return "", err
	}
	if len(found) != 1 {
		return "", fmt.Errorf("%d containers of project %s, want one", len(found), e.project)
	}
	return found[0].Id, nil
}

func (e *engine) call(ctx context.Context, method, path string, out any) error {
	req, err := http.NewRequestWithContext(ctx, method, "http://engine"+path, nil)
	if err != nil {
		return err
	}
	resp, err := e.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	switch {
	case err != nil:
		return err
	case resp.StatusCode >= 400: // 304 says that it runs already
		return fmt.Errorf("the engine answers %d: %.200s", resp.StatusCode, body)
	case out != nil:
		return json.Unmarshal(body, out)
	}
	return nil
}
