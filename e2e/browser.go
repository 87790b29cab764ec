//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// The widths at which pages are looked at.
const (
	desktop = 1280
	phone   = 360
)

// tab is a tab of a real browser. Whatever the page writes to its console as an error fails the test at its end.
type tab struct {
	t   testing.TB
	ctx context.Context

	mu    sync.Mutex
	wrong []string
}

// newTab starts headless Chromium. Debian's package is all that is needed; scripts/test.sh installs it where it may.
func newTab(t testing.TB) *tab {
	t.Helper()
	var chromium string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			chromium = path
			break
		}
	}
	if chromium == "" {
		t.Fatal("the browser tests need Chromium in PATH (Debian: apt-get install chromium)")
	}
	ctx, end := chromedp.NewExecAllocator(t.Context(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("disable-dev-shm-usage", true))...)
	t.Cleanup(end)
	ctx, closeTab := chromedp.NewContext(ctx)
	t.Cleanup(closeTab)
	b := &tab{t: t, ctx: ctx}
	messages := chromedp.Console(ctx)
	listening, stop := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		for m, err := range messages {
			if err != nil || listening.Err() != nil {
				return
			}
			if m.IsException() || m.Type == "error" {
				b.mu.Lock()
				b.wrong = append(b.wrong, m.String()+" "+m.URL)
				b.mu.Unlock()
			}
		}
	})
	t.Cleanup(func() { // runs before the browser ends, which it does with noise of its own
		stop()
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, m := range b.wrong {
			t.Errorf("console: %s", m)
		}
	})
	return b
}

func (b *tab) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 20*time.Second)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatalf("%s: %v", what, err)
	}
}

func (b *tab) open(url string) {
	b.t.Helper()
	b.do("open "+url, chromedp.Navigate(url))
}

func (b *tab) click(selector string) {
	b.t.Helper()
	b.do("click "+selector, chromedp.ScrollIntoView(selector), chromedp.Click(selector))
}

// holds evaluates a JavaScript condition in the page.
func (b *tab) holds(condition string) bool {
	ctx, cancel := context.WithTimeout(b.ctx, 5*time.Second)
	defer cancel()
	ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("Boolean("+condition+")"))
	return err == nil && ok
}

// within waits for a condition and gives the time it took.
func (b *tab) within(limit time.Duration, condition string) time.Duration {
	b.t.Helper()
	began := time.Now()
	eventuallyIn(b.t, limit, condition, func() bool { return b.holds(condition) })
	return time.Since(began)
}

// says waits until the page has the text.
func (b *tab) says(text string) {
	b.t.Helper()
	b.within(10*time.Second, fmt.Sprintf("document.body.innerText.includes(%q)", text))
}

// fits fails the test when the page is wider than its window, which on a phone means that it must be pushed about.
func (b *tab) fits(width int64) {
	b.t.Helper()
	b.do("resize", chromedp.EmulateViewport(width, 800))
	b.within(2*time.Second, fmt.Sprintf("document.documentElement.scrollWidth <= %d", width))
}

// shoot keeps a picture of the whole page with the run's artifacts, from its top: what sticks to the window would be in its middle.
func (b *tab) shoot(name string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 20*time.Second)
	defer cancel()
	_, err := chromedp.Run(ctx, chromedp.Evaluate[any]("scrollTo({top: 0, behavior: 'instant'})"))
	var picture []byte
	if err == nil {
		picture, err = chromedp.Run(ctx, chromedp.FullScreenshot(100))
	}
	if err == nil {
		err = os.MkdirAll(filepath.Join(artifacts, "screenshots"), 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(artifacts, "screenshots", name+".png"), picture, 0o644)
	}
	if err != nil {
		b.t.Errorf("screenshot %s: %v", name, err)
	}
}
