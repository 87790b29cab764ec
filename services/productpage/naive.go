package main

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/service"
)

// With RESILIENCE=off this is the naive product page: the page most shops have, on the same code, so that the two can be compared. It
// fetches its parts side by side, falls back when one has failed, and has a timeout, as every careful HTTP client has. What it
// lacks is any idea that a part may be slow: there is no budget for the page, and one pool of connections serves everything
// (article 1, "shared pool"). It is honest, not sabotaged.
const (
	naivePatience = 30 * time.Second
	naivePool     = 100
)

// contract is what this instance promises.
func (c *Config) contract() contract {
	ours := ourContract()
	if c.Resilience && c.Without != service.Deadline {
		return ours
	}
	for _, p := range []*part{&ours.catalogue, &ours.price, &ours.stock, &ours.recommendations} {
		p.Total, p.Attempt = naivePatience, naivePatience
	}
	ours.page, ours.look, ours.checkout = 2*naivePatience+ours.render, 2*naivePatience, 2*naivePatience
	return ours
}

// policy is the policy of a dependency as it stands beside it, or none to speak of.
func (c *Config) policy(protected resilience.Config) resilience.Config {
	if c.Resilience {
		return protected
	}
	return resilience.Config{Timeout: resilience.Timeout{Total: naivePatience}}
}

// shareOnePool lets all calls to other services wait for the same slots.
func (s *shop) shareOnePool() {
	slots := make(chan struct{}, naivePool)
	for _, dep := range []*resilience.Dependency{s.pricing.dep, s.inventory.dep, s.recommendations.dep, s.orders.dep, s.orders.reads} {
		client := dep.HTTPClient()
		client.Transport = &pool{slots: slots, next: client.Transport}
	}
}

// pool takes a slot for each request until its answer has been read.
type pool struct {
	slots chan struct{}
	next  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (p *pool) RoundTrip(req *http.Request) (*http.Response, error) {
	select {
	case p.slots <- struct{}{}:
	case <-req.Context().Done():
		return nil, context.Cause(req.Context())
	}
	resp, err := p.next.RoundTrip(req)
	if err != nil {
		<-p.slots
		return nil, err
	}
	resp.Body = &lent{ReadCloser: resp.Body, giveBack: sync.OnceFunc(func() { <-p.slots })}
	return resp, nil
}

// CloseIdleConnections makes http.Client.CloseIdleConnections reach the transport.
func (p *pool) CloseIdleConnections() {
	if next, ok := p.next.(interface{ CloseIdleConnections() }); ok {
		next.CloseIdleConnections()
	}
}

// lent is a body that gives its slot back when it is closed.
type lent struct {
	io.ReadCloser
	giveBack func()
}

func (l *lent) Close() error {
	defer l.giveBack()
	return l.ReadCloser.Close()
}
