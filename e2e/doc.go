// Package e2e starts the real compose file on ports of its own and breaks it.
//
// The tests are built with the tag e2e only (`make e2e`), so that `go test work`
// stays a matter of unit and component tests:
//
//	go test -tags e2e -run TestACustomerBuys ./e2e
//
// The images must exist already (`make build`); nothing is built or pulled here.
// All tests share one stack, started by the first that asks for it, and run one
// after the other. When a test fails, the log of every container is in
// artifacts/, in a folder named after the test.
package e2e
