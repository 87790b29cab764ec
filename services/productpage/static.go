package main

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"watertight.example/pkg/service"
)

//go:embed static
var staticFiles embed.FS

// asset is a file of the shop's look.
type asset struct {
	body    []byte
	version string // hash of the body: part of its address, and its ETag
}

func loadAssets() (map[string]asset, error) {
	assets := map[string]asset{}
	return assets, fs.WalkDir(staticFiles, "static", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := staticFiles.ReadFile(path)
		assets[strings.TrimPrefix(path, "static/")] = asset{body, versionOf(body)}
		return err
	})
}

func versionOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:6])
}

// showAsset answers GET /static/*. Under the address with its version a file may be kept for ever: other content has another address.
func (s *shop) showAsset(w http.ResponseWriter, r *http.Request) error {
	name := chi.URLParam(r, "*")
	a, ok := s.assets[name]
	if !ok {
		return service.NewProblem(http.StatusNotFound, "not-found", "There is nothing at this address.")
	}
	keep := "public, max-age=300"
	if r.URL.Query().Get("v") == a.version {
		keep = "public, max-age=31536000, immutable"
	}
	serve(w, r, name, a.body, a.version, keep)
	return nil
}

// showPicture answers GET /pictures/{id}.svg. A picture follows from its product, which may be edited, so it is good for a day and
// then checked by its ETag.
func (s *shop) showPicture(w http.ResponseWriter, r *http.Request) error {
	id, err := strconv.Atoi(chi.URLParam(r, "id"))
	if err != nil {
		return noProduct()
	}
	p, ok := s.catalogue.lookup(id)
	if !ok {
		return noProduct()
	}
	body := picture(p)
	serve(w, r, "picture.svg", body, versionOf(body), "public, max-age=86400")
	return nil
}

// serve sends bytes with an ETag; http.ServeContent answers conditional and range requests.
func serve(w http.ResponseWriter, r *http.Request, name string, body []byte, version, keep string) {
	w.Header().Set("ETag", `"`+version+`"`)
	w.Header().Set("Cache-Control", keep)
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(body))
}

func pictureURL(p Product) string { return fmt.Sprintf("/pictures/%d.svg", p.ID) }
