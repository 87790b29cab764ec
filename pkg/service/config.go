package service

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"
)

// Base holds the knobs every service has. A service embeds it in its own Config and may set another default for a knob by
// giving the field a value before Run.
type Base struct {
	PublicAddr      string        `env:"PUBLIC_ADDR" envDefault:":8080" unit:"host:port" help:"Where customers and other services are answered."`
	InternalAddr    string        `env:"INTERNAL_ADDR" envDefault:":9090" unit:"host:port" help:"Where metrics, profiles and dependencies are shown; not for the public."`
	RequestTimeout  time.Duration `env:"REQUEST_TIMEOUT" envDefault:"2s" help:"Longest time a request may take; callers can only shorten it."`
	MaxBodyBytes    int64         `env:"MAX_BODY_BYTES" envDefault:"65536" unit:"bytes" help:"Largest request body; more is answered 413."`
	DrainDelay      time.Duration `env:"DRAIN_DELAY" envDefault:"2s" help:"Time to keep serving after SIGTERM, until load balancers have noticed."`
	ShutdownTimeout time.Duration `env:"SHUTDOWN_TIMEOUT" envDefault:"6s" help:"Time for requests in flight after the drain delay; both together must stay below what the platform grants."`
	Without         Pattern       `env:"RESILIENCE_WITHOUT" unit:"pattern" help:"For demonstrations: one pattern to go without, deadline, bulkhead, limiter, breaker, retry-budget, hedge, fallback or idempotency."`
	Traces          TraceConfig
	LogLevel        slog.Level `env:"LOG_LEVEL" envDefault:"INFO" unit:"level" help:"DEBUG, INFO, WARN or ERROR."`
}

// Common returns the shared knobs.
func (b *Base) Common() *Base { return b }

// Configurable is a service's Config: a pointer to a struct of `env` tagged fields that embeds [Base]. Validate reports every
// problem at once (errors.Join); the chassis checks Base itself.
type Configurable interface {
	Common() *Base
	Validate() error
}

// validate reports every problem of the shared knobs.
func (b *Base) validate() error {
	return errors.Join(
		checkAddr("PUBLIC_ADDR", b.PublicAddr),
		checkAddr("INTERNAL_ADDR", b.InternalAddr),
		b.Traces.validate(),
		Check(b.RequestTimeout >= minRequestTimeout, "REQUEST_TIMEOUT: %v is below the useful minimum of %v", b.RequestTimeout, minRequestTimeout),
		Check(b.RequestTimeout <= readTimeout, "REQUEST_TIMEOUT: %v is above the %v a client has to send its request", b.RequestTimeout, readTimeout),
		Check(b.MaxBodyBytes > 0, "MAX_BODY_BYTES: must be positive, is %d", b.MaxBodyBytes),
		Check(b.DrainDelay >= 0, "DRAIN_DELAY: must not be negative, is %v", b.DrainDelay),
		Check(b.ShutdownTimeout > 0, "SHUTDOWN_TIMEOUT: must be positive, is %v", b.ShutdownTimeout),
	)
}

func checkAddr(key, addr string) error {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}
