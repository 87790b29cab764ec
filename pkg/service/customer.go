package service

import "net/http"

const headerCustomerID = "X-Customer-Id"

// CustomerID returns the customer a request is made for: X-Customer-Id, set by productpage from its signed cookie, 1 to 64
// visible ASCII characters. Without a valid one the error is a *Problem with status 400.
func CustomerID(r *http.Request) (string, error) {
	values := r.Header.Values(headerCustomerID)
	if len(values) != 1 || !visibleASCII(values[0], 64) {
		return "", NewProblem(http.StatusBadRequest, "customer-id-invalid",
			"X-Customer-Id must be sent once, as 1 to 64 visible ASCII characters.")
	}
	return values[0], nil
}

func visibleASCII(s string, most int) bool {
	if s == "" || len(s) > most {
		return false
	}
	for _, c := range []byte(s) {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return true
}
