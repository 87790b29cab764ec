package main

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
)

// lag is how far the replica is behind: the difference between the heartbeat that
// was written last and the one the replica shows. Both are times of the primary's
// clock, so nobody's clocks need to agree, and a primary that is idle or away makes
// no replica look old (now() - pg_last_xact_replay_timestamp() does). Safe for
// concurrent use.
type lag struct {
	most          time.Duration
	written, seen atomic.Int64 // unix ns; 0 while unknown
}

// errBehind counts against the replica as any failure does: five in a row open its
// breaker, and the primary is read without asking the replica first.
var errBehind = errors.New("the replica is too far behind")

// beat writes a heartbeat.
func (l *lag) beat(ctx context.Context, primary *store) error {
	at, err := primary.Beat(ctx)
	if err == nil {
		l.written.Store(at.UnixNano())
	}
	return err
}

// replayed notes the heartbeat the replica shows, and says whether its answer may be used.
func (l *lag) replayed(at time.Time) error {
	l.seen.Store(at.UnixNano())
	if l.now() > l.most {
		return errBehind
	}
	return nil
}

func (l *lag) now() time.Duration {
	written, seen := l.written.Load(), l.seen.Load()
	if written == 0 || seen == 0 {
		return 0
	}
	return max(0, time.Duration(written-seen)) // another instance may have beaten later
}

// watch is the thermometer. It is read past the replica's limit and breaker, for it
// is needed most when they refuse. (Each read of the window measures, too.)
func (l *lag) watch(ctx context.Context, replica *pgxpool.Pool) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	var at time.Time
	if err := replica.QueryRow(ctx, `SELECT at FROM heartbeat`).Scan(&at); err != nil {
		return err
	}
	l.seen.Store(at.UnixNano())
	return nil
}

// export shows the lag; it grows while the replica cannot be reached, and is no number before both sides were heard of.
func (l *lag) export(reg prometheus.Registerer) {
	reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "inventory_replica_lag_seconds", Help: "How far the replica is behind the primary, by the heartbeat; its grain is HEARTBEAT_EVERY.",
	}, func() float64 {
		if l.written.Load() == 0 || l.seen.Load() == 0 {
			return math.NaN()
		}
		return l.now().Seconds()
	}))
}
