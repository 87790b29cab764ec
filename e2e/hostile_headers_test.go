//go:build e2e

package e2e

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestHostileHeadersAreIgnored sends what a stranger's client may send. A header that makes no sense must neither break
// the page nor come back in the answer; one that would speak for a customer or for another service is dropped at the edge.
func TestHostileHeadersAreIgnored(t *testing.T) {
	s := stack(t)
	v := newVisitor(t, s.URL("productpage"))
	for name, header := range map[string][2]string{
		"no traceparent":       {"Traceparent", "00-zzzz-zzzz-01"},
		"impossible deadline":  {"X-Request-Timeout-Ms", "-99999999999999999999"},
		"deadline of a tick":   {"X-Request-Timeout-Ms", "1"}, // inside it would be refused; a stranger has no say in it
		"attempt of a robot":   {"X-Attempt", "' OR 1=1 --"},
		"request id as markup": {"X-Request-Id", "<script>alert(1)</script>"},
		"very long request id": {"X-Request-Id", strings.Repeat("r", 8<<10)},
		"any accept":           {"Accept", "text/html;q=nonsense,,;;"},
		"forwarded for":        {"X-Forwarded-For", "127.0.0.1, <script>"},
	} {
		t.Run(name, func(t *testing.T) {
			req, err := http.NewRequest(http.MethodGet, s.URL("productpage")+"/products/42", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set(header[0], header[1])
			p := v.do(req)
			want(t, p, http.StatusOK)
			for key, values := range p.header {
				if len(header[1]) > 8 && strings.Contains(strings.Join(values, " "), header[1]) {
					t.Errorf("the answer's %s repeats it", key)
				}
			}
			if strings.Contains(p.body, "alert(1)") {
				t.Error("the page repeats it")
			}
		})
	}
}

// TestNobodySpeaksForAnotherCustomer sends the inner header that names the customer, from outside.
func TestNobodySpeaksForAnotherCustomer(t *testing.T) {
	s := stack(t)
	order := buy(t, newVisitor(t, s.URL("productpage")), 1019)
	var customer string
	s.queryRow(t, "orders", `SELECT customer_id FROM orders WHERE id = $1`, strings.TrimPrefix(order.url.Path, "/orders/")).scan(&customer)
	if customer == "" {
		t.Fatal("the order has no customer")
	}
	req, err := http.NewRequest(http.MethodGet, s.URL("productpage")+order.url.Path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Customer-Id", customer)
	req.AddCookie(&http.Cookie{Name: "customer", Value: customer + ".forged"})
	want(t, newVisitor(t, s.URL("productpage")).do(req), http.StatusNotFound)
}

// TestMalformedHTTPIsRefused goes below what a client library would send. Whatever it is, the answer is a 4xx or a closed
// connection, and the next customer is served.
func TestMalformedHTTPIsRefused(t *testing.T) {
	s := stack(t)
	for name, raw := range map[string]string{
		"huge header":               "GET / HTTP/1.1\r\nHost: shop\r\nX-Big: " + strings.Repeat("x", 2<<20) + "\r\n\r\n",
		"two lengths":               "POST /checkout HTTP/1.1\r\nHost: shop\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
		"length and chunks":         "POST /checkout HTTP/1.1\r\nHost: shop\r\nContent-Length: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"no host":                   "GET / HTTP/1.1\r\n\r\n",
		"line feed in a header":     "GET / HTTP/1.1\r\nHost: shop\r\nX-A: b\x00c\r\n\r\n",
		"up and away":               "GET /../../etc/passwd HTTP/1.1\r\nHost: shop\r\n\r\n",
		"another protocol entirely": "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL("productpage"), "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			conn.SetDeadline(time.Now().Add(15 * time.Second)) // above the server's own limit for reading a header
			fmt.Fprint(conn, raw)                              // the server may hang up while it is still being sent
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err == nil && (resp.StatusCode < 400 || resp.StatusCode > 499) {
				t.Errorf("answered %s", resp.Status)
			}
			if got := s.Probe("productpage", "/"); got != http.StatusOK {
				t.Errorf("afterwards the home page answers %d", got)
			}
		})
	}
}
