package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// Nonsense is refused with a 4xx problem, and nothing is written.
func TestBadInput(t *testing.T) {
	server, a := newAPI(t)
	good := uuid.NewString()
	post := func(path, body string) [3]string { return [3]string{"POST", path, body} }
	line := func(sku, quantity string) [3]string {
		return post("/reservations/"+good, fmt.Sprintf(`{"lines":[{"sku":%s,"quantity":%s}]}`, sku, quantity))
	}
	manyLines := make([]string, 21)
	for i := range manyLines {
		manyLines[i] = fmt.Sprintf(`{"sku":%d,"quantity":1}`, i+1)
	}
	for name, c := range map[string][3]string{
		"quantity 0":           line("1", "0"),
		"quantity negative":    line("1", "-1"),
		"quantity 100":         line("1", "100"),
		"quantity huge":        line("1", "99999999999999999999"),
		"quantity overflow":    line("1", "4294967297"),
		"quantity fractional":  line("1", "1.5"),
		"quantity as 1.0":      line("1", "1.0"),
		"quantity exponent":    line("1", "1e1"),
		"quantity text":        line("1", `"1"`),
		"quantity null":        line("1", "null"),
		"quantity true":        line("1", "true"),
		"sku 0":                line("0", "1"),
		"sku negative":         line("-1", "1"),
		"sku huge":             line("2147483648", "1"),
		"sku text":             line(`"1"`, "1"),
		"sku list":             line("[1]", "1"),
		"sku twice":            post("/reservations/"+good, `{"lines":[{"sku":1,"quantity":1},{"sku":2,"quantity":1},{"sku":1,"quantity":2}]}`),
		"no lines":             post("/reservations/"+good, `{"lines":[]}`),
		"lines missing":        post("/reservations/"+good, `{}`),
		"lines null":           post("/reservations/"+good, `{"lines":null}`),
		"lines object":         post("/reservations/"+good, `{"lines":{"sku":1,"quantity":1}}`),
		"quantity missing":     post("/reservations/"+good, `{"lines":[{"sku":1}]}`),
		"sku missing":          post("/reservations/"+good, `{"lines":[{"quantity":1}]}`),
		"too many lines":       post("/reservations/"+good, `{"lines":[`+strings.Join(manyLines, ",")+`]}`),
		"unknown field":        post("/reservations/"+good, `{"lines":[{"sku":1,"quantity":1}],"hold":"forever"}`),
		"unknown field inside": post("/reservations/"+good, `{"lines":[{"sku":1,"quantity":1,"price":0}]}`),
		"trailing data":        post("/reservations/"+good, `{"lines":[{"sku":1,"quantity":1}]}{}`),
		"cut off":              post("/reservations/"+good, `{"lines":[{"sku":1,"quantity":1}`),
		"empty body":           post("/reservations/"+good, ``),
		"body is a list":       post("/reservations/"+good, `[]`),
		"body is null":         post("/reservations/"+good, `null`),
		"not JSON":             post("/reservations/"+good, `lines=1`),
		"id no uuid":           post("/reservations/42", `{"lines":[{"sku":1,"quantity":1}]}`),
		"id too short":         post("/reservations/"+good[:35], `{"lines":[{"sku":1,"quantity":1}]}`),
		"id without dashes":    post("/reservations/"+strings.ReplaceAll(good, "-", ""), `{"lines":[{"sku":1,"quantity":1}]}`),
		"id in braces":         post("/reservations/%7B"+good+"%7D", `{"lines":[{"sku":1,"quantity":1}]}`),
		"id as urn":            post("/reservations/urn:uuid:"+good, `{"lines":[{"sku":1,"quantity":1}]}`),
		"id with SQL":          post("/reservations/'%20OR%201=1--", `{"lines":[{"sku":1,"quantity":1}]}`),
		"id dots":              post("/reservations/%2e%2e%2fstock", `{"lines":[{"sku":1,"quantity":1}]}`),
		"commit no uuid":       post("/reservations/42/commit", ``),
		"release no uuid":      post("/reservations/42/release", ``),
		"get no uuid":          {"GET", "/reservations/42", ""},
		"stock of nothing":     {"GET", "/stock", ""},
		"stock sku empty":      {"GET", "/stock?sku=", ""},
		"stock sku text":       {"GET", "/stock?sku=one", ""},
		"stock sku 0":          {"GET", "/stock?sku=0", ""},
		"stock sku negative":   {"GET", "/stock?sku=-1", ""},
		"stock sku fractional": {"GET", "/stock?sku=1.5", ""},
		"stock sku huge":       {"GET", "/stock?sku=2147483648", ""},
		"stock sku list":       {"GET", "/stock?sku=1,2", ""},
		"stock too many":       {"GET", "/stock?sku=1" + strings.Repeat("&sku=2", 50), ""},
		"stock fresh maybe":    {"GET", "/stock?sku=1&fresh=maybe", ""},
		"stock fresh twice":    {"GET", "/stock?sku=1&fresh=1&fresh=1", ""},
	} {
		status, answer := call(t, server, c[0], c[1], c[2])
		if status < 400 || status > 499 || !strings.HasPrefix(fmt.Sprint(answer["type"]), "/problems/") {
			t.Errorf("%s: %d %v, want a 4xx problem", name, status, answer)
		}
	}
	if n := a.store.number(t, `SELECT count(*) FROM reservations`); n != 0 {
		t.Errorf("%d reservations written", n)
	}
	if n := a.store.number(t, `SELECT count(*) FROM movements WHERE kind <> 'receipt'`); n != 0 {
		t.Errorf("%d movements written", n)
	}
	a.store.mustBalance(t)
}

func TestBodyMustBeJSON(t *testing.T) {
	server, a := newAPI(t)
	resp, err := server.Client().Post(server.URL+"/reservations/"+uuid.NewString(), "text/plain", strings.NewReader(`{"lines":[{"sku":1,"quantity":1}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusUnsupportedMediaType {
		t.Errorf("%d, want 415", resp.StatusCode)
	}
	if n := a.store.number(t, `SELECT count(*) FROM reservations`); n != 0 {
		t.Errorf("%d reservations written", n)
	}
}
