package service

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
)

type testLine struct {
	SKU      int64 `json:"sku"`
	Quantity int   `json:"quantity"`
}

type testOrder struct {
	QuoteID string     `json:"quote_id"`
	Lines   []testLine `json:"lines"`
	Note    *string    `json:"note,omitempty"`
	Hidden  string     `json:"-"`
}

func decode(contentType, body string) (testOrder, error) {
	r := httptest.NewRequest("POST", "/", strings.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	var o testOrder
	err := DecodeJSON(r, &o)
	return o, err
}

func TestDecodeJSONIsStrict(t *testing.T) {
	for _, c := range []struct{ name, body, says string }{
		{"fine", `{"quote_id":"q","lines":[{"sku":1,"quantity":2}],"note":"hi"}` + "\n ", ""},
		{"parts may be left out", `{}`, ""},
		{"empty", ``, "not valid JSON"},
		{"broken", `{"quote_id":`, "not valid JSON"},
		{"unfinished", `{"lines":[{"sku":1}`, "not valid JSON"},
		{"null", `null`, "body: null"},
		{"null inside", `{"lines":[{"sku":null}]}`, "lines[0].sku: null"},
		{"null for a pointer", `{"note":null}`, "note: null"},
		{"unknown field", `{"coupon":1}`, `unknown field "coupon"`},
		{"unknown field inside", `{"lines":[{"sku":1},{"price":1}]}`, `lines[1]: unknown field "price"`},
		{"other case", `{"QUOTE_ID":"q"}`, `unknown field "QUOTE_ID"`},
		{"hidden field", `{"Hidden":"q"}`, `unknown field "Hidden"`},
		{"twice", `{"quote_id":"a","quote_id":"b"}`, `"quote_id" is there twice`},
		{"twice, escaped", `{"quote_id":"a","quote\u005fid":"b"}`, `"quote_id" is there twice`},
		{"second value", `{}{}`, "after the JSON value"},
		{"trailing garbage", `{}x`, "after the JSON value"},
		{"array", `[]`, "body: array does not fit"},
		{"string for number", `{"lines":[{"sku":"1"}]}`, "lines.sku: string"},
		{"fraction", `{"lines":[{"quantity":1.5}]}`, "lines.quantity: number 1.5"},
		{"overflow", `{"lines":[{"sku":99999999999999999999}]}`, "lines.sku: number"},
		{"object for array", `{"lines":{"sku":1}}`, "lines: object"},
		{"not UTF-8", "{\"quote_id\":\"\xff\"}", "UTF-8"},
		{"deep", `{"lines":` + strings.Repeat("[", 100000), "nested"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := decode("application/json", c.body)
			var p *Problem
			switch {
			case c.says == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.says != "" && (!errors.As(err, &p) || p.Status != 400 || p.Type != "/problems/malformed-json" || !strings.Contains(p.Detail, c.says)):
				t.Errorf("got %v, want a 400 that says %q", err, c.says)
			}
		})
	}
}

func TestDecodeJSONChecksTheContentType(t *testing.T) {
	for contentType, fine := range map[string]bool{
		"application/json": true, "application/json; charset=utf-8": true, "Application/JSON; charset=UTF-8": true, "application/vnd.shop+json": true,
		"": false, "text/plain": false, "application/x-www-form-urlencoded": false, "application/json; charset=latin1": false, "application/jsonp": false,
	} {
		_, err := decode(contentType, `{}`)
		var p *Problem
		if fine != (err == nil) || (!fine && (!errors.As(err, &p) || p.Status != 415)) {
			t.Errorf("%q: %v", contentType, err)
		}
	}
}

func TestWriteJSONFailsBeforeTheFirstByte(t *testing.T) {
	w := httptest.NewRecorder()
	if err := WriteJSON(w, 201, map[string]any{"f": func() {}}); err == nil || w.Body.Len() > 0 || w.Code != 200 {
		t.Errorf("err %v, wrote %d %q", err, w.Code, w.Body)
	}
	if err := WriteJSON(w, 201, testLine{1, 2}); err != nil || w.Code != 201 || w.Body.String() != `{"sku":1,"quantity":2}`+"\n" {
		t.Errorf("err %v, wrote %d %q", err, w.Code, w.Body)
	}
}

func FuzzDecodeJSON(f *testing.F) {
	for _, body := range []string{`{"quote_id":"q","lines":[{"sku":1,"quantity":2}]}`, `null`, `{}{}`, `{"a":{"b":[null]}}`, `[[[[`, `{"QUOTE_ID":1}`, "\xff"} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		o, err := decode("application/json", body)
		var p *Problem
		if err != nil && !errors.As(err, &p) {
			t.Fatalf("%q: not a problem: %v", body, err)
		}
		if err == nil { // what was accepted means the same when it is sent again
			var line string
			for _, l := range o.Lines {
				line += fmt.Sprintf(`,{"sku":%d,"quantity":%d}`, l.SKU, l.Quantity)
			}
			again, err := decode("application/json", fmt.Sprintf(`{"quote_id":%q,"lines":[%s]}`, "x", strings.TrimPrefix(line, ",")))
			if err != nil || len(again.Lines) != len(o.Lines) {
				t.Fatalf("%q: %v", body, err)
			}
		}
	})
}
