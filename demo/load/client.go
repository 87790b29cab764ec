package load

import (
	"context"
	"io"
	"net"
	"net/http"
	"time"
)

// newClient makes the visitors' browser; all its requests end when inFlight does. It follows no redirect (each page is
// a request of its own, and a target must not send us elsewhere) and uses no proxy, whatever the environment says:
// the target was checked, the proxy was not.
func newClient(inFlight context.Context, cfg Config) *http.Client {
	transport := cfg.Transport
	if transport == nil {
		transport = &http.Transport{
			DialContext:         (&net.Dialer{Timeout: cfg.Timeout}).DialContext,
			MaxIdleConnsPerHost: cfg.Rate, // visitors of one second keep their connections, no more
			IdleConnTimeout:     30 * time.Second,
		}
	}
	return &http.Client{
		Transport:     abortable{inFlight, transport},
		Timeout:       cfg.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// abortable ends every request when ctx ends. vegeta makes its requests without a context, so that a stopped run
// would otherwise have to wait for the slowest answer.
type abortable struct {
	ctx  context.Context
	next http.RoundTripper
}

func (a abortable) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	stop := context.AfterFunc(a.ctx, cancel)
	release := func() { stop(); cancel() }
	resp, err := a.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		release()
		return nil, err
	}
	resp.Body = releasingBody{resp.Body, release}
	return resp, nil
}

func (a abortable) CloseIdleConnections() {
	if c, ok := a.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

type releasingBody struct {
	io.ReadCloser
	release func()
}

func (b releasingBody) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}
