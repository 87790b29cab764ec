//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"watertight.example/demo/audit"
	"watertight.example/demo/incident"
	"watertight.example/demo/planflip"
)

// playStory plays an incident of demo's list.
func playStory(t *testing.T, name string, speed float64) {
	story, ok := incident.Find(name, incident.Options{Speed: speed})
	if !ok {
		t.Fatalf("there is no incident %q", name)
	}
	fairly(t, func(t testing.TB) {
		s := stack(t)
		s.WaitReady(t, "productpage-naive")
		s.waitWhole(t)
		report, err := incident.Run(t.Context(), story, s.incidentConfig(t))
		if err != nil {
			t.Fatal(err)
		}
		judged(t, report)
	})
}

// database is the address of one of the shop's, past Toxiproxy.
func (s *Stack) database(role, server, name string) string {
	return fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable", role, s.ports.addr(server, 5432), name)
}

// plans is recommendations' database for whoever flips its plan.
func (s *Stack) plans(t testing.TB) planflip.DB {
	t.Helper()
	db, err := planflip.Open(s.database("demo:demo-demo", "postgres-recommendations", "recommendations"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

func (s *Stack) incidentConfig(t testing.TB) incident.Config {
	t.Helper()
	return incident.Config{
		Protected: incident.Twin{Target: s.URL("productpage"), Internal: s.Internal("productpage")},
		Naive:     &incident.Twin{Target: s.URL("productpage-naive"), Internal: s.Internal("productpage-naive")},
		Inside:    map[string]string{"inventory": s.Internal("inventory")},
		Rate:      25, Toxiproxy: s.API(), OpenFor: openFor, Terminal: os.Stdout, Plans: s.plans(t), Engine: engine{s},
		Books: &incident.Books{
			Config: audit.Config{Password: "auditor-demo", Within: 15 * time.Second,
				Orders:          s.database("auditor", "postgres", "orders"),
				Inventory:       s.database("auditor", "postgres-inventory", "inventory"),
				Recommendations: s.database("auditor", "postgres-recommendations", "recommendations")},
			Replica: s.database("auditor", "postgres-inventory-replica", "inventory"),
		},
	}
}

// engine is the stack's, for stories that kill containers.
type engine struct{ s *Stack }

func (e engine) Kill(ctx context.Context, services ...string) error {
	return e.all(ctx, services, func(id string) error {
		_, err := e.s.docker.ContainerKill(ctx, id, client.ContainerKillOptions{Signal: "KILL"})
		if err != nil && strings.Contains(err.Error(), "is not running") {
			return nil
		}
		return err
	})
}

func (e engine) Start(ctx context.Context, services ...string) error {
	return e.all(ctx, services, func(id string) error {
		_, err := e.s.docker.ContainerStart(ctx, id, client.ContainerStartOptions{})
		return err
	})
}

func (e engine) all(ctx context.Context, services []string, do func(id string) error) error {
	for _, service := range services {
		id, err := e.s.id(ctx, service)
		if err == nil {
			err = do(id)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", service, err)
		}
	}
	return nil
}
