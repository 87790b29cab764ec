package service

import (
	"strings"
	"testing"
)

func TestCheckURL(t *testing.T) {
	for value, ok := range map[string]bool{
		"http://pricing:8080":            true,
		"https://pricing/":               true,
		"postgres://u:secret@db/pricing": false,
		"pricing:8080":                   false,
		"http://":                        false,
		"http://u:secret@pricing:80 80/": false,
		"":                               false,
	} {
		err := CheckURL("PRICING_URL", value, "http", "https")
		if (err == nil) != ok {
			t.Errorf("%q: %v", value, err)
		}
		if err != nil && (!strings.HasPrefix(err.Error(), "PRICING_URL: ") || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%q: the error must name the knob and hide the value: %v", value, err)
		}
	}
}
