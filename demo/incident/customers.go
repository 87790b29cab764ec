package incident

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"
	"time"

	"watertight.example/demo/load"
)

// customers buy in the middle of a story, and are less patient than most: each presses the button twice at once, and then again
// every second, always with the same form, until there is an order or a refusal. It must stay one order.
type customers struct {
	mu   sync.Mutex
	list []presses
	wait sync.WaitGroup
}

// presses is what one customer got.
type presses struct {
	At    time.Time
	First []answer // to the two presses at once
	Order string   // the address of the order's page
	Said  string   // why there is no order, once that is final
}

// answer is one answer of the shop to the button.
type answer struct {
	Took       time.Duration
	Status     int // 0: none
	RetryAfter bool
	order      string // the page of the order, where the shop leads straight to it: without keys there is none of the intent
}

// clean is an answer that a customer can do something with: it leads to the order, says no for good, or says when to try again.
func (a answer) clean() bool {
	switch a.Status {
	case http.StatusSeeOther, http.StatusUnprocessableEntity:
		return true
	case http.StatusServiceUnavailable, http.StatusConflict:
		return a.RetryAfter
	}
	return false
}

func (a answer) String() string { return fmt.Sprintf("%d after %s", a.Status, ms(a.Took)) }

// presses is what all of them got; nobody may be on the way any more.
func (c *customers) presses() []presses {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.list
}

// buy sends n customers to the till, a product each; the story goes on meanwhile.
func (s *stage) buy(ctx context.Context, n int) {
	if s.err != nil {
		return
	}
	s.mark("%d customers press the button, twice each", n)
	all := &s.shop.customers
	for i := range n {
		all.wait.Go(func() {
			got := s.shop.buyOne(ctx, 1000+7*i)
			all.mu.Lock()
			defer all.mu.Unlock()
			all.list = append(all.list, got)
		})
	}
}

// served waits until all customers have an order or a refusal.
func (s *stage) served(ctx context.Context, atMost time.Duration) {
	done := make(chan struct{})
	go func() { s.shop.customers.wait.Wait(); close(done) }()
	s.until(ctx, "every customer has an answer", atMost, func() bool {
		select {
		case <-done:
			return true
		default:
			return false
		}
	})
}

func (r *run) buyOne(ctx context.Context, sku int) (got presses) {
	got.At = time.Now()
	jar, err := cookiejar.New(nil)
	if err != nil {
		got.Said = err.Error()
		return got
	}
	c := customer{base: r.witnesses[0].Target, http: &http.Client{Jar: jar, Transport: r.Transport, Timeout: patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	form, err := c.form(ctx, fmt.Sprintf("/checkout?sku=%d&qty=1", sku))
	// A page that cannot promise a price just now has no button, says so, and is reloaded.
	for again := 0; err != nil && again < 5 && ctx.Err() == nil; again++ {
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
			form, err = c.form(ctx, fmt.Sprintf("/checkout?sku=%d&qty=1", sku))
		}
	}
	if err != nil {
		got.Said = err.Error()
		return got
	}
	var both sync.WaitGroup
	got.First = make([]answer, 2)
	for i := range got.First {
		both.Go(func() { got.First[i] = c.press(ctx, form) })
	}
	both.Wait()
	for _, a := range got.First {
		got.Order = cmp.Or(got.Order, a.order)
	}
	for ctx.Err() == nil && got.Order == "" {
		if got.Order, got.Said = c.outcome(ctx, form.Get("key")); got.Order != "" || got.Said != "" {
			return got
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
			a := c.press(ctx, form)
			if a.Status == http.StatusUnprocessableEntity {
				got.Said = "refused"
				return got
			}
			got.Order = a.order
		}
	}
	return got
}

// customer is one of them, with a browser that keeps cookies.
type customer struct {
	base string
	http *http.Client
}

func (c customer) do(ctx context.Context, method, path string, form url.Values) (status int, header http.Header, body []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		return 0, nil, nil, err
	}
	req.Header.Set("Accept", "text/html")
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, nil, nil, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return resp.StatusCode, resp.Header, body, err
}

// form goes to the till: a redirect to the form of this intent, and the form itself.
func (c customer) form(ctx context.Context, path string) (url.Values, error) {
	_, header, _, err := c.do(ctx, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	_, _, page, err := c.do(ctx, http.MethodGet, header.Get("Location"), nil)
	if err != nil {
		return nil, err
	}
	form, ok := load.CheckoutForm(page)
	if !ok {
		return nil, fmt.Errorf("no form to send")
	}
	return form, nil
}

func (c customer) press(ctx context.Context, form url.Values) answer {
	began := time.Now()
	status, header, _, err := c.do(ctx, http.MethodPost, "/checkout", form)
	if err != nil {
		return answer{Took: time.Since(began)}
	}
	a := answer{Took: time.Since(began), Status: status, RetryAfter: header.Get("Retry-After") != ""}
	if to := header.Get("Location"); strings.HasPrefix(to, "/orders/") {
		a.order = to
	}
	return a
}

// outcome asks the page of the intent what became of it; both are empty while nobody knows.
func (c customer) outcome(ctx context.Context, key string) (order, refusal string) {
	status, header, _, err := c.do(ctx, http.MethodGet, "/checkout/"+key, nil)
	switch {
	case err == nil && status == http.StatusSeeOther && strings.HasPrefix(header.Get("Location"), "/orders/"):
		return header.Get("Location"), ""
	case err == nil && status == http.StatusUnprocessableEntity:
		return "", "refused"
	}
	return "", ""
}
