package service

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// TraceConfig holds OpenTelemetry's own variables that say whether spans are recorded and where they go. What else there is (the
// other OTEL_EXPORTER_OTLP_... such as HEADERS, OTEL_BSP_..., OTEL_RESOURCE_ATTRIBUTES) its SDK reads from the process's environment.
type TraceConfig struct {
	Endpoint       string `env:"OTEL_EXPORTER_OTLP_ENDPOINT" unit:"URL" help:"Collector that gets the traces by OTLP over HTTP, under /v1/traces; without one nothing is recorded."`
	TracesEndpoint string `env:"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" unit:"URL" help:"The same with a path of its own; comes before the other."`
	Disabled       string `env:"OTEL_SDK_DISABLED" unit:"true, false" help:"true records nothing, wherever it would go."`
	ServiceName    string `env:"OTEL_SERVICE_NAME" help:"What the service is called in traces, if not by its own name."`
	Sampler        string `env:"OTEL_TRACES_SAMPLER" unit:"sampler" help:"Which traces: [parentbased_]always_on, always_off or traceidratio; parentbased_always_on without."`
	SamplerArg     string `env:"OTEL_TRACES_SAMPLER_ARG" unit:"ratio" help:"Share of the traces for traceidratio, 0 to 1."`
}

// target is where spans go, "" for nowhere.
func (c *TraceConfig) target() string {
	switch {
	case strings.EqualFold(c.Disabled, "true"):
		return ""
	case c.TracesEndpoint != "":
		return c.TracesEndpoint
	case c.Endpoint != "":
		return strings.TrimSuffix(c.Endpoint, "/") + "/v1/traces"
	}
	return ""
}

// validate refuses an address that no span could ever reach.
func (c *TraceConfig) validate() error {
	return errors.Join(checkCollector("OTEL_EXPORTER_OTLP_ENDPOINT", c.Endpoint), checkCollector("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", c.TracesEndpoint))
}

func checkCollector(key, text string) error {
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	return Check(err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "",
		"%s: want http://host:port or https://, is %q", key, shown(text))
}

// sampler makes the one that is asked for. As the standard wants it, one that is not known is no reason not to start: the error
// goes into the log, and the default is used.
func (c *TraceConfig) sampler() (sdktrace.Sampler, error) {
	name := strings.ToLower(strings.TrimSpace(c.Sampler))
	root, inherits := strings.CutPrefix(name, "parentbased_")
	var sampler sdktrace.Sampler
	var err error
	switch root {
	case "always_on":
		sampler = sdktrace.AlwaysSample()
	case "always_off":
		sampler = sdktrace.NeverSample()
	case "traceidratio":
		sampler, err = ratioSampler(c.SamplerArg)
	default:
		sampler, inherits = sdktrace.AlwaysSample(), true
		err = Check(name == "", "OTEL_TRACES_SAMPLER: %q is not known here, parentbased_always_on is used", c.Sampler)
	}
	if inherits {
		sampler = sdktrace.ParentBased(sampler)
	}
	return sampler, err
}

func ratioSampler(arg string) (sdktrace.Sampler, error) {
	if arg == "" {
		return sdktrace.AlwaysSample(), nil
	}
	ratio, err := strconv.ParseFloat(strings.TrimSpace(arg), 64)
	if err != nil || !(ratio >= 0 && ratio <= 1) {
		return sdktrace.AlwaysSample(), fmt.Errorf("OTEL_TRACES_SAMPLER_ARG: %q is no number from 0 to 1, 1 is used", arg)
	}
	return sdktrace.TraceIDRatioBased(ratio), nil
}
