package service

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// shopConfig has a knob of each kind.
type shopConfig struct {
	Base
	DatabaseURL Secret `env:"DATABASE_URL" envDefault:"postgres://shop@localhost/shop" help:"Where the shop's rows are."`
	PricingURL  string `env:"PRICING_URL" envDefault:"http://u:hunter2@localhost" help:"Where pricing answers."`
	Slots       int    `env:"SLOTS" envDefault:"4" unit:"calls" help:"Calls in flight."`
	Pricing     struct {
		OpenFor time.Duration `env:"OPEN_FOR" envDefault:"30s" help:"How long the breaker stays open."`
	} `envPrefix:"PRICING_"`
}

func (c *shopConfig) Validate() error {
	return errors.Join(Check(c.Slots > 0, "SLOTS: must be positive, is %d", c.Slots), Check(c.Pricing.OpenFor > 0, "PRICING_OPEN_FOR: must be positive"))
}

func environment(pairs ...string) func(string) string {
	return func(key string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == key {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestConfigNeedsNothing(t *testing.T) {
	var c shopConfig
	if err := Load(&c, environment("SLOTS", "")); err != nil {
		t.Fatal(err)
	}
	if c.PublicAddr != ":8080" || c.Slots != 4 || c.Pricing.OpenFor != 30*time.Second || c.LogLevel != slog.LevelInfo {
		t.Errorf("defaults: %+v", c)
	}
}

func TestConfigReadsTheEnvironment(t *testing.T) {
	c := shopConfig{Base: Base{RequestTimeout: 5 * time.Second, DrainDelay: time.Second}}
	if err := Load(&c, environment("PRICING_OPEN_FOR", "3s", "LOG_LEVEL", "debug", "DRAIN_DELAY", "0s", "DATABASE_URL", "postgres://db")); err != nil {
		t.Fatal(err)
	}
	if c.Pricing.OpenFor != 3*time.Second || c.LogLevel != slog.LevelDebug || c.DatabaseURL.Reveal() != "postgres://db" {
		t.Errorf("environment: %+v", c)
	}
	if c.RequestTimeout != 5*time.Second {
		t.Errorf("a default set in code is lost: %v", c.RequestTimeout)
	}
	if c.DrainDelay != 0 {
		t.Errorf("a zero from the environment is taken for unset: %v", c.DrainDelay)
	}
}

func TestConfigReportsEveryMistakeAtOnce(t *testing.T) {
	var c shopConfig
	err := Load(&c, environment("SLOTS", "0", "PRICING_OPEN_FOR", "30", "REQUEST_TIMEOUT", "1h", "LOG_LEVEL", "LOUD",
		"MAX_BODY_BYTES", "-1", "PUBLIC_ADDR", "8080", "SHUTDOWN_TIMEOUT", "http://u:hunter2@h"))
	if err == nil {
		t.Fatal("accepted")
	}
	for _, key := range []string{"SLOTS", "PRICING_OPEN_FOR", "REQUEST_TIMEOUT", "LOG_LEVEL", "MAX_BODY_BYTES", "PUBLIC_ADDR", "SHUTDOWN_TIMEOUT"} {
		if n := strings.Count(err.Error(), key+":"); n != 1 {
			t.Errorf("%s is named %d times, want once", key, n)
		}
	}
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a password is shown: %v", err)
	}
	if t.Failed() {
		t.Log(err)
	}
}

func TestConfigIsLoggedMasked(t *testing.T) {
	var c shopConfig
	if err := Load(&c, environment("DATABASE_URL", "postgres://shop:hunter2@db/shop")); err != nil {
		t.Fatal(err)
	}
	var log testLog
	logConfig(newLogger(&log, "shop", slog.LevelInfo), &c)
	line := log.lines("configuration")
	if len(line) != 1 || strings.Contains(log.String(), "hunter2") {
		t.Fatalf("log: %s", &log)
	}
	values := line[0]["config"].(map[string]any)
	for key, want := range map[string]string{"DATABASE_URL": "postgres://shop:xxxxx@db/shop", "PRICING_URL": "http://u:xxxxx@localhost", "SLOTS": "4", "PRICING_OPEN_FOR": "30s"} {
		if values[key] != want {
			t.Errorf("%s is logged as %v, want %s", key, values[key], want)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add("5s", "12", "postgres://u:p@h/db")
	f.Add("-1s", "9999999999999999999", "://")
	f.Add("5", "0x10", "")
	f.Fuzz(func(t *testing.T, duration, number, url string) {
		var c shopConfig
		err := Load(&c, environment("REQUEST_TIMEOUT", duration, "SLOTS", number, "DATABASE_URL", url))
		if err == nil && (c.Slots <= 0 || c.RequestTimeout <= 0) {
			t.Errorf("accepted %q %q: %+v", duration, number, c)
		}
	})
}
