package service

import (
	"strings"
	"testing"

	"go.uber.org/goleak"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/service/servicetest"
)

// newTracedService makes one that sends its traces to url; stop sends the last ones.
func newTracedService(t *testing.T, p Program, url string, env ...string) (s *Service, log *testLog, stop func()) {
	t.Helper()
	s, log = newTestService(t, p)
	cfg := &testConfig{}
	if err := Load(cfg, environment(append(env, "OTEL_EXPORTER_OTLP_ENDPOINT", url)...)); err != nil {
		t.Fatal(err)
	}
	s.base.Traces = cfg.Traces
	if err := s.startTraces(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.runStops() })
	return s, log, func() {
		if err := s.runStops(); err != nil {
			t.Error(err)
		}
	}
}

func wantTree(t *testing.T, c *servicetest.Collector, trace, want string) {
	t.Helper()
	if got := c.Tree(trace); got != strings.TrimLeft(want, "\n") {
		t.Errorf("got\n%s\nwant%s", got, want)
	}
}

func TestNothingIsTracedUnlessAsked(t *testing.T) {
	for name, env := range map[string][]string{
		"nothing set": {}, "set to nothing": {"OTEL_EXPORTER_OTLP_ENDPOINT", "", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", ""},
		"disabled": {"OTEL_SDK_DISABLED", "True", "OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318"},
	} {
		t.Run(name, func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			s, _ := newTestService(t, Program{})
			cfg := &testConfig{}
			if err := Load(cfg, environment(env...)); err != nil {
				t.Fatal(err)
			}
			s.base.Traces = cfg.Traces
			if err := s.startTraces(); err != nil || s.traces != nil || len(s.stops) != 0 {
				t.Errorf("traces %v, %d stops, %v", s.traces, len(s.stops), err)
			}
			o := &dependencyObserver{traces: s.traces}
			ctx := t.Context()
			if n := testing.AllocsPerRun(100, func() {
				if o.OnCallStart(ctx, "pricing") != ctx || o.OnAttempt(ctx, "pricing", 1) != ctx {
					t.Error("a context is derived for nothing")
				}
				s.traces.called(ctx, resilience.CallEvent{})
				s.traces.attempted(ctx, resilience.AttemptEvent{})
			}); n != 0 {
				t.Errorf("%v allocations for nothing", n)
			}
		})
	}
}

func TestWhereTracesGo(t *testing.T) {
	for want, env := range map[string][]string{
		"":                           {},
		"http://c:4318/v1/traces":    {"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318"},
		"https://c/otlp/v1/traces":   {"OTEL_EXPORTER_OTLP_ENDPOINT", "https://c/otlp/"},
		"http://own:4318/own/traces": {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://own:4318/own/traces", "OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318"},
	} {
		var cfg testConfig
		if err := Load(&cfg, environment(env...)); err != nil || cfg.Traces.target() != want {
			t.Errorf("%v: %q, %v, want %q", env, cfg.Traces.target(), err, want)
		}
	}
	for _, bad := range []string{"collector:4318", "grpc://c:4317", "http://", "://"} {
		for _, key := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"} {
			if err := Load(&testConfig{}, environment(key, bad)); err == nil || !strings.Contains(err.Error(), key+":") {
				t.Errorf("%s=%s: %v", key, bad, err)
			}
		}
	}
}

func TestSamplersAreTheStandards(t *testing.T) {
	for _, c := range []struct {
		name, arg, want string
		wrong           bool
	}{
		{"", "", "ParentBased{root:AlwaysOnSampler", false},
		{"always_on", "", "AlwaysOnSampler", false},
		{"always_off", "", "AlwaysOffSampler", false},
		{"traceidratio", "0.25", "TraceIDRatioBased{0.25}", false},
		{"traceidratio", "", "AlwaysOnSampler", false},
		{"ParentBased_TraceIDRatio ", " 0.25", "ParentBased{root:TraceIDRatioBased{0.25}", false},
		{"parentbased_always_off", "", "ParentBased{root:AlwaysOffSampler", false},
		{"traceidratio", "2", "AlwaysOnSampler", true},
		{"traceidratio", "NaN", "AlwaysOnSampler", true},
		{"jaeger_remote", "", "ParentBased{root:AlwaysOnSampler", true},
	} {
		sampler, err := (&TraceConfig{Sampler: c.name, SamplerArg: c.arg}).sampler()
		if !strings.HasPrefix(sampler.Description(), c.want) || (err != nil) != c.wrong {
			t.Errorf("%s %s: %s, %v, want %s", c.name, c.arg, sampler.Description(), err, c.want)
		}
	}
}
