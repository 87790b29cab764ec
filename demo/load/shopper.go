package load

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// Kind names the page a request asked for.
type Kind string

// The kinds of request, in the order reports list them. Cart and Checkout are how far most who think about it go; the
// last three only happen inside a purchase.
const (
	Browse   Kind = "browse"   // GET /?page=
	Search   Kind = "search"   // GET /?q=
	Product  Kind = "product"  // GET /products/{id}
	Cart     Kind = "cart"     // GET /checkout?sku=, answered with the address of a form of its own
	Checkout Kind = "checkout" // GET /checkout?key=, the form
	Place    Kind = "place"    // POST /checkout
	State    Kind = "state"    // GET /checkout/{key}
	Order    Kind = "order"    // GET /orders/{id}
)

// Kinds lists all kinds of request in the order of a report.
func Kinds() []Kind { return []Kind{Browse, Search, Product, Cart, Checkout, Place, State, Order} }

// step is one request of one visitor.
type step struct {
	kind     Kind
	path     string
	form     url.Values // not nil: posted
	product  int        // of a product page
	purchase *purchase  // the visit to the till this step belongs to, nil for those who only look
	cookie   string     // of a customer who comes back
}

// shopper is all visitors together. Vegeta's workers call next from many goroutines, Run calls settle from one.
type shopper struct {
	base string
	mix  Mix

	mu   sync.Mutex
	rng  *rand.Rand
	seq  uint64
	open map[uint64]step // requests in flight; Run's number of workers bounds it
	due  []later         // next steps of open purchases; the purchases bound it
	own  step            // the page of the order placed last, for its customer to look at again
	till purchases
}

type later struct {
	at   time.Time
	step step
}

func newShopper(base string, mix Mix, seed uint64) *shopper {
	return &shopper{base: base, mix: mix, rng: rand.New(rand.NewPCG(seed, 0)), open: make(map[uint64]step)}
}

// next fills in the next request: a step that is due in some purchase, else a new visit. It is a vegeta.Targeter.
func (s *shopper) next(t *vegeta.Target) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, ok := s.takeDue(time.Now())
	if !ok {
		st = s.draw()
	}
	s.seq++
	s.open[s.seq] = st

	// A fragment never leaves the client (RFC 9110, section 7.1), but vegeta hands the whole URL back with the
	// result, also when there was no answer: it carries the request's number from here to settle.
	t.URL = s.base + st.path + "#" + strconv.FormatUint(s.seq, 10)
	t.Method = http.MethodGet
	t.Header = http.Header{"Accept": {"text/html"}, "User-Agent": {"watertight-demo-load"}}
	if st.form != nil {
		t.Method = http.MethodPost
		t.Body = []byte(st.form.Encode())
		t.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if st.purchase != nil {
		st.cookie = st.purchase.cookie
	}
	if st.cookie != "" {
		t.Header.Set("Cookie", st.cookie)
	}
	return nil
}

// takeDue gives the first step whose time has come. Followed steps draw nothing at random: the sequence of visits
// depends on the seed alone, not on how fast the shop is.
func (s *shopper) takeDue(now time.Time) (step, bool) {
	for i, l := range s.due {
		if !l.at.After(now) {
			s.due = append(s.due[:i], s.due[i+1:]...)
			return l.step, true
		}
	}
	return step{}, false
}

// settle turns a result into a sample and lets its purchase go on.
func (s *shopper) settle(res *vegeta.Result) Sample {
	n, _ := strconv.ParseUint(res.URL[strings.LastIndexByte(res.URL, '#')+1:], 10, 64)

	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.open[n]
	delete(s.open, n)
	sample := judge(st, res)
	if st.purchase != nil {
		if l, ok := s.till.advance(st, sample, res, time.Now()); ok {
			s.due = append(s.due, l)
		}
		if st.kind == Order && sample.Class != Failed {
			s.own = step{kind: Order, path: st.path, cookie: st.purchase.cookie}
		}
	}
	return sample
}

func (s *shopper) inFlight() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// report gives the purchases so far; those still open count as unfinished.
func (s *shopper) report() Purchases {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.till.report()
}

// The shop's world as the load knows it: products 1 to 2,000; 42 is everybody's favourite, which
// makes its co-purchase query the heaviest one. Some products are sold out (97, 194, ...) or nearly so (41, 82, ...).
const (
	products  = 2000
	favourite = 42
)

func (s *shopper) draw() step {
	n := s.rng.IntN(s.mix.total())
	for _, v := range []struct {
		weight int
		visit  func() step
	}{
		{s.mix.Browse, s.browse}, {s.mix.Search, s.search}, {s.mix.Product, s.product},
		{s.mix.Checkout, s.checkout}, {s.mix.Buy, s.buy}, {s.mix.Order, s.order},
	} {
		if n < v.weight {
			return v.visit()
		}
		n -= v.weight
	}
	panic("load: the weights do not add up to their total")
}

func (s *shopper) browse() step {
	return step{kind: Browse, path: fmt.Sprintf("/?page=%d", 1+s.rng.IntN(3))}
}

func (s *shopper) search() step {
	words := []string{"coffee", "lamp", "garden", "wood", "book", "blue", "steel", "nothing has this name"}
	return step{kind: Search, path: "/?q=" + url.QueryEscape(words[s.rng.IntN(len(words))])}
}

func (s *shopper) product() step {
	id := 1 + s.rng.IntN(products)
	if s.rng.IntN(10) == 0 {
		id = favourite
	}
	return step{kind: Product, path: "/products/" + strconv.Itoa(id), product: id}
}

func (s *shopper) checkout() step {
	id := 1 + s.rng.IntN(products)
	for id%97 == 0 || id%41 == 0 {
		id = 1 + s.rng.IntN(products)
	}
	return step{kind: Cart, path: fmt.Sprintf("/checkout?sku=%d&qty=1", id), purchase: new(purchase)}
}

func (s *shopper) buy() step {
	st := s.checkout()
	st.purchase.means = true
	return st
}

func (s *shopper) order() step {
	if s.own.path == "" {
		return s.buy()
	}
	return s.own
}
