package resilience

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"testing"
	"time"
)

// dice turns a fuzzer's bytes into numbers: mostly small or round ones, which get past validate, now and then any at all.
type dice struct{ bytes []byte }

func (d *dice) next() byte {
	if len(d.bytes) == 0 {
		return 0
	}
	b := d.bytes[0]
	d.bytes = d.bytes[1:]
	return b
}

func (d *dice) any() int64 {
	var raw [8]byte
	for i := range raw {
		raw[i] = d.next()
	}
	return int64(binary.LittleEndian.Uint64(raw[:]))
}

func (d *dice) int() int {
	if b := d.next(); b < 250 {
		return int(b % 25)
	}
	return int(d.any())
}

func (d *dice) ratio() float64 {
	if b := d.next(); b < 250 {
		return float64(b%26) / 25
	}
	return math.Float64frombits(uint64(d.any()))
}

func (d *dice) duration() time.Duration {
	steps := []time.Duration{0, time.Nanosecond, time.Millisecond, 20 * time.Millisecond, time.Second, time.Minute, math.MaxInt64}
	if b := d.next(); b < 250 {
		return steps[int(b)%len(steps)]
	}
	return time.Duration(d.any())
}

// config rolls every number there is.
func (d *dice) config() Config {
	algorithms := []func() LimitAlgorithm{nil, AIMD, Vegas, Gradient2}
	var c Config
	layers := d.next()
	c.Timeout = Timeout{Total: d.duration(), Attempt: d.duration(), Min: d.duration()}
	if layers&1 != 0 {
		c.Bulkhead = Bulkhead{Max: d.int(), MaxWait: d.duration()}
	}
	if layers&2 != 0 {
		c.Adaptive = Adaptive{Min: d.int(), Max: d.int(), Initial: d.int(), MaxWait: d.duration(), Floor: d.duration(), Algorithm: algorithms[d.next()%4]}
	}
	if layers&4 != 0 {
		c.Breaker = Breaker{
			FailureRatio: d.ratio(), SlowRatio: d.ratio(), SlowAfter: d.duration(), MinCalls: d.int(), Window: d.duration(),
			ConsecutiveFailures: d.int(), OpenFor: d.duration(), Probes: d.int(), Successes: d.int(),
		}
	}
	if layers&8 != 0 {
		c.Retry = Retry{Max: d.int(), Base: d.duration(), Cap: d.duration(), BudgetRatio: d.ratio(), BudgetFloor: d.int()}
	}
	if layers&16 != 0 {
		c.Hedge = Hedge{MaxRatio: d.ratio() / 16, Idempotent: true, Quantile: d.ratio(), MinSamples: d.int()}
	}
	return c
}

// FuzzConfig makes sure that whatever is accepted works: a call that succeeds, one that fails, and a description.
func FuzzConfig(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 4, 0, 0, 8, 0})
	f.Add([]byte{2, 4, 0, 0, 1, 9, 3, 0, 0, 1})
	f.Add([]byte{4, 4, 3, 0, 10, 10, 2, 5, 5, 3, 4, 1, 2})
	f.Add([]byte{8 | 16, 4, 3, 0, 1, 2, 3, 5, 5, 10, 20, 10})
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := New("dep", (&dice{b}).config(), nil)
		if err != nil {
			return
		}
		defer d.Close()
		t.Log(d.Describe())
		if v, err := Call(t.Context(), d, succeed); v != 1 && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%d, %v", v, err)
		}
		if err := try(d, fail); !errors.Is(err, errDown) && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want the failure or a refusal because of it", err)
		}
		wantIdle(t, d)
	})
}
