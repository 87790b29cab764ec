package load

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

func TestJudge(t *testing.T) {
	product := step{kind: Product, path: "/products/42", product: 42}
	state := step{kind: State, path: "/checkout/k"}
	const page42 = `<img src="/pictures/42.svg"></html>`
	html := func(body string, headers ...string) *vegeta.Result {
		h := http.Header{"Content-Type": {"text/html; charset=utf-8"}}
		for i := 0; i < len(headers); i += 2 {
			h.Add(headers[i], headers[i+1])
		}
		return &vegeta.Result{Code: 200, Headers: h, Body: []byte(body)}
	}
	to := func(location string) *vegeta.Result {
		return &vegeta.Result{Code: 303, Headers: http.Header{"Location": {location}}}
	}
	for name, c := range map[string]struct {
		step step
		res  *vegeta.Result
		want string
	}{
		"right product":               {product, html(page42), "full [] "},
		"honestly degraded":           {product, html(page42, "Degraded", "price, recommendations"), "degraded [price recommendations] "},
		"two header lines":            {product, html(page42, "Degraded", "price", "Degraded", "stock"), "degraded [price stock] "},
		"unknown parts become one":    {product, html(page42, "Degraded", "x1, x2, price"), "degraded [other price] "},
		"empty header":                {product, html(page42, "Degraded", " , "), "full [] "},
		"another product":             {product, html(`<img src="/pictures/420.svg"></html>`), "failed [] wrong page: product"},
		"error text with 200":         {product, html(`Internal error</html>`), "failed [] wrong page: product"},
		"half a page":                 {product, html(`<img src="/pictures/42.svg">`), "failed [] wrong page: product"},
		"degraded is no excuse":       {product, html(`oops`, "Degraded", "price"), "failed [] wrong page: product"},
		"JSON instead":                {product, &vegeta.Result{Code: 200, Headers: http.Header{"Content-Type": {"application/json"}}, Body: []byte(page42)}, "failed [] wrong page: product"},
		"5xx":                         {product, &vegeta.Result{Code: 503, Error: "503 Service Unavailable"}, "failed [] status 503"},
		"redirected product":          {product, to("/products/43"), "failed [] status 303"},
		"home without products":       {step{kind: Browse}, html(`<input name="q"></html>`), "failed [] wrong page: browse"},
		"search finds nothing":        {step{kind: Search}, html(`<input name="q"></html>`), "full [] "},
		"form":                        {step{kind: Checkout}, html(`<form method="post" action="/checkout"><input name="key" value="k"></form></html>`), "full [] "},
		"no form":                     {step{kind: Checkout}, html(`<form method="get" action="/"><input name="q"></form></html>`), "failed [] wrong page: checkout"},
		"no form, no price, said so":  {step{kind: Checkout}, html(`no price</html>`, "Degraded", "price"), "degraded [price] "},
		"posted":                      {step{kind: Place}, to("/checkout/k"), "full [] "},
		"posted, sent to a stranger":  {step{kind: Place}, to("http://stranger.example/checkout/k"), "failed [] wrong page: place"},
		"posted, sent to a stranger2": {step{kind: Place}, to("//stranger.example/checkout/k"), "failed [] wrong page: place"},
		"sold out":                    {step{kind: Place}, func() *vegeta.Result { r := html("sold out</html>"); r.Code = 422; return r }(), "full [] "},
		"placed":                      {state, to("/orders/o"), "full [] "},
		"placed nowhere":              {state, to("/"), "failed [] wrong page: state"},
		"foreign order":               {step{kind: Order, path: "/orders/o-1"}, html(`order o-2</html>`), "failed [] wrong page: order"},
		"time is up":                  {product, &vegeta.Result{Error: `Get "http://shop/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`}, "failed [] timeout"},
		"cut off":                     {product, &vegeta.Result{Error: "unexpected EOF"}, "failed [] cut off"},
		"reset":                       {product, &vegeta.Result{Error: "read: connection reset by peer"}, "failed [] reset"},
		"something new":               {product, &vegeta.Result{Error: "no route to host"}, "failed [] no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			s := judge(c.step, c.res)
			if got := fmt.Sprintf("%v %v %s", s.Class, s.Parts, s.Cause); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestCheckoutFormIsReadLikeABrowserDoes(t *testing.T) {
	page := `<form action="/" method="get"><input name="q" value="lamp"></form>
		<form action="/checkout" method="post"><input type=hidden name="key" value="a&amp;b"><input name="sku" value="7">
		<input name="sku" value="9"><button name="">Buy</button></form><input name="outside" value="1">`
	form, ok := CheckoutForm([]byte(page))
	if got := form.Encode(); !ok || got != "key=a%26b&sku=7&sku=9" {
		t.Errorf("got %v %s", ok, got)
	}
	if _, ok := CheckoutForm([]byte(strings.ReplaceAll(page, "post", "get"))); ok {
		t.Error("found a form that posts nothing")
	}
}

// The Degraded header is the same with a count from the snapshot and without one. What tells them apart is on the page.
func TestTheBannerTellsASnapshotFromNoCount(t *testing.T) {
	page := func(text string) []byte { return []byte(text + `<img src="/pictures/42.svg"></html>`) }
	header := http.Header{"Content-Type": {"text/html"}, "Degraded": {"stock"}}
	count := func(age string) []byte { return page(banner + `<span class="asof"> as of ` + age + `</span>`) }
	for name, c := range map[string]struct {
		kind          Kind
		code          uint16
		body          []byte
		banner, stale bool
	}{
		"snapshot":            {Product, 200, count("119 seconds ago"), true, false},
		"too old":             {Product, 200, count("2 minutes ago"), true, true},
		"no count":            {Product, 200, page("We cannot count our stock right now. Last known price, 3 minutes ago."), false, false},
		"not on this page":    {Order, 200, count("2 minutes ago"), false, false},
		"on a page of errors": {Product, 500, count("2 minutes ago"), false, false},
	} {
		s := judge(step{kind: c.kind, product: 42}, &vegeta.Result{Code: c.code, Headers: header, Body: c.body})
		if s.Banner != c.banner || s.Stale != c.stale {
			t.Errorf("%s: %+v", name, s)
		}
	}
	template, err := os.ReadFile("../../services/productpage/templates/product.html")
	if err != nil || !strings.Contains(string(template), banner) || !strings.Contains(string(template), `class="asof"> as of {{ago`) {
		t.Errorf("the page's own words are others: %v", err)
	}
}
