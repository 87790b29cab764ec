package main

import (
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strconv"

	"watertight.example/pkg/service"
)

const (
	maxLines    = 20
	maxQuantity = 99
	maxForm     = 16 << 10 // bytes; twenty lines need one
)

// basket is what a checkout is about. Key and Quote are empty where the customer has none yet.
type basket struct {
	Lines []Line
	Key   string
	Quote string
}

// readBasket reads ?sku=1&qty=2&sku=7. Quantities belong to the products in order; a product at the end without one is wanted
// once, so that a plain checkbox can add it. The same product twice is added up.
func readBasket(query url.Values) (basket, error) {
	b := basket{Key: query.Get("key")}
	if b.Key != "" && (!isUUID(b.Key) || len(query["key"]) > 1) {
		return b, badParameter("key is not one we gave out.")
	}
	skus, quantities := query["sku"], query["qty"]
	if len(skus) == 0 || len(skus) > maxLines || len(quantities) > len(skus) {
		return b, badParameter("Between 1 and 20 products can be ordered at once.")
	}
	place := map[int]int{}
	for i, text := range skus {
		quantity := "1"
		if i < len(quantities) {
			quantity = quantities[i]
		}
		line, err := readLine(text, quantity)
		if err != nil {
			return b, err
		}
		if at, twice := place[line.SKU]; twice {
			b.Lines[at].Quantity = min(maxQuantity, b.Lines[at].Quantity+line.Quantity)
			continue
		}
		place[line.SKU] = len(b.Lines)
		b.Lines = append(b.Lines, line)
	}
	return b, nil
}

func readLine(sku, quantity string) (Line, error) {
	id, err := number(sku, 1<<30)
	if err != nil {
		return Line{}, badParameter("sku must be a product's number.")
	}
	n, err := number(quantity, maxQuantity)
	if err != nil {
		return Line{}, badParameter("A quantity must be a number from 1 to 99.")
	}
	return Line{SKU: id, Quantity: n}, nil
}

// number reads 1 to most, written as plain digits: strconv alone would also take "+1" and "007".
func number(text string, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most || strconv.Itoa(n) != text {
		return 0, strconv.ErrSyntax
	}
	return n, nil
}

// readOrderForm reads the body of POST /checkout, which our own page has made: whatever differs from that in any way is refused.
func readOrderForm(w http.ResponseWriter, r *http.Request) (basket, error) {
	if mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || mediaType != "application/x-www-form-urlencoded" {
		return basket{}, service.NewProblem(http.StatusUnsupportedMediaType, "unsupported-media-type", "An order is sent as a form.")
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			return basket{}, err // the chassis makes it a 413
		}
		return basket{}, badParameter("The form cannot be read.")
	}
	form := r.PostForm
	for name, values := range form {
		switch {
		case name == "sku" || name == "qty":
		case (name == "key" || name == "quote") && len(values) == 1 && isUUID(values[0]):
		default:
			return basket{}, badParameter("The form has something in it that we did not put there.")
		}
	}
	if form.Get("key") == "" || form.Get("quote") == "" || len(form["sku"]) != len(form["qty"]) {
		return basket{}, badParameter("The form is not complete.")
	}
	b, err := readBasket(form)
	if err == nil && len(b.Lines) != len(form["sku"]) {
		err = badParameter("A product is in the form twice.")
	}
	b.Quote = form.Get("quote")
	return b, err
}

// Link is the checkout's address for this basket.
func (b basket) Link() string { return "/checkout?" + b.query().Encode() }

// Without is the checkout's address for this basket less one product.
func (b basket) Without(sku int) string {
	rest := basket{Key: b.Key}
	for _, l := range b.Lines {
		if l.SKU != sku {
			rest.Lines = append(rest.Lines, l)
		}
	}
	return rest.Link()
}

func (b basket) query() url.Values {
	query := url.Values{}
	for _, l := range b.Lines {
		query.Add("sku", strconv.Itoa(l.SKU))
		query.Add("qty", strconv.Itoa(l.Quantity))
	}
	if b.Key != "" {
		query.Set("key", b.Key)
	}
	return query
}
