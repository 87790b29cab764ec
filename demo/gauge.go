package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"watertight.example/demo/faults"
	"watertight.example/demo/planflip"
)

// gauge shows Prometheus what is broken on purpose, so that a dashboard can mark it. It asks whoever holds the faults at each scrape: what
// it says is true of that moment, whoever set them.
type gauge struct {
	active *prometheus.Desc
	edges  *faults.Client
	plans  planflip.DB // nil: nobody flips plans here
}

func newGauge(edges *faults.Client, plans planflip.DB) *gauge {
	return &gauge{edges: edges, plans: plans, active: prometheus.NewDesc("chaos_fault_active",
		"1 while a fault is in force, by its kind and by the edge that it breaks.", []string{"kind", "target"}, nil)}
}

// Describe implements prometheus.Collector.
func (g *gauge) Describe(to chan<- *prometheus.Desc) { to <- g.active }

// Collect implements prometheus.Collector. Every kind is there on every edge, at 0: a series that only comes with its fault has no beginning
// to mark. Who does not answer has no series, because what is broken is then unknown.
func (g *gauge) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second) // a scrape has 2 s
	defer cancel()
	if edges, err := g.edges.Edges(ctx); err == nil {
		inForce := map[[2]string]float64{}
		for _, e := range edges {
			for _, a := range e.Active() {
				inForce[[2]string{a.Kind, e.Name}] = 1
			}
			for _, k := range faults.Kinds() {
				to <- prometheus.MustNewConstMetric(g.active, prometheus.GaugeValue, inForce[[2]string{k.Name, e.Name}], k.Name, e.Name)
			}
		}
	}
	if g.plans == nil {
		return
	}
	if status, err := planflip.State(ctx, g.plans); err == nil {
		flipped := 0.0
		if status.Broken() {
			flipped = 1
		}
		to <- prometheus.MustNewConstMetric(g.active, prometheus.GaugeValue, flipped, "plan-flip", "recommendations-plan")
	}
}

// serve answers GET /metrics until ctx ends.
func (g *gauge) serve(ctx context.Context, address string) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(g)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute}
	defer context.AfterFunc(ctx, func() { server.Close() })()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
