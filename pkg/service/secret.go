package service

import (
	"log/slog"
	"net/url"
	"strings"
)

// mask is what url.URL.Redacted shows, too.
const mask = "xxxxx"

// Secret is a string that must not reach a log: every way of printing it shows a mask. Of a URL only the password is hidden,
// because the host is what one wants to see. It is safe for concurrent use.
type Secret string

// Reveal returns the real value.
func (s Secret) Reveal() string { return string(s) }

// String returns the masked value.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	if masked, ok := maskURL(string(s)); ok {
		return masked
	}
	return mask
}

// GoString masks %#v.
func (s Secret) GoString() string { return s.String() }

// LogValue masks the value in slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText masks the value in JSON and every other text encoding.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// maskURL hides the password of a URL, also one given as a query parameter, and reports whether s was a URL at all.
func maskURL(s string) (string, bool) {
	if !strings.Contains(s, "://") {
		return "", false
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return mask, true // a broken URL may hold its password anywhere
	}
	query := u.Query()
	for name := range query {
		if n := strings.ToLower(name); strings.Contains(n, "password") || strings.Contains(n, "secret") || strings.Contains(n, "token") {
			query.Set(name, mask)
			u.RawQuery = query.Encode()
		}
	}
	return u.Redacted(), true
}
