package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = ".."

var (
	link    = regexp.MustCompile(`\[([^\]]*)\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	target  = regexp.MustCompile("`make ([a-z0-9-]+)")
	script  = regexp.MustCompile("(?:^|[`\\s])((?:deploy|scripts)/[a-z/-]+\\.sh)")
)

// Every link of every page leads to a file that exists, to a heading that is in it, and, where it is called like a test, to that test.
func TestLinks(t *testing.T) {
	pages, links := 0, 0
	for path, text := range markdown(t) {
		pages++
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			name, address := m[1], m[2]
			if strings.Contains(address, "://") {
				continue
			}
			links++
			file, anchor, _ := strings.Cut(address, "#")
			if file = filepath.Join(filepath.Dir(path), file); strings.HasPrefix(address, "#") {
				file = path
			}
			info, err := os.Stat(file)
			if err != nil {
				t.Errorf("%s: [%s](%s) leads nowhere", path, name, address)
				continue
			}
			if info.IsDir() {
				continue
			}
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if anchor != "" && !hasHeading(string(content), anchor) {
				t.Errorf("%s: %s has no heading #%s", path, file, anchor)
			}
			if strings.HasPrefix(name, "Test") && !strings.Contains(string(content), "func "+name+"(t *testing.T)") {
				t.Errorf("%s: there is no %s in %s", path, name, file)
			}
		}
	}
	if pages < 5 || links < 100 {
		t.Errorf("only %d pages with %d links were looked at", pages, links)
	}
}

// Every command that a page tells people to run exists.
func TestCommands(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range markdown(t) {
		for _, m := range target.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(string(makefile), "\n"+m[1]+":") {
				t.Errorf("%s: there is no make %s", path, m[1])
			}
		}
		for _, m := range script.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
				t.Errorf("%s: there is no %s", path, m[1])
			}
		}
	}
}

// markdown reads every page of the repository.
func markdown(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "reports" || name == "artifacts") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) == ".md" {
			text, err := os.ReadFile(path)
			pages[path] = string(text)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// hasHeading follows GitHub's way of making an anchor out of a heading: lower case, no punctuation, hyphens for spaces.
func hasHeading(text, anchor string) bool {
	for _, h := range heading.FindAllStringSubmatch(text, -1) {
		slug := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-', r == '_', r >= 'a' && r <= 'z', r >= '0' && r <= '9', r > 127:
				return r
			}
			return -1
		}, strings.ToLower(h[1]))
		if slug == anchor {
			return true
		}
	}
	return false
}
