package control

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
)

// pagePolicy: scripts, styles and frames are the room's own files; nothing is inline, nothing comes from elsewhere.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; " +
	"form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

// guard stands before everything. The room breaks things, so a page of somebody else must not be able to use a visitor's browser for it:
// neither by a request from its own origin (CrossOriginProtection looks at Sec-Fetch-Site and Origin), nor by pointing a name of its
// own at 127.0.0.1 (DNS rebinding), which a browser takes for the same origin, but which shows in Host.
func (r *Room) guard(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		(&problem{"/problems/cross-site", "Forbidden", http.StatusForbidden, "Another site's page may not change anything here."}).write(w)
	}))
	next = protection.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", pagePolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if !r.known(req.Host) {
			(&problem{"/problems/unknown-host", "Misdirected Request", http.StatusMisdirectedRequest,
				fmt.Sprintf("This is not %s. Open the control room as %s.", req.Host, strings.Join(r.cfg.Hosts, " or "))}).write(w)
			return
		}
		next.ServeHTTP(w, req)
	})
}

// known looks at the name only: the port is whatever it is published on.
func (r *Room) known(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return slices.Contains(r.cfg.Hosts, strings.ToLower(strings.Trim(host, "[]")))
}
