package load

import (
	"net/http"
	"strings"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// purchase is one customer on the way from the form to the order.
type purchase struct {
	means  bool   // to buy; the others look at the form and leave
	cookie string // who the shop thinks this is
	tries  int    // requests beyond the straight way
}

// patience is how often a customer asks again, a second apart, before giving up. A key abandoned by a crash is
// terminal within its 10 s lease and the 15 s after a fault; 30 s is beyond both.
const patience = 30

// purchases counts what became of all of them.
type purchases struct {
	posted, placed, refused int
}

// Purchases says what became of the orders that customers sent off.
type Purchases struct {
	Placed     int `json:"placed"`     // the customer saw the order
	Refused    int `json:"refused"`    // the shop said no and why, e.g. sold out
	Unfinished int `json:"unfinished"` // neither: given up, or still under way at the end of the run
}

func (p *purchases) report() Purchases {
	return Purchases{Placed: p.placed, Refused: p.refused, Unfinished: p.posted - p.placed - p.refused}
}

// advance says what the customer does after st: the next step and when, or false when the purchase is over.
func (p *purchases) advance(st step, sample Sample, res *vegeta.Result, now time.Time) (later, bool) {
	if line := cookies(res.Headers); line != "" {
		st.purchase.cookie = line
	}
	switch failed := sample.Class == Failed; {
	case st.kind == Cart:
		return later{now, step{kind: Checkout, path: res.Headers.Get("Location"), purchase: st.purchase}}, !failed
	case st.kind == Checkout:
		form, ok := CheckoutForm(res.Body)
		if failed || !ok || !st.purchase.means {
			return later{}, false // nothing was sent off; the page has been judged
		}
		p.posted++
		return later{now, step{kind: Place, path: "/checkout", form: form, purchase: st.purchase}}, true
	case failed:
		// People press the button again. It is the same form with the same key, so it must stay one order.
		return p.again(st, now)
	case res.Code == http.StatusSeeOther:
		next := step{kind: State, path: res.Headers.Get("Location"), purchase: st.purchase}
		if strings.HasPrefix(next.path, "/orders/") {
			next.kind = Order
		}
		return later{now, next}, true
	case st.kind == Order:
		p.placed++
		return later{}, false
	case st.kind == State && inProgress(res):
		return p.again(st, now)
	}
	p.refused++
	return later{}, false
}

func (p *purchases) again(st step, now time.Time) (later, bool) {
	st.purchase.tries++
	return later{now.Add(time.Second), st}, st.purchase.tries <= patience
}

// inProgress recognises the page that shows an order under way: it reloads itself, the final ones do not.
func inProgress(res *vegeta.Result) bool {
	return res.Headers.Get("Refresh") != "" || strings.Contains(string(res.Body), `http-equiv="refresh"`)
}

// cookies turns the Set-Cookie lines of an answer into the Cookie line of the next request.
func cookies(h http.Header) string {
	var pairs []string
	for _, c := range (&http.Response{Header: h}).Cookies() {
		pairs = append(pairs, c.Name+"="+c.Value)
	}
	return strings.Join(pairs, "; ")
}
