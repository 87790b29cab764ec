package service

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// PrefersHTML reports whether the client names text/html in Accept and wants JSON no more than that, as browsers do. A client
// that names neither (curl) gets JSON.
func PrefersHTML(r *http.Request) bool {
	var html, json float64
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		mediaType, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		q := 1.0
		if v, has := params["q"]; has {
			if q, err = strconv.ParseFloat(v, 64); err != nil {
				continue
			}
		}
		switch mediaType {
		case "text/html", "application/xhtml+xml":
			html = max(html, q)
		case "application/json", "application/problem+json":
			json = max(json, q)
		}
	}
	return html > 0 && html >= json
}
