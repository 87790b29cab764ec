package service

import (
	"strings"
	"testing"
)

type switchConfig struct {
	Base
	Protected Switch `env:"PROTECTED" envDefault:"on" help:"Whether it is."`
}

func (*switchConfig) Validate() error { return nil }

func TestSwitch(t *testing.T) {
	for text, want := range map[string]string{"": "on", "on": "on", "off": "off"} {
		cfg := &switchConfig{}
		if err := Load(cfg, func(k string) string { return map[string]string{"PROTECTED": text}[k] }); err != nil || cfg.Protected.String() != want {
			t.Errorf("%q: %v, %v; want %s", text, cfg.Protected, err, want)
		}
	}
	for _, text := range []string{"true", "ON", "no"} {
		err := Load(&switchConfig{}, func(k string) string { return map[string]string{"PROTECTED": text}[k] })
		if err == nil || !strings.Contains(err.Error(), "PROTECTED") || !strings.Contains(err.Error(), "on, off") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
