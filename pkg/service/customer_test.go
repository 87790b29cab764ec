package service

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestCustomerID(t *testing.T) {
	for _, c := range []struct {
		values []string
		ok     bool
	}{
		{[]string{"c-123"}, true}, {[]string{"~!#"}, true}, {[]string{strings.Repeat("a", 64)}, true},
		{nil, false}, {[]string{""}, false}, {[]string{strings.Repeat("a", 65)}, false}, {[]string{"a b"}, false}, {[]string{"ä"}, false},
		{[]string{"a\x00"}, false}, {[]string{"a", "b"}, false},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header[headerCustomerID] = c.values
		id, err := CustomerID(r)
		var p *Problem
		switch {
		case c.ok && (err != nil || id != c.values[0]):
			t.Errorf("%q: %q, %v", c.values, id, err)
		case !c.ok && (!errors.As(err, &p) || p.Status != 400 || id != ""):
			t.Errorf("%q: %q, %v", c.values, id, err)
		}
	}
}
