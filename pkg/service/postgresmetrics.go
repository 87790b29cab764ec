package service

import (
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
)

// statCollector shows a pool's statistics: one snapshot per scrape, so that its numbers belong together.
type statCollector[S any] struct {
	snapshot func() S
	values   []statValue[S]
}

type statValue[S any] struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	read func(S) float64
}

// Describe implements prometheus.Collector.
func (c *statCollector[S]) Describe(ch chan<- *prometheus.Desc) {
	for _, v := range c.values {
		ch <- v.desc
	}
}

// Collect implements prometheus.Collector.
func (c *statCollector[S]) Collect(ch chan<- prometheus.Metric) {
	snapshot := c.snapshot()
	for _, v := range c.values {
		ch <- prometheus.MustNewConstMetric(v.desc, v.kind, v.read(snapshot))
	}
}

func newPostgresCollector(db string, pool *pgxpool.Pool) prometheus.Collector {
	type stat = *pgxpool.Stat
	value := func(kind prometheus.ValueType, name, help string, read func(stat) float64) statValue[stat] {
		return statValue[stat]{prometheus.NewDesc(name, help, nil, prometheus.Labels{"db": db}), kind, read}
	}
	const gauge, counter = prometheus.GaugeValue, prometheus.CounterValue
	return &statCollector[stat]{snapshot: pool.Stat, values: []statValue[stat]{
		value(gauge, "pgxpool_acquired_conns", "Connections in use.", func(s stat) float64 { return float64(s.AcquiredConns()) }),
		value(gauge, "pgxpool_idle_conns", "Connections waiting for work.", func(s stat) float64 { return float64(s.IdleConns()) }),
		value(gauge, "pgxpool_max_conns", "Most connections the pool may open.", func(s stat) float64 { return float64(s.MaxConns()) }),
		value(counter, "pgxpool_acquire_total", "Connections taken.", func(s stat) float64 { return float64(s.AcquireCount()) }),
		value(counter, "pgxpool_empty_acquire_total", "Times a taker had to wait.", func(s stat) float64 { return float64(s.EmptyAcquireCount()) }),
		value(counter, "pgxpool_canceled_acquire_total", "Times a taker gave up waiting.", func(s stat) float64 { return float64(s.CanceledAcquireCount()) }),
		value(counter, "pgxpool_new_conns_total", "Connections opened; a high rate means queries are cut off by their context.", func(s stat) float64 { return float64(s.NewConnsCount()) }),
		value(counter, "pgxpool_acquire_wait_seconds_total", "Time spent waiting for a connection.", func(s stat) float64 { return s.EmptyAcquireWaitTime().Seconds() }),
	}}
}
