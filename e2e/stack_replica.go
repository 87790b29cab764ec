//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"strconv"
	"testing"
	"time"

	apinetwork "github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
)

// Replica starts one more container of a service: same image, environment and limits. It answers to a name of its own and, on the
// stack's network, to the service's name as well, so whoever asks for the service by name gets one of the two. It is removed when the
// test ends.
func (s *Stack) Replica(t testing.TB, service, name string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	id, err := s.id(ctx, service)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.docker.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config, host := *got.Container.Config, *got.Container.HostConfig
	config.Labels = maps.Clone(config.Labels)
	config.Labels[labelService] = name
	config.Hostname = name
	host.PortBindings = apinetwork.PortMap{}
	for _, port := range []int{public, internal} {
		host.PortBindings[apinetwork.MustParsePort(strconv.Itoa(port))] = []apinetwork.PortBinding{
			{HostIP: netip.MustParseAddr("127.0.0.1"), HostPort: strconv.Itoa(s.ports[fmt.Sprintf("%s:%d", name, port)])}}
	}
	created, err := s.docker.ContainerCreate(ctx, client.ContainerCreateOptions{
		Name: project + "-" + name, Config: &config, HostConfig: &host,
		NetworkingConfig: &apinetwork.NetworkingConfig{EndpointsConfig: map[string]*apinetwork.EndpointSettings{network: {Aliases: []string{name, service}}}},
	})
	if err != nil {
		t.Fatalf("a second %s: %v", service, err)
	}
	t.Cleanup(func() { s.remove(t, created.ID) })
	s.Start(t, name)
	s.WaitReady(t, name)
}

func (s *Stack) remove(t testing.TB, id string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := s.docker.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true}); err != nil {
		t.Errorf("the replica stays: %v", err)
	}
}
