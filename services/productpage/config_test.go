package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
)

func TestConfigReportsEveryMistakeAtOnce(t *testing.T) {
	env := map[string]string{
		"PRICING_URL": "pricing:8080", "ORDERS_URL": "ftp://orders", "COOKIE_SECRET": "short", "CATALOGUE_EVERY": "0s", "REDIS_OPEN_FOR": "-1s",
		"INVENTORY_MIN_CALLS": "51", "PRICING_MAX_CALLS": "-1",
	}
	err := run(t.Context(), []string{"productpage"}, func(k string) string { return env[k] }, io.Discard)
	if err == nil {
		t.Fatal("started")
	}
	for key, value := range env {
		if !strings.Contains(err.Error(), key) {
			t.Errorf("%s=%s is not reported in:\n%v", key, value, err)
		}
	}
	if strings.Contains(err.Error(), "short") {
		t.Error("the secret is in the error")
	}
}

func TestHelpListsEveryKnob(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), []string{"productpage", "-h"}, func(string) string { return "" }, &out); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"DATABASE_URL", "REDIS_URL", "RECOMMENDATIONS_URL", "INVENTORY_URL", "PRICING_URL", "ORDERS_URL", "COOKIE_SECRET", "RECOMMENDATIONS_OPEN_FOR"} {
		if !strings.Contains(out.String(), key) {
			t.Errorf("-h does not list %s", key)
		}
	}
}

// The contract must be possible: parts fit into what is left for them, and a fallback after a failed part still does.
func TestContractAddsUp(t *testing.T) {
	for name, c := range map[string]contract{"ours": ourContract(), "in slow motion": slowMotion(), "naive": (&Config{}).contract()} {
		if err := c.check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for want, spoil := range map[string]func(c *contract){
		"rendering":            func(c *contract) { c.render = c.page },
		"snapshot":             func(c *contract) { c.stock.Total = 400 * time.Millisecond },
		"their prices":         func(c *contract) { c.recommendations.Total = 300 * time.Millisecond },
		"catalogue":            func(c *contract) { c.catalogue.Total = time.Second },
		"an attempt at price ": func(c *contract) { c.price.Attempt = 201 * time.Millisecond },
	} {
		c := ourContract()
		spoil(&c)
		if err := c.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
