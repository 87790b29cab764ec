package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// Bad input is a 4xx problem, and nothing of it reaches another service.
func TestBadInput(t *testing.T) {
	shop := start(t, nil)
	key, quote := uuid.NewString(), uuid.NewString()
	form := "key=" + key + "&quote=" + quote + "&sku=42&qty=1"
	get := func(path string) func() *http.Request {
		return func() *http.Request { r, _ := http.NewRequest(http.MethodGet, shop.url+path, nil); return r }
	}
	post := func(contentType, body string) func() *http.Request {
		return func() *http.Request {
			r, _ := http.NewRequest(http.MethodPost, shop.url+"/checkout", strings.NewReader(body))
			r.Header.Set("Content-Type", contentType)
			return r
		}
	}
	const urlencoded = "application/x-www-form-urlencoded"
	for name, tc := range map[string]struct {
		request func() *http.Request
		status  int
	}{
		"id is a word":            {get("/products/mug"), 404},
		"id is negative":          {get("/products/-1"), 404},
		"id is zero":              {get("/products/0"), 404},
		"id beyond any integer":   {get("/products/99999999999999999999"), 404},
		"id climbs up":            {get("/products/..%2f..%2fetc%2fpasswd"), 404},
		"id with a NUL":           {get("/products/%00"), 404},
		"id is SQL":               {get("/products/1;DROP%20TABLE%20products"), 404},
		"picture of nothing":      {get("/pictures/0.svg"), 404},
		"picture climbs up":       {get("/pictures/..%2fserver.svg"), 404},
		"file climbs up":          {get("/static/..%2fmain.go"), 404},
		"no such file":            {get("/static/app.js"), 404},
		"page is a word":          {get("/?page=two"), 400},
		"page zero":               {get("/?page=0"), 400},
		"page beyond the last":    {get("/?page=9999"), 404},
		"two pages":               {get("/?page=1&page=2"), 400},
		"no such department":      {get("/?category=weapons"), 404},
		"long search":             {get("/?q=" + strings.Repeat("a", 101)), 400},
		"search is not UTF-8":     {get("/?q=%ff%fe"), 400},
		"checkout of nothing":     {get("/checkout"), 400},
		"checkout of a word":      {get("/checkout?sku=mug"), 400},
		"checkout of 100":         {get("/checkout?sku=1&qty=100"), 400},
		"checkout of 0":           {get("/checkout?sku=1&qty=0"), 400},
		"checkout of +1":          {get("/checkout?sku=%2b1"), 400},
		"checkout of 21 products": {get("/checkout?" + strings.Repeat("sku=1&", 21)), 400},
		"more quantities":         {get("/checkout?sku=1&qty=1&qty=2"), 400},
		"checkout of an unknown":  {get("/checkout?sku=999999&qty=1"), 404},
		"key is no key":           {get("/checkout?sku=1&qty=1&key=mine"), 400},
		"order id is no id":       {get("/orders/1"), 404},
		"order id climbs up":      {get("/orders/..%2fcheckouts"), 404},
		"checkout key climbs up":  {get("/checkout/..%2forders"), 404},
		"order id in capitals":    {get("/orders/" + strings.ToUpper(uuid.NewString())), 404},
		"unknown problem":         {get("/problems/none"), 404},
		"no such address":         {get("/admin"), 404},
		"metrics are not public":  {get("/metrics"), 404},
		"profiles are not public": {get("/debug/pprof/"), 404},
		"JSON instead of a form":  {post("application/json", `{"sku":1}`), 415},
		"multipart":               {post("multipart/form-data; boundary=x", "--x--"), 415},
		"no content type":         {post("", form), 415},
		"empty form":              {post(urlencoded, ""), 400},
		"broken escape":           {post(urlencoded, form+"&sku=%zz"), 400},
		"no key":                  {post(urlencoded, "quote="+quote+"&sku=42&qty=1"), 400},
		"two keys":                {post(urlencoded, form+"&key="+key), 400},
		"key is a word":           {post(urlencoded, "key=abc&quote="+quote+"&sku=42&qty=1"), 400},
		"no quote":                {post(urlencoded, "key="+key+"&sku=42&qty=1"), 400},
		"no product":              {post(urlencoded, "key="+key+"&quote="+quote), 400},
		"product twice":           {post(urlencoded, form+"&sku=42&qty=1"), 400},
		"quantity missing":        {post(urlencoded, form+"&sku=43"), 400},
		"quantity 100":            {post(urlencoded, "key="+key+"&quote="+quote+"&sku=42&qty=100"), 400},
		"quantity is huge":        {post(urlencoded, "key="+key+"&quote="+quote+"&sku=42&qty=99999999999999999999"), 400},
		"a field of its own":      {post(urlencoded, form+"&price=1"), 400},
		"an unknown product":      {post(urlencoded, "key="+key+"&quote="+quote+"&sku=999999&qty=1"), 404},
		"body too large":          {post(urlencoded, form+"&sku="+strings.Repeat("1", maxForm)), 413},
		"a megabyte":              {post(urlencoded, strings.Repeat("a=b&", 1<<18)), 413},
		"wrong method": {func() *http.Request {
			r, _ := http.NewRequest(http.MethodDelete, shop.url+"/products/1", nil)
			return r
		}, 405},
		"post to a page":      {func() *http.Request { r, _ := http.NewRequest(http.MethodPost, shop.url+"/", nil); return r }, 405},
		"a method of its own": {func() *http.Request { r, _ := http.NewRequest("BREW", shop.url+"/", nil); return r }, 405},
	} {
		t.Run(name, func(t *testing.T) {
			for _, accept := range []string{"text/html", "application/json"} {
				req := tc.request()
				req.Header.Set("Accept", accept)
				a := shop.browser().do(req)
				a.want(t, tc.status)
				want := "text/html; charset=utf-8"
				if accept == "application/json" {
					want = "application/problem+json"
				}
				if got := a.Header.Get("Content-Type"); got != want {
					t.Errorf("Accept %s: content type %q", accept, got)
				}
			}
		})
	}
	if n := shop.orders.count(); n != 0 {
		t.Errorf("orders was asked %d times", n)
	}
	if n := shop.ledger.count(); n != 0 {
		t.Errorf("%d orders were placed", n)
	}
}
