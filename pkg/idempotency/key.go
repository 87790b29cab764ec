package idempotency

import (
	"net/http"
	"strings"
)

// Header is the request header that carries the key, ReplayedHeader the answer header that marks a replay.
const (
	Header         = "Idempotency-Key"
	ReplayedHeader = "Idempotent-Replayed"
)

// A key shorter than 16 characters is more likely a counter than a random name of one intent; 255 is the limit
// that most payment APIs publish.
const (
	minKey = 16
	maxKey = 255
)

// KeyOf reads the key of a request. The error is a *Refusal: KeyMissing without the header, KeyInvalid for two
// header lines or a malformed value.
func KeyOf(r *http.Request) (string, error) {
	lines := r.Header.Values(Header)
	switch len(lines) {
	case 0:
		return "", &Refusal{Name: KeyMissing, Status: 400, Detail: "This request needs an Idempotency-Key header: a random name of one intent."}
	case 1:
		return ParseKey(lines[0])
	}
	return "", keyInvalid("More than one Idempotency-Key header line.")
}

// ParseKey reads one header value. The draft defines a structured-field String, which is quoted; in practice
// nearly everybody sends it bare. Both are accepted and mean the same key. Parameters, lists, control characters
// and anything outside visible ASCII are a *Refusal named KeyInvalid.
func ParseKey(value string) (string, error) {
	value = strings.Trim(value, " \t")
	key, quoted := strings.CutPrefix(value, `"`)
	if quoted {
		var closed bool
		if key, closed = strings.CutSuffix(key, `"`); !closed {
			return "", keyInvalid("A quoted key must end with its quote; parameters are not accepted.")
		}
	}
	if len(key) < minKey || len(key) > maxKey {
		return "", keyInvalid("A key has 16 to 255 characters.")
	}
	for i := range len(key) {
		switch c := key[i]; {
		case c < '!' || c > '~':
			return "", keyInvalid("A key consists of visible ASCII characters.")
		case strings.IndexByte(`"\,;`, c) >= 0: // escapes, lists, parameters: one key must have one spelling
			return "", keyInvalid(`A key contains none of the characters " \ , ;`)
		}
	}
	return key, nil
}
