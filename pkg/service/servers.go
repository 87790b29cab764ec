package service

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Limits of both listeners against clients that are slow, huge, or both. Without them a connection costs a goroutine for ever.
const (
	readHeaderTimeout = 2 * time.Second
	readTimeout       = 10 * time.Second // the whole request with its body
	writeTimeout      = 15 * time.Second // last resort; requests are ended by their context, see serveWithin
	idleTimeout       = 2 * time.Minute  // longer than Go clients keep idle connections (90 s): the side that sends must be the one to close
	maxHeaderBytes    = 16 << 10
)

func newServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug), // broken handshakes and headers of strangers
	}
}

// listen opens both ports; the kernel takes connections from here on.
func (b *Base) listen() (public, internal net.Listener, err error) {
	if public, err = net.Listen("tcp", b.PublicAddr); err != nil {
		return nil, nil, fmt.Errorf("PUBLIC_ADDR: %w", err)
	}
	if internal, err = net.Listen("tcp", b.InternalAddr); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("INTERNAL_ADDR: %w", err), public.Close())
	}
	return public, internal, nil
}

// internalHandler is what operators and Prometheus see. Its mux is our own: net/http/pprof also registers itself on the default
// one, which is why nothing here serves that.
func (s *Service) internalHandler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", s.metricsHandler())
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	s.handleOperators(mux)
	return sameOrigin(mux)
}

// metricsHandler offers OpenMetrics to scrapers that ask for it, because only that carries exemplars. It writes the edges of
// histograms as floats, "1.0" where the older text says "1", so a query that names such an edge matches one of the two only
// (authzed/spicedb#1768). Prometheus has asked for OpenMetrics from the first scrape on, so no series changes its name here;
// and our rules name no whole edge, see deploy/instruments.
func (s *Service) metricsHandler() http.Handler {
	return promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{
		Registry: s.Metrics, EnableOpenMetrics: true, MaxRequestsInFlight: 4, Timeout: 5 * time.Second, ErrorHandling: promhttp.ContinueOnError,
	})
}
