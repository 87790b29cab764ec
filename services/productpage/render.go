package main

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"
)

//go:embed templates/*.html
var templateFiles embed.FS

// view is what every template gets: the frame, and the page's own data.
type view struct {
	Title      string
	Query      string // in the search field
	Active     string // slug of the department shown
	Categories []Category
	Naive      bool // this is the twin that is not protected
	Page       any
}

// loadTemplates parses each page together with the frame.
func loadTemplates(assets map[string]asset) (map[string]*template.Template, error) {
	funcs := template.FuncMap{
		"money":   money,
		"picture": pictureURL,
		"asset":   func(name string) string { return "/static/" + name + "?v=" + assets[name].version },
		"ago":     func(t time.Time) string { return ago(time.Since(t)) },
		"clock":   func(t time.Time) string { return t.UTC().Format("15:04 UTC") },
		"date":    func(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") },
		"iso":     func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"plural":  plural,
		"add":     func(a, b int) int { return a + b },
	}
	files, err := templateFiles.ReadDir("templates")
	pages := map[string]*template.Template{}
	for _, f := range files {
		name := strings.TrimSuffix(f.Name(), path.Ext(f.Name()))
		if name == "frame" {
			continue
		}
		pages[name], err = template.New("frame.html").Funcs(funcs).ParseFS(templateFiles, "templates/frame.html", "templates/"+f.Name())
		if err != nil {
			return nil, err
		}
	}
	return pages, err
}

// render sends a page. It is made in memory first: a template that fails half-way must become a 500, not half a page.
func (s *shop) render(w http.ResponseWriter, r *http.Request, status int, page, title string, data any) error {
	t, ok := s.pages[page]
	if !ok {
		return fmt.Errorf("no template %q", page)
	}
	v := view{Title: title, Categories: s.catalogue.categories, Naive: s.naive, Page: data}
	if home, ok := data.(homeView); ok {
		v.Query = home.Query
		if home.Category != nil {
			v.Active = home.Category.Slug
		}
	}
	var body bytes.Buffer
	if err := t.Execute(&body, v); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(body.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // the client is gone: nobody to tell
	return nil
}

// money writes minor units as people do: 129900 EUR is €1,299.00.
func money(amount int64, currency string) string {
	whole := strconv.FormatInt(amount/100, 10)
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	text := fmt.Sprintf("%s.%02d", whole, amount%100)
	if currency == "EUR" {
		return "€" + text
	}
	return text + " " + currency
}

// ago tells an age in words.
func ago(d time.Duration) string {
	switch {
	case d < 2*time.Second:
		return "just now"
	case d < 2*time.Minute:
		return fmt.Sprintf("%d seconds ago", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d minutes ago", int(d.Minutes()))
	}
	return fmt.Sprintf("%d hours ago", int(d.Hours()))
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
