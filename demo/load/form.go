package load

import (
	"bytes"
	"net/url"

	"golang.org/x/net/html"
)

// CheckoutForm reads the form that posts to /checkout the way a browser would: every named field with its value. It
// reports false when the page has no such form, or when its form carries nothing.
func CheckoutForm(page []byte) (url.Values, bool) {
	z := html.NewTokenizer(bytes.NewReader(page))
	fields := url.Values{}
	inside := false
	for {
		switch z.Next() {
		case html.ErrorToken:
			return fields, len(fields) > 0
		case html.StartTagToken, html.SelfClosingTagToken:
			tag := z.Token()
			switch {
			case tag.Data == "form":
				inside = attribute(tag, "action") == "/checkout" && attribute(tag, "method") == "post"
			case inside && tag.Data == "input" && attribute(tag, "name") != "":
				fields.Add(attribute(tag, "name"), attribute(tag, "value"))
			}
		case html.EndTagToken:
			if z.Token().Data == "form" {
				inside = false
			}
		}
	}
}

func attribute(tag html.Token, name string) string {
	for _, a := range tag.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
