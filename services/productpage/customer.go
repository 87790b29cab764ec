package main

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"watertight.example/pkg/service"
)

// customers tells visitors apart by a signed cookie: a random id nobody can guess or make up. It is what keeps one person's orders
// from another's eyes, so it is never read from anywhere else; an X-Customer-Id from outside is dropped at the edge.
type customers struct {
	secret []byte
	secure bool
}

const cookieName = "customer"

func newCustomers(s *service.Service, cfg *Config) *customers {
	secret := []byte(cfg.CookieSecret.Reveal())
	if len(secret) == 0 {
		secret = []byte(rand.Text() + rand.Text())
		s.Log.Warn("COOKIE_SECRET is empty: one was made up, customers will be forgotten at a restart")
	}
	return &customers{secret: secret, secure: cfg.CookieSecure}
}

// id returns the customer of a request, "" for somebody new or with a forged cookie.
func (c *customers) id(r *http.Request) string {
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		return ""
	}
	id, signature, _ := strings.Cut(cookie.Value, ".")
	if !isUUID(id) || !hmac.Equal([]byte(signature), []byte(c.sign(id))) {
		return ""
	}
	return id
}

// ensure returns the customer of a request and gives a new one a cookie. Lax: another site's form does not carry it, a link does.
func (c *customers) ensure(w http.ResponseWriter, r *http.Request) string {
	if id := c.id(r); id != "" {
		return id
	}
	id := uuid.NewString()
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: id + "." + c.sign(id), Path: "/", MaxAge: 365 * 24 * 3600,
		HttpOnly: true, Secure: c.secure, SameSite: http.SameSiteLaxMode})
	return id
}

func (c *customers) sign(id string) string {
	mac := hmac.New(sha256.New, c.secret)
	mac.Write([]byte("customer:" + id))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// isUUID accepts only the canonical form, in lower case: an id that goes into an address inside has exactly one spelling.
func isUUID(text string) bool {
	id, err := uuid.Parse(text)
	return err == nil && id.String() == text
}
