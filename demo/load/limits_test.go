package load

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestParseTarget(t *testing.T) {
	for target, ok := range map[string]bool{
		"http://127.0.0.1:18080":        true,
		"http://127.8.8.8":              true,
		"http://[::1]:18080/":           true,
		"http://localhost:18080":        true,
		"http://productpage:8080":       true,
		"https://inventory-naive":       true,
		"http://shop.example.com":       false,
		"http://shop.":                  false,
		"http://192.168.1.1":            false,
		"http://0.0.0.0:18080":          false,
		"http://[fe80::1]":              false,
		"http://[::ffff:192.168.1.1]":   false,
		"http://3232235777":             false, // 192.168.1.1 to the C resolver
		"http://0xc0a80101":             false, // the same
		"http://localhost@stranger.com": false,
		"http://user@localhost":         false,
		"http://localhost/path":         false,
		"http://localhost?x=1":          false,
		"ftp://localhost":               false,
		"localhost:18080":               false,
		"":                              false,
	} {
		if _, err := parseTarget(target, false); (err == nil) != ok {
			t.Errorf("%q: %v, want accepted: %v", target, err, ok)
		}
	}
	_, err := parseTarget("http://shop.example.com", false)
	if err == nil || !strings.Contains(err.Error(), "-i-own-this-host") {
		t.Errorf("the refusal does not say what to do: %v", err)
	}
	if u, err := parseTarget("http://shop.example.com/", true); err != nil || u.String() != "http://shop.example.com" {
		t.Errorf("the owner was refused: %v %v", u, err)
	}
}

func TestConfigNamesEveryProblemAtOnce(t *testing.T) {
	err := Config{Target: "http://stranger.example", Rate: 9999, Duration: -1, Every: -1}.Validate()
	for _, want := range []string{"rate 9999", "duration -1ns", "timeout 0s", "every -1ns", "mix is empty", "stranger"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in %v", want, err)
		}
	}
}

func TestMixReadsWhatItWrites(t *testing.T) {
	var m Mix
	if err := m.Set(DefaultMix().String()); err != nil || m != DefaultMix() {
		t.Errorf("got %v, %v", m, err)
	}
	for _, bad := range []string{"", "product", "product=-1", "product=x", "steal=1", "buy=1001"} {
		if err := m.Set(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
	if m != DefaultMix() {
		t.Error("a bad value changed the mix")
	}
}

func TestQuantileIsANearestRank(t *testing.T) {
	var l latencies
	if l.quantile(0.5) != 0 {
		t.Error("no answers, yet a percentile")
	}
	for range 99 {
		l.add(10 * time.Millisecond)
	}
	l.add(4800 * time.Millisecond)
	for q, want := range map[float64]time.Duration{0: 10, 0.5: 10, 0.99: 10, 0.991: 4800, 1: 4800} {
		want *= time.Millisecond
		if got := l.quantile(q); got < want || got > want*102/100 {
			t.Errorf("p%v = %v, want %v and at most 2 %% more", 100*q, got, want)
		}
	}
	l.add(time.Hour) // beyond all buckets
	if l.quantile(1) != time.Hour {
		t.Errorf("the longest is %v, want 1h", l.quantile(1))
	}
}

// A run for ever against a target that never says the same thing twice must not grow.
func TestTallyIsBounded(t *testing.T) {
	total := newTally()
	for i := range 5000 {
		total.add(Sample{Kind: Product, Class: Degraded, Parts: degradedParts([]string{fmt.Sprintf("part%d", i)})})
		total.add(Sample{Kind: Product, Class: Failed, Cause: networkCause(fmt.Sprintf("strange error %d", i))})
	}
	if len(total.parts) != 1 || len(total.causes) != 1 || total.all.count != 10000 {
		t.Errorf("%d parts, %d causes, %d answers", len(total.parts), len(total.causes), total.all.count)
	}
}

func TestSummaryPrints(t *testing.T) {
	total := newTally()
	total.add(Sample{Kind: Product, Latency: 12 * time.Millisecond})
	total.add(Sample{Kind: Product, Latency: 30 * time.Millisecond, Class: Degraded, Parts: []string{"stock"}})
	total.add(Sample{Kind: Place, Latency: time.Second, Class: Failed, Cause: "status 503"})
	s := total.summary()
	s.Target, s.Purchases, s.CutShort = "http://shop", Purchases{Placed: 3, Refused: 1}, 2
	var b strings.Builder
	s.Print(&b)
	for _, want := range []string{
		"3 requests to http://shop", "33.3 %", "12 ms", "1000 ms", "purchases: 3 placed, 1 refused, 0 unfinished",
		"pages without: stock 1", "failed by: status 503 1", "2 still in flight",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
}
