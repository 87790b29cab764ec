package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
)

func TestOrdersArePrivate(t *testing.T) {
	shop := start(t, nil)
	mine := shop.browser()
	order := mine.buy(t, "/checkout?sku=42&qty=1")
	path := order.Request.URL.Path
	stranger := shop.browser()
	stranger.buy(t, "/checkout?sku=7&qty=1")
	stranger.get(path).want(t, http.StatusNotFound, "We cannot find this order")
	shop.browser().get(path).want(t, http.StatusNotFound)

	site, _ := url.Parse(shop.url)
	genuine := mine.client.Jar.Cookies(site)[0].Value
	id, signature, _ := strings.Cut(genuine, ".")
	for name, value := range map[string]string{"unsigned": id, "half signed": id + "." + signature[:10], "signed for another": uuid.NewString() + "." + signature, "garbage": "x.y.z"} {
		req, _ := http.NewRequest(http.MethodGet, shop.url+path, nil)
		req.Header.Set("Accept", "text/html")
		req.Header.Set("Cookie", cookieName+"="+value)
		req.Header.Set("X-Customer-Id", id) // what only our own services may say
		if a := shop.browser().do(req); a.StatusCode != http.StatusNotFound {
			t.Errorf("%s cookie: %d", name, a.StatusCode)
		}
	}
}

func TestCookie(t *testing.T) {
	shop := start(t, nil)
	a := shop.browser().once().get("/checkout?sku=42&qty=1")
	cookies := a.Cookies()
	if len(cookies) != 1 {
		t.Fatalf("cookies %v", cookies)
	}
	c := cookies[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.MaxAge <= 0 || c.Secure {
		t.Errorf("cookie %+v", c)
	}
	if len(shop.browser().get("/products/42").Cookies()) != 0 {
		t.Error("looking around sets a cookie")
	}
	secure := start(t, map[string]string{"COOKIE_SECURE": "true"})
	if c := secure.browser().once().get("/checkout?sku=42&qty=1").Cookies(); len(c) != 1 || !c[0].Secure {
		t.Errorf("COOKIE_SECURE: %v", c)
	}
}

// Another site's form must not order in the customer's name.
func TestCrossOriginFormsAreRefused(t *testing.T) {
	shop := start(t, nil)
	b := shop.browser()
	form := b.get("/checkout?sku=42&qty=1").form()
	for name, header := range map[string][2]string{
		"cross-site": {"Sec-Fetch-Site", "cross-site"}, "same-site": {"Sec-Fetch-Site", "same-site"},
		"foreign origin": {"Origin", "https://evil.example"}, "null origin": {"Origin", "null"},
	} {
		req, _ := http.NewRequest(http.MethodPost, shop.url+"/checkout", strings.NewReader(form.Encode()))
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Accept", "text/html")
		req.Header.Set(header[0], header[1])
		a := b.do(req)
		if a.StatusCode != http.StatusForbidden || !strings.Contains(a.body, "This form came from elsewhere") || a.Header.Get("Content-Security-Policy") != wantCSP {
			t.Errorf("%s: %d", name, a.StatusCode)
		}
	}
	if n := shop.ledger.count(); n != 0 {
		t.Errorf("%d orders", n)
	}
	b.post("/checkout", form).want(t, http.StatusOK, "Thank you!")
}
