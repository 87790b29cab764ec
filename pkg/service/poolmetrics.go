package service

import (
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
)

func newPostgresCollector(db string, pool *pgxpool.Pool) prometheus.Collector {
	type stat = *pgxpool.Stat
	c := newStatCollector(db, pool.Stat)
	c.gauge("pgxpool_acquired_conns", "Connections in use.", func(s stat) float64 { return float64(s.AcquiredConns()) })
	c.gauge("pgxpool_idle_conns", "Connections waiting for work.", func(s stat) float64 { return float64(s.IdleConns()) })
	c.gauge("pgxpool_max_conns", "Most connections the pool may open.", func(s stat) float64 { return float64(s.MaxConns()) })
	c.counter("pgxpool_acquire_total", "Connections taken.", func(s stat) float64 { return float64(s.AcquireCount()) })
	c.counter("pgxpool_empty_acquire_total", "Times a taker had to wait.",
		func(s stat) float64 { return float64(s.EmptyAcquireCount()) })
	c.counter("pgxpool_canceled_acquire_total", "Times a taker gave up waiting.",
		func(s stat) float64 { return float64(s.CanceledAcquireCount()) })
	c.counter("pgxpool_new_conns_total", "Connections opened; a high rate means contexts cut queries off.",
		func(s stat) float64 { return float64(s.NewConnsCount()) })
	c.counter("pgxpool_acquire_wait_seconds_total", "Time spent waiting for a connection.",
		func(s stat) float64 { return s.EmptyAcquireWaitTime().Seconds() })
	return c
}

func newRedisCollector(db string, client *redis.Client) prometheus.Collector {
	type stat = *redis.PoolStats
	c := newStatCollector(db, client.PoolStats)
	c.counter("redis_pool_hits_total", "Times a free connection was there.", func(s stat) float64 { return float64(s.Hits) })
	c.counter("redis_pool_misses_total", "Times a connection had to be opened.", func(s stat) float64 { return float64(s.Misses) })
	c.counter("redis_pool_timeouts_total", "Times no connection came free in time.", func(s stat) float64 { return float64(s.Timeouts) })
	c.counter("redis_pool_waits_total", "Times a taker had to wait.", func(s stat) float64 { return float64(s.WaitCount) })
	c.counter("redis_pool_stale_total", "Connections removed as stale.", func(s stat) float64 { return float64(s.StaleConns) })
	c.gauge("redis_pool_total_conns", "Connections open.", func(s stat) float64 { return float64(s.TotalConns) })
	c.gauge("redis_pool_idle_conns", "Connections waiting for work.", func(s stat) float64 { return float64(s.IdleConns) })
	return c
}

// statCollector shows a pool's statistics: one snapshot per scrape, so that its numbers belong together.
type statCollector[S any] struct {
	db       string
	snapshot func() S
	values   []statValue[S]
}

type statValue[S any] struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	read func(S) float64
}

func newStatCollector[S any](db string, snapshot func() S) *statCollector[S] {
	return &statCollector[S]{db: db, snapshot: snapshot}
}

func (c *statCollector[S]) gauge(name, help string, read func(S) float64) {
	c.add(prometheus.GaugeValue, name, help, read)
}

func (c *statCollector[S]) counter(name, help string, read func(S) float64) {
	c.add(prometheus.CounterValue, name, help, read)
}

func (c *statCollector[S]) add(kind prometheus.ValueType, name, help string, read func(S) float64) {
	desc := prometheus.NewDesc(name, help, nil, prometheus.Labels{"db": c.db})
	c.values = append(c.values, statValue[S]{desc, kind, read})
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
