// Package toxitest hands tests a real Toxiproxy with edges that lead somewhere.
package toxitest

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
	"go.uber.org/goleak"
)

// Toxiproxy is a running one. Each edge leads to its own API, so that no second container is needed: a GET of
// Edges[name]+"/version" goes through the edge and answers a few bytes.
type Toxiproxy struct {
	API   string            // URL of the API
	Edges map[string]string // URLs through the edges "one" and "two"
}

// Main runs the package's tests and sees to it that they leave no goroutine behind. The connections to the container engine stay, and
// are not theirs. Call it from TestMain.
func Main(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("internal/poll.runtime_pollWait"), goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"))
}

// Start runs Toxiproxy for the length of the test.
func Start(t testing.TB) Toxiproxy {
	t.Helper()
	for name, value := range map[string]string{
		"TESTCONTAINERS_RYUK_DISABLED": "true",      // the test ends its container; no reaper image is needed
		"TESTCONTAINERS_HOST_OVERRIDE": "127.0.0.1", // where a local engine publishes, also when this runs in a container itself
	} {
		if _, set := os.LookupEnv(name); !set && os.Getenv("DOCKER_HOST") == "" {
			_ = os.Setenv(name, value)
		}
	}
	c, err := testcontainers.GenericContainer(t.Context(), testcontainers.GenericContainerRequest{
		ContainerRequest: testcontainers.ContainerRequest{
			Image:              "ghcr.io/shopify/toxiproxy:2.12.0",
			ExposedPorts:       []string{"8474/tcp", "21001/tcp", "21002/tcp"},
			Env:                map[string]string{"LOG_LEVEL": "error"},
			HostConfigModifier: func(h *container.HostConfig) { h.AutoRemove = true },
			WaitingFor:         wait.ForHTTP("/version").WithPort("8474/tcp").WithStartupTimeout(time.Minute),
		},
		Started: true,
	})
	testcontainers.CleanupContainer(t, c, testcontainers.StopTimeout(0))
	if err != nil {
		t.Fatalf("toxitest: %v", err)
	}
	published := func(port string) string {
		url, err := c.PortEndpoint(t.Context(), port, "http")
		if err != nil {
			t.Fatalf("toxitest: %v", err)
		}
		return url
	}
	toxi := Toxiproxy{API: published("8474/tcp"), Edges: map[string]string{"one": published("21001/tcp"), "two": published("21002/tcp")}}
	populate(t, toxi.API)
	return toxi
}

func populate(t testing.TB, api string) {
	t.Helper()
	var edges []string
	for i, name := range []string{"one", "two"} {
		edges = append(edges, fmt.Sprintf(`{"name":%q,"listen":"0.0.0.0:%d","upstream":"127.0.0.1:8474","enabled":true}`, name, 21001+i))
	}
	resp, err := http.Post(api+"/populate", "application/json", strings.NewReader("["+strings.Join(edges, ",")+"]"))
	if err != nil {
		t.Fatalf("toxitest: %v", err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		t.Fatalf("toxitest: populate answers %d", resp.StatusCode)
	}
}
