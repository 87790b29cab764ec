package control

import (
	"bytes"
	"io"
	"net/http"
	"regexp"
)

// The shop forbids to be framed (frame-ancestors 'none'), rightly: nobody shall be tricked into pressing its buttons. So the room
// shows copies: fetched by itself, without scripts and forms, in a sandbox, with pictures and styles through the two routes here.

// framePolicy lets a copy load its style and its drawings from where the room serves them, and do nothing else.
const framePolicy = "sandbox; default-src 'none'; style-src 'self'; img-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'"

// asset is everything that a page of the shop loads.
var asset = regexp.MustCompile(`^(static|pictures)/[A-Za-z0-9._-]+$`)

// showFrame answers GET /frames/{page}/: the last page that came, as it came, but for the addresses of its assets.
func (r *Room) showFrame(w http.ResponseWriter, req *http.Request) error {
	page := req.PathValue("page")
	c := r.cameras[page]
	if c == nil || c.page() == nil {
		return refuse(http.StatusNotFound, "not-found", "There is no such page, or it has not come yet.")
	}
	copied := c.page()
	for _, kind := range []string{"static", "pictures"} {
		copied = bytes.ReplaceAll(copied, []byte(`="/`+kind+`/`), []byte(`="/frames/`+page+`/`+kind+`/`))
	}
	w.Header().Set("Content-Security-Policy", framePolicy)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, err := w.Write(copied)
	return err
}

// showAsset answers GET /frames/{page}/{path...} with a stylesheet or a drawing of the shop.
func (r *Room) showAsset(w http.ResponseWriter, req *http.Request) error {
	c, path := r.cameras[req.PathValue("page")], req.PathValue("path")
	if c == nil || !asset.MatchString(path) {
		return refuse(http.StatusNotFound, "not-found", "The shop's pages load nothing from there.")
	}
	ask, err := http.NewRequestWithContext(req.Context(), http.MethodGet, c.base+"/"+path, nil)
	if err != nil {
		return err
	}
	resp, err := c.client.Do(ask)
	if err != nil {
		return refuse(http.StatusBadGateway, "no-answer", "The shop does not answer.")
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return refuse(http.StatusBadGateway, "no-answer", "The shop answers, but not with what was asked for.")
	}
	w.Header().Set("Content-Security-Policy", framePolicy)
	w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
	w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin") // a sandbox is an origin of its own, and not this one
	// The style has its hash in its address, a drawing follows from its product: without this a hung page would lose its look.
	w.Header().Set("Cache-Control", "public, max-age=86400")
	_, err = io.Copy(w, io.LimitReader(resp.Body, maxBody))
	return err
}
