package load

import (
	"fmt"
	"strconv"
	"strings"
)

// Mix holds the weights of the kinds of visit. A buy is a real purchase of five requests: cart, form, post, state, order;
// a checkout stops at the form. An order is a customer who looks at an order of this run again; while there is none
// it is a buy.
// It implements flag.Value.
type Mix struct {
	Browse, Search, Product, Checkout, Buy, Order int
}

// DefaultMix is people in a shop: most look, one in a hundred buys. At 10 requests a second that is some 350 orders
// an hour spread over 2,000 products: the shelves last for months.
func DefaultMix() Mix { return Mix{Browse: 30, Search: 15, Product: 50, Checkout: 4, Buy: 1} }

func (m Mix) total() int { return m.Browse + m.Search + m.Product + m.Checkout + m.Buy + m.Order }

// String gives the form that Set reads.
func (m Mix) String() string {
	return fmt.Sprintf("browse=%d,search=%d,product=%d,checkout=%d,buy=%d,order=%d",
		m.Browse, m.Search, m.Product, m.Checkout, m.Buy, m.Order)
}

// Set reads weights like "product=9,buy=1"; a kind that is not named gets none.
func (m *Mix) Set(s string) error {
	var next Mix
	for _, part := range strings.Split(s, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		weight, err := strconv.Atoi(value)
		if err != nil || weight < 0 || weight > 1000 {
			return fmt.Errorf("%q is not like product=50 (weights are 0 to 1000)", part)
		}
		switch name {
		case "browse":
			next.Browse = weight
		case "search":
			next.Search = weight
		case "product":
			next.Product = weight
		case "checkout":
			next.Checkout = weight
		case "buy":
			next.Buy = weight
		case "order":
			next.Order = weight
		default:
			return fmt.Errorf("there is no visit %q; there are browse, search, product, checkout, buy, order", name)
		}
	}
	*m = next
	return nil
}
