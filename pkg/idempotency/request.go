package idempotency

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
)

// Request is what a key was sent with.
type Request struct {
	Scope       string
	Key         string
	Fingerprint Fingerprint
	// Payload is stored with the claim and handed to whoever takes an abandoned key over; nil when nobody will.
	Payload []byte
}

// Scope names whose key it is and for what: method and route template, for example "POST /orders", and tenant.
// Without it one customer could fetch another's answer with a guessed or colliding key. A route contains no space
// besides the one after the method, so the parts cannot run into each other.
func Scope(route, tenant string) string { return route + " " + tenant }

// Fingerprint tells whether two requests with one key are the same request.
type Fingerprint [sha256.Size]byte

// FingerprintOf hashes method, route template, the ids in the path, and the request re-encoded as JSON. It takes the
// decoded value rather than the bytes that arrived, so that white space and the order of members do not matter, and
// never sees volatile headers. Every part is length-prefixed: "a:b","c" and "a","b:c" differ.
func FingerprintOf(method, route string, pathIDs []string, request any) (Fingerprint, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return Fingerprint{}, fmt.Errorf("idempotency: fingerprint: %w", err)
	}
	h := sha256.New()
	for _, part := range append([]string{method, route, string(body)}, pathIDs...) {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		h.Write([]byte(part))
	}
	return Fingerprint(h.Sum(nil)), nil
}
