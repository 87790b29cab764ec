package resilience

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestErrataLinksToRealTests keeps docs/errata.md honest: each file it links to is there, and has the test it is linked for.
func TestErrataLinksToRealTests(t *testing.T) {
	const docs = "../../docs"
	errata, err := os.ReadFile(filepath.Join(docs, "errata.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests := 0
	for _, link := range regexp.MustCompile(`\[([^\]]+)\]\(([^)#]+)[^)]*\)`).FindAllStringSubmatch(string(errata), -1) {
		text, target := link[1], link[2]
		file, err := os.ReadFile(filepath.Join(docs, target))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if strings.HasPrefix(text, "Test") {
			tests++
			if !strings.Contains(string(file), "func "+text+"(t *testing.T)") {
				t.Errorf("there is no %s in %s", text, target)
			}
		}
	}
	if tests < 100 {
		t.Errorf("only %d tests are named", tests)
	}
}
