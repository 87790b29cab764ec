package idempotency

import (
	"errors"
	"net/http"
	"strings"
	"testing"
)

func TestParseKey(t *testing.T) {
	const key = "0b8e7c1a-order-42"
	for name, c := range map[string]struct {
		value string
		want  string // "" = refused
	}{
		"bare":                  {key, key},
		"quoted is the same":    {`"` + key + `"`, key},
		"surrounding space":     {" " + key + "\t", key},
		"shortest":              {strings.Repeat("k", 16), strings.Repeat("k", 16)},
		"longest":               {strings.Repeat("k", 255), strings.Repeat("k", 255)},
		"punctuation":           {"!#$%&'()*+-./:=?@_`{|}~", "!#$%&'()*+-./:=?@_`{|}~"},
		"empty":                 {"", ""},
		"empty quoted":          {`""`, ""},
		"too short":             {strings.Repeat("k", 15), ""},
		"too short but quoted":  {`"` + strings.Repeat("k", 15) + `"`, ""},
		"too long":              {strings.Repeat("k", 256), ""},
		"space inside":          {"0b8e7c1a order 42", ""},
		"control":               {"0b8e7c1a\x00order-42", ""},
		"delete":                {"0b8e7c1a\x7forder-42", ""},
		"not ASCII":             {"0b8e7c1a-ördered-42", ""},
		"parameters":            {`"` + key + `";v=1`, ""},
		"parameters, bare":      {key + ";v=1", ""},
		"list":                  {key + "," + key, ""},
		"escape":                {`"0b8e7c1a\"order-42"`, ""},
		"unclosed quote":        {`"` + key, ""},
		"quote at the end only": {key + `"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseKey(c.value)
			if got != c.want || (err == nil) != (c.want != "") {
				t.Fatalf("ParseKey(%q) = %q, %v, want %q", c.value, got, err, c.want)
			}
			var r *Refusal
			if err != nil && (!errors.As(err, &r) || r.Name != KeyInvalid || r.Status != 400) {
				t.Errorf("error = %#v, want a 400 %s", err, KeyInvalid)
			}
		})
	}
}

func TestKeyOf(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"missing":   {nil, KeyMissing},
		"two lines": {[]string{strings.Repeat("a", 20), strings.Repeat("a", 20)}, KeyInvalid},
		"empty":     {[]string{""}, KeyInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := KeyOf(&http.Request{Header: http.Header{Header: c.lines}})
			var r *Refusal
			if !errors.As(err, &r) || r.Name != c.want || r.Status != 400 || r.RetryAfter != 0 {
				t.Errorf("error = %#v, want a 400 %s without Retry-After", err, c.want)
			}
		})
	}
}

func TestFingerprintTellsRequestsApart(t *testing.T) {
	type order struct {
		Sku, Quantity int
	}
	base := func() (string, string, []string, any) {
		return "POST", "/carts/{id}/orders", []string{"7"}, order{1, 2}
	}
	of := func(method, route string, ids []string, v any) Fingerprint {
		f, err := FingerprintOf(method, route, ids, v)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	first := of(base())
	if of(base()) != first {
		t.Error("the same request has two fingerprints")
	}
	for name, other := range map[string]Fingerprint{
		"method":     of("PUT", "/carts/{id}/orders", []string{"7"}, order{1, 2}),
		"route":      of("POST", "/carts/{id}/quotes", []string{"7"}, order{1, 2}),
		"path id":    of("POST", "/carts/{id}/orders", []string{"8"}, order{1, 2}),
		"body":       of("POST", "/carts/{id}/orders", []string{"7"}, order{2, 1}),
		"delimiters": of("POST", "/carts/{id}/orders7", nil, order{1, 2}),
	} {
		if other == first {
			t.Errorf("another %s has the same fingerprint", name)
		}
	}
	if of("POST", "/x", []string{"a:b", "c"}, 1) == of("POST", "/x", []string{"a", "b:c"}, 1) {
		t.Error(`("a:b","c") and ("a","b:c") have the same fingerprint`)
	}
	if _, err := FingerprintOf("POST", "/x", nil, func() {}); err == nil {
		t.Error("a request that cannot be encoded got a fingerprint")
	}
}

func FuzzParseKey(f *testing.F) {
	f.Add(`"0123456789abcdef"`)
	f.Add("0123456789abcdef;v=1")
	f.Fuzz(func(t *testing.T, value string) {
		key, err := ParseKey(value)
		if err != nil {
			return
		}
		if again, err := ParseKey(`"` + key + `"`); err != nil || again != key {
			t.Errorf("%q parsed to %q, which quoted parses to %q, %v", value, key, again, err)
		}
	})
}
