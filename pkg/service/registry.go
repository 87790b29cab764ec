package service

import (
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// newRegistry makes a registry of the service's own (the global one panics when a test starts two services) and a registerer
// that attaches the service label, so that a raw scrape and any Prometheus config show the same.
func newRegistry(name string) (*prometheus.Registry, prometheus.Registerer) {
	registry := prometheus.NewRegistry()
	labelled := prometheus.WrapRegistererWith(prometheus.Labels{"service": name}, registry)
	labelled.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), newBuildInfo())
	return registry, labelled
}

// newBuildInfo is the gauge build_info, always 1, whose labels say what is running.
func newBuildInfo() prometheus.Collector {
	labels := prometheus.Labels{"version": "unknown", "revision": "unknown", "goversion": "unknown"}
	if info, ok := debug.ReadBuildInfo(); ok {
		labels["version"], labels["goversion"] = info.Main.Version, info.GoVersion
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				labels["revision"] = setting.Value
			}
		}
	}
	gauge := prometheus.NewGauge(prometheus.GaugeOpts{Name: "build_info", Help: "What is running; always 1.", ConstLabels: labels})
	gauge.Set(1)
	return gauge
}
