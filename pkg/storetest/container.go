package storetest

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/testcontainers/testcontainers-go"
	"go.uber.org/goleak"
)

// Lifetime is how long a container lives when nobody ends it. It is far above
// what one package's tests take and short enough that a crashed run leaves
// nothing behind for long.
const Lifetime = 20 * time.Minute

// one is a container that is started by the first test that asks for it.
type one struct {
	once sync.Once
	c    testcontainers.Container
	addr string // host:port of the published port
	err  error
}

// The containers belong to the test binary, not to a test: starting Postgres
// takes seconds, creating a database in it takes milliseconds.
var (
	postgres one
	redis    one
)

// Main runs the package's tests, ends the containers they started and exits with the tests' code. Call it from TestMain. When the tests
// have passed it also sees to it that they left no goroutine behind. The connections to the container engine stay, and are not theirs.
func Main(m *testing.M) {
	code := m.Run()
	for _, o := range []*one{&postgres, &redis} {
		if o.c != nil {
			_ = testcontainers.TerminateContainer(o.c, testcontainers.StopTimeout(0))
		}
	}
	if code == 0 {
		if err := goleak.Find(goleak.IgnoreTopFunction("internal/poll.runtime_pollWait"), goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// start runs the container once and remembers where its port is published.
func (o *one) start(t testing.TB, req testcontainers.ContainerRequest) string {
	t.Helper()
	o.once.Do(func() { o.c, o.addr, o.err = run(req) })
	if o.err != nil {
		t.Fatalf("storetest: %s: %v", req.Image, o.err)
	}
	return o.addr
}

func run(req testcontainers.ContainerRequest) (testcontainers.Container, string, error) {
	local()
	// The container outlives the test that happened to ask first, so it must
	// not be bound to that test's context.
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	// `timeout` as the first process is the reaper: it ends the store when
	// this test binary was killed before it could.
	req.Entrypoint = []string{"timeout", "-s", "INT", fmt.Sprint(int(Lifetime.Seconds())), "docker-entrypoint.sh"}
	req.HostConfigModifier = func(h *container.HostConfig) { h.AutoRemove = true }
	c, err := testcontainers.GenericContainer(ctx, testcontainers.GenericContainerRequest{ContainerRequest: req, Started: true})
	if err != nil {
		return c, "", err
	}
	addr, err := c.Endpoint(ctx, "")
	return c, addr, err
}

// local tells testcontainers that the engine is this machine's and that no
// reaper image is needed. Variables the user has set win.
func local() {
	for name, value := range map[string]string{
		"TESTCONTAINERS_RYUK_DISABLED": "true",
		"TESTCONTAINERS_HOST_OVERRIDE": "127.0.0.1",
	} {
		if _, set := os.LookupEnv(name); !set && os.Getenv("DOCKER_HOST") == "" {
			_ = os.Setenv(name, value)
		}
	}
}
