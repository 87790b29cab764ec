//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"watertight.example/demo/control"
	"watertight.example/demo/incident"
)

const (
	recommendationsGuard = `document.querySelector('[data-guard="productpage/recommendations"] .chip.%s')`
	protectedPage        = `document.querySelector('[data-page=protected] .state').innerText.startsWith("%s")`
)

// inTheControlRoom opens it at a desk, on a shop that is whole.
func inTheControlRoom(t *testing.T) (*Stack, *tab) {
	t.Helper()
	s := stack(t)
	s.waitWhole(t)
	b := newTab(t)
	b.fits(desktop)
	b.open(s.controlRoom(t))
	b.within(10*time.Second, fmt.Sprintf(recommendationsGuard, "closed"))
	return s, b
}

// A visitor breaks recommendations in the control room, sees what is hurt and what is protected within five seconds, mends it, and
// sees it heal.
func TestTheControlRoom(t *testing.T) {
	_, b := inTheControlRoom(t)
	b.within(5*time.Second, `document.querySelectorAll("[data-page] iframe:not(.coming)").length === 2`) // both pages are really there
	b.shoot("control-room")
	b.fits(phone)
	b.shoot("control-room-phone")
	b.fits(desktop)
	b.do("choose the place", chromedp.SetValue("#place", "Recommendations"))
	b.click("#kinds input[value=hang]")
	b.click("#break button[type=submit]")

	// The breaker opens after five calls of 120 ms that fail and last half a second, the page is taken once a second.
	broken := fmt.Sprintf(recommendationsGuard+" && "+protectedPage, "open", "Degraded")
	t.Logf("the open breaker and the degraded page are seen after %s", b.within(5*time.Second, broken).Round(time.Millisecond))
	b.within(time.Second, `document.querySelector('[data-guard="productpage/recommendations"] .reason').innerText !== ""`)
	b.shoot("control-room-broken")
	b.fits(phone)
	b.shoot("control-room-broken-phone")
	b.fits(desktop)

	b.click("#mend")
	healed := b.within(openFor+probeTime+5*time.Second, fmt.Sprintf(recommendationsGuard+" && "+protectedPage, "closed", "Whole"))
	t.Logf("both are seen healed %s after the mend", healed.Round(time.Millisecond))
}

// The plan flips by the command that the page shows, and ANALYZE is pressed.
func TestThePlanFlipsInTheControlRoom(t *testing.T) {
	_, b := inTheControlRoom(t)
	b.do("choose the place", chromedp.SetValue("#place", "The plan of their query"))
	b.within(5*time.Second, `(document.getElementById("break").dispatchEvent(new Event("change")), true)`)
	line, err := chromedp.Run(b.ctx, chromedp.TextContent("[data-command=break] code"))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "sh", "-c", line+" --silent --show-error --fail").CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", line, err, out)
	}
	b.within(10*time.Second, `document.getElementById("headline").innerText.includes("has flipped")`)
	b.within(10*time.Second, fmt.Sprintf(recommendationsGuard, "open"))
	b.click("#analyze")
	b.within(10*time.Second, `!document.getElementById("headline").innerText.includes("has flipped")`)
	b.within(openFor+probeTime+10*time.Second, fmt.Sprintf(recommendationsGuard+" && "+protectedPage, "closed", "Whole"))
}

// With the keyboard alone: a tab is enough to skip to the switches, and Enter breaks. In both colour schemes every text stands out from what it
// stands on, by 4.5 to 1 (WCAG 2.2, 1.4.3); who wants no motion gets none.
func TestTheControlRoomIsForEverybody(t *testing.T) {
	s, b := inTheControlRoom(t)
	press := func(key string) { b.do("press a key", chromedp.KeyEvent(key)) }
	press(kb.Tab)
	b.within(time.Second, `document.activeElement.className === "skip"`)
	press(kb.Enter)
	for range 12 {
		if press(kb.Tab); b.holds(`document.activeElement.matches("#break button[type=submit]")`) {
			break
		}
	}
	press(kb.Enter)
	b.within(3*time.Second, `!document.getElementById("broken").innerText.includes("Nothing.")`)
	for _, scheme := range []string{"light", "dark"} {
		b.do("colours", media("prefers-color-scheme", scheme))
		b.within(3*time.Second, contrast+".length === 0")
	}
	b.shoot("control-room-dark")
	b.do("no motion", media("prefers-reduced-motion", "reduce"))
	b.within(time.Second, `[...document.querySelectorAll("*")].every((e) => parseFloat(getComputedStyle(e).transitionDuration) === 0 && getComputedStyle(e).animationName === "none")`)
	s.Mend(t)
	s.waitWhole(t)
}

func media(feature, value string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia,
			emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: feature, Value: value}}})
		return err
	})
}

// contrast lists the texts that do not stand out. What is disabled or hidden need not (1.4.3, inactive components).
const contrast = `(() => {
  const rgb = (c) => c.match(/[\d.]+/g).map(Number);
  const light = (c) => rgb(c).slice(0, 3).map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor, a = rgb(c)[3]; if (a === undefined || a === 1) return c; } return "rgb(255, 255, 255)"; };
  return [...document.querySelectorAll("body *")].filter((e) => e.checkVisibility() && !e.disabled && !e.closest("svg, .skip")
    && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())).filter((e) => {
      const [a, b] = [light(getComputedStyle(e).color), light(ground(e))].sort((x, y) => y - x);
      return (a + 0.05) / (b + 0.05) < 4.5;
    }).map((e) => e.outerHTML.slice(0, 80));
})()`

// controlRoom opens one on the running stack, as demo control does, and gives its address. The stack has none of its own: its visitors
// would come to both pages during every other test.
func (s *Stack) controlRoom(t testing.TB) string {
	t.Helper()
	twin := func(name string) control.Twin {
		return control.Twin{Twin: incident.Twin{Target: s.URL(name), Internal: s.Internal(name)}, Public: s.URL(name) + "/products/42"}
	}
	cfg := control.Config{Protected: twin("productpage"), Naive: twin("productpage-naive"), Toxiproxy: s.API(), Hosts: []string{"127.0.0.1"},
		Plan: s.plans(t), Rate: 4, Product: 42, Incident: incident.Times{Baseline: time.Second, Fault: time.Second, Recovery: time.Second}, OpenFor: openFor}
	for _, name := range shopServices {
		cfg.Services = append(cfg.Services, control.Service{Name: name, Internal: s.Internal(name)})
	}
	room, err := control.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- room.Run(ctx) }()
	server := httptest.NewServer(room.Handler())
	t.Cleanup(func() {
		cancel()
		server.CloseClientConnections()
		server.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return server.URL
}
