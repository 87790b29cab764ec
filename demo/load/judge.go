package load

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// Class is what a visitor got.
type Class uint8

// The three classes. Degraded is a right page that says what is missing; everything that is neither full nor
// honestly degraded is Failed.
const (
	Full Class = iota
	Degraded
	Failed
)

// String gives the class's name in reports.
func (c Class) String() string { return [...]string{"full", "degraded", "failed"}[c] }

// Sample is one answer, or the lack of one.
type Sample struct {
	Kind    Kind
	At      time.Time     // when the request was sent
	Latency time.Duration // until the whole body was read, or the request given up
	Status  int           // HTTP status, 0 without an answer
	Class   Class
	Parts   []string // what the Degraded header names; unknown names are "other"
	Banner  bool     // a product page says that its count may lag: it is the snapshot's; without it and without live stock there is none
	Stale   bool     // that count is older than the banner allows
	Cause   string   // why it failed: one of a bounded set like "status 503", "timeout", "wrong page: product"
}

// judge sorts one result.
func judge(st step, res *vegeta.Result) Sample {
	s := Sample{
		Kind: st.kind, At: res.Timestamp, Latency: res.Latency, Status: int(res.Code),
		Parts: degradedParts(res.Headers.Values("Degraded")),
	}
	switch {
	case res.Code == 0:
		s.Cause = networkCause(res.Error)
	case !expectedStatus(st.kind, int(res.Code)):
		s.Cause = fmt.Sprintf("status %d", res.Code)
	case !rightPage(st, res, len(s.Parts) > 0):
		s.Cause = "wrong page: " + string(st.kind)
	}
	switch {
	case s.Cause != "":
		s.Class, s.Parts = Failed, nil // whatever else a failed page says about itself is not to be trusted
	case len(s.Parts) > 0:
		s.Class = Degraded
	}
	if s.Class != Failed && st.kind == Product {
		s.Banner, s.Stale = bytes.Contains(res.Body, []byte(banner)), tooOld.Match(res.Body)
	}
	return s
}

// banner stands over a count of the snapshot, and the count has its age beside it: in seconds, as long as it may be shown
// (services/productpage/templates/product.html).
const banner = "Stock counts may lag by up to 2 minutes"

var tooOld = regexp.MustCompile(`class="asof"> as of \d+ (minutes|hours) ago`)

// expectedStatus: a refusal of business (422: sold out, quote expired) is the shop at work, not a failure.
func expectedStatus(k Kind, status int) bool {
	switch k {
	case Cart:
		return status == http.StatusSeeOther
	case Place:
		return status == http.StatusSeeOther || status == http.StatusUnprocessableEntity
	case State:
		return status == http.StatusSeeOther || status == http.StatusOK || status == http.StatusUnprocessableEntity
	}
	return status == http.StatusOK
}

// rightPage looks for what only the right page holds, e.g. this product's picture on a product page. A shop that
// answers 200 with an error text, another product, or half a page has failed.
func rightPage(st step, res *vegeta.Result, degraded bool) bool {
	if res.Code == http.StatusSeeOther {
		// Only such a path is followed, on the shop's own host: a target must not send the load to a stranger.
		to := res.Headers.Get("Location")
		switch st.kind {
		case Cart:
			return strings.HasPrefix(to, "/checkout?")
		case Place: // to the intent, or, where intents have no keys (RESILIENCE_WITHOUT=idempotency), to the order
			return strings.HasPrefix(to, "/checkout/") || strings.HasPrefix(to, "/orders/")
		}
		return strings.HasPrefix(to, "/orders/")
	}
	page := string(res.Body)
	if !strings.HasPrefix(res.Headers.Get("Content-Type"), "text/html") || !strings.Contains(page, "</html>") {
		return false
	}
	switch st.kind {
	case Browse:
		return strings.Contains(page, `name="q"`) && strings.Contains(page, `href="/products/`)
	case Search:
		return strings.Contains(page, `name="q"`) // a search may find nothing
	case Product:
		return strings.Contains(page, "/pictures/"+strconv.Itoa(st.product)+".svg")
	case Checkout:
		_, ok := CheckoutForm(res.Body)
		return ok || degraded // without a price there is nothing to sign, and the page says so
	case Order:
		return strings.Contains(page, strings.TrimPrefix(st.path, "/orders/"))
	}
	return true
}

// degradedParts reads "Degraded: recommendations, stock". Names the shop does not have become "other", so that a
// sick target cannot make the report grow without end.
func degradedParts(values []string) []string {
	known := []string{"catalogue", "price", "stock", "recommendations"}
	var parts []string
	for _, value := range values {
		for _, name := range strings.Split(value, ",") {
			name = strings.TrimSpace(name)
			if name == "" {
				continue
			}
			if !slices.Contains(known, name) {
				name = "other"
			}
			if !slices.Contains(parts, name) {
				parts = append(parts, name)
			}
		}
	}
	return parts
}

// networkCause names why there was no answer. vegeta keeps only the text of an error, so text is what is looked at.
func networkCause(text string) string {
	for _, c := range []struct{ sign, cause string }{
		{"Client.Timeout", "timeout"},
		{"deadline exceeded", "timeout"},
		{"connection refused", "refused"},
		{"connection reset", "reset"},
		{"broken pipe", "reset"},
		{"EOF", "cut off"},
		{"no such host", "unknown host"},
		{"server misbehaving", "unknown host"}, // Docker's resolver, for a service that is down
	} {
		if strings.Contains(text, c.sign) {
			return c.cause
		}
	}
	return "no answer"
}
