//go:build e2e

package e2e

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"time"
)

const (
	public   = 8080 // what every service's public and internal listeners are in its container
	internal = 9090

	ordersEdge = 7004 // of toxiproxy: the edge productpage-orders
)

// published says which ports of which containers the tests reach.
var published = []struct {
	service string
	ports   []int
}{
	{"productpage", []int{public, internal}},
	{"recommendations", []int{public, internal}},
	{"inventory", []int{public, internal}},
	{"pricing", []int{public, internal}},
	{"orders", []int{public, internal}},
	{"postgres", []int{5432}},
	{"postgres-recommendations", []int{5432}},
	{"postgres-inventory", []int{5432}},
	{"postgres-inventory-replica", []int{5432}},
	{"redis", []int{6379}},
	{"toxiproxy", []int{8474, ordersEdge}},
	{"prometheus", []int{9090}},
	{"productpage-naive", []int{public, internal}},
	{"recommendations-naive", []int{public}},
	{"inventory-naive", []int{public}},
	{"janitor", nil},
}

// replicas have ports, and no container until a test calls Replica.
var replicas = []string{"orders-2"}

// shopServices are the five, in the order of a customer's request.
var shopServices = []string{"productpage", "recommendations", "inventory", "pricing", "orders"}

// servers says which container a database is in.
var servers = map[string]string{
	"catalogue":         "postgres",
	"pricing":           "postgres",
	"orders":            "postgres",
	"recommendations":   "postgres-recommendations",
	"inventory":         "postgres-inventory",
	"inventory-replica": "postgres-inventory-replica",
}

func allServices() (names []string) {
	for _, p := range published {
		names = append(names, p.service)
	}
	return names
}

// ports maps "service:container port" to a port of this machine.
type ports map[string]int

func (p ports) addr(service string, port int) string {
	host, ok := p[fmt.Sprintf("%s:%d", service, port)]
	if !ok {
		panic(fmt.Sprintf("e2e: port %d of %q is not published", port, service))
	}
	return fmt.Sprintf("127.0.0.1:%d", host)
}

// choosePorts finds free ports. The engine could choose them too, but would choose others at every restart of a
// container. They are below those the kernel hands out to outgoing connections, or one of these could take a
// container's port while it is down.
func choosePorts() (ports, error) {
	chosen, taken := ports{}, map[int]bool{}
	choose := func(service string, wanted []int) error {
		for _, port := range wanted {
			host, err := freePort(taken)
			if err != nil {
				return err
			}
			taken[host] = true
			chosen[fmt.Sprintf("%s:%d", service, port)] = host
		}
		return nil
	}
	for _, p := range published {
		if err := choose(p.service, p.ports); err != nil {
			return nil, err
		}
	}
	for _, name := range replicas {
		if err := choose(name, []int{public, internal}); err != nil {
			return nil, err
		}
	}
	return chosen, nil
}

func freePort(taken map[int]bool) (int, error) {
	var err error
	for range 100 {
		port := 20000 + rand.IntN(10000)
		if taken[port] {
			continue
		}
		var l net.Listener
		if l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return port, l.Close()
		}
	}
	return 0, fmt.Errorf("no free port: %w", err)
}

// overrideFile is the second compose file, beside the logs, so that one can look at it.
const overrideFile = artifacts + "/override.yml"

// openFor is the open time of the page's breakers: 3 s instead of 10 or 30. How healing works is the same, and the tests wait for
// it often. Those behind the page keep their distance to it: an inner breaker has to be ready to probe when an outer one does, or
// the outer probe fails on a healthy store and the page waits one period more. So it is in production, with 5 s behind 10 or 30.
const openFor = 3 * time.Second

var openTimes = map[string]string{
	"productpage": `
      RECOMMENDATIONS_OPEN_FOR: 3s
      INVENTORY_OPEN_FOR: 3s
      PRICING_OPEN_FOR: 3s
      ORDERS_OPEN_FOR: 3s
      REDIS_OPEN_FOR: 3s
      POSTGRES_OPEN_FOR: 3s
`,
	"recommendations": `
      POSTGRES_OPEN_FOR: 1s
`,
	"pricing": `
      POSTGRES_OPEN_FOR: 1s
`,
}

// writeOverride makes the second compose file. It publishes the ports; it lets a container that dies stay dead, for a restart
// loop would hide why; it builds and pulls nothing; and it leaves the probing to the tests.
func writeOverride(chosen ports) error {
	var b strings.Builder
	b.WriteString("services:\n")
	for _, p := range published {
		fmt.Fprintf(&b, "  %s:\n    build: !reset null\n    pull_policy: never\n    restart: \"no\"\n", p.service)
		fmt.Fprintf(&b, "    healthcheck: !override { disable: true }\n")
		if times := openTimes[p.service]; times != "" {
			b.WriteString("    environment:" + times)
		}
		if len(p.ports) == 0 {
			continue
		}
		b.WriteString("    ports: !override\n")
		for _, port := range p.ports {
			fmt.Fprintf(&b, "      - \"%s:%d\"\n", chosen.addr(p.service, port), port)
		}
	}
	if err := os.MkdirAll(artifacts, 0o755); err != nil {
		return err
	}
	return os.WriteFile(overrideFile, []byte(b.String()), 0o644)
}
