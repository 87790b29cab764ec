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
	c := ourContract()
	const redis = 50 * time.Millisecond
	if longest := c.stock.Total + redis; longest > c.gather() {
		t.Errorf("stock and its snapshot take %v of %v", longest, c.gather())
	}
	if longest := c.recommendations.Total + c.price.Total; longest > c.gather() {
		t.Errorf("recommendations and their prices take %v of %v", longest, c.gather())
	}
	for _, p := range []part{c.catalogue, c.price, c.stock, c.recommendations} {
		if p.Attempt > p.Total || p.Total > c.gather() {
			t.Errorf("%s: an attempt of %v in %v of %v", p.Name, p.Attempt, p.Total, c.gather())
		}
	}
}
