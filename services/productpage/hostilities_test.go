package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// hostility is one way in which another service can be wrong.
type hostility struct {
	name    string
	handler http.HandlerFunc
}

func hostilities() []hostility {
	body := func(contentType, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			_, _ = io.WriteString(w, text)
		}
	}
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", code) }
	}
	return []hostility{
		{"garbage", body("application/json", "\x00\xff{{{]]")},
		{"HTML with 200", body("text/html", "<html><body>Welcome to the captive portal</body></html>")},
		{"HTML called JSON", body("application/json", "<html>")},
		{"empty", body("application/json", "")},
		{"null", body("application/json", "null")},
		{"empty object", body("application/json", "{}")},
		{"an array", body("application/json", "[1,2,3]")},
		{"wrong types", body("application/json", `{"prices":"many","stock":{"sku":true},"items":7,"as_of":12}`)},
		{"numbers beyond any type", body("application/json", `{"prices":[{"sku":1e999,"amount":1e999}],"stock":[{"available":1e999}],"items":[{"product_id":1e999}]}`)},
		{"negative numbers", func(w http.ResponseWriter, r *http.Request) { nonsensical(w, r, -1, "EUR", 1) }},
		{"absurd numbers", func(w http.ResponseWriter, r *http.Request) { nonsensical(w, r, 1<<60, "EUR", 1) }},
		{"a currency of its own", func(w http.ResponseWriter, r *http.Request) {
			nonsensical(w, r, -5, "<script>alert(1)</script>", 1)
		}},
		{"other products than asked for", func(w http.ResponseWriter, r *http.Request) { nonsensical(w, r, 5, "EUR", 0) }},
		{"two thousand items", func(w http.ResponseWriter, r *http.Request) { nonsensical(w, r, 5, "EUR", 2000) }},
		{"nested for ever", body("application/json", strings.Repeat(`{"prices":[`, 20_000))},
		{"1 GB", endless(1 << 30)},
		{"1 GB of a header", func(w http.ResponseWriter, _ *http.Request) {
			for i := range 2000 {
				w.Header().Set(fmt.Sprintf("X-Filler-%d", i), strings.Repeat("a", 1024))
			}
		}},
		{"trickle", trickle},
		{"hang", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }},
		{"half a body", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, `{"prices":[`)
			panic(http.ErrAbortHandler)
		}},
		{"reset", reset},
		{"a redirect to elsewhere", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:9/steal", http.StatusFound)
		}},
		{"500", status(500)}, {"502", status(502)}, {"503", status(503)}, {"504", status(504)}, {"429", status(429)}, {"404", status(404)}, {"418", status(418)},
	}
}

// nonsensical answers every question with figures of the given size, about product+offset, so many times.
func nonsensical(w http.ResponseWriter, r *http.Request, figure int64, currency string, times int) {
	var sku int
	if _, err := fmt.Sscanf(r.URL.Path, "/products/%d/", &sku); err != nil {
		_, _ = fmt.Sscanf(r.URL.Query().Get("sku"), "%d", &sku)
	}
	item := object{"sku": sku, "amount": figure, "currency": currency, "available": figure, "product_id": sku + 1, "together": figure}
	if times == 0 {
		item["sku"], item["product_id"] = sku+1, sku // the product itself is no recommendation
		times = 1
	}
	items := slices.Repeat([]object{item}, times)
	send(w, http.StatusOK, object{"product_id": sku, "as_of": time.Now(), "prices": items, "stock": items, "items": items})
}

// endless writes up to n bytes of one JSON string, for as long as somebody reads it.
func endless(n int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		chunk := bytes.Repeat([]byte("a"), 1<<16)
		_, err := io.WriteString(w, `{"prices":"`)
		for sent := 0; err == nil && sent < n; sent += len(chunk) {
			_, err = w.Write(chunk)
		}
	}
}

// trickle keeps the connection busy with a space now and then: no idle timeout ever fires.
func trickle(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-tick.C:
			_, _ = io.WriteString(w, " ")
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// reset ends the connection with an RST instead of an answer.
func reset(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	_ = conn.(*net.TCPConn).SetLinger(0)
	_ = conn.Close()
}
