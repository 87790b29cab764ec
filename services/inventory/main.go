// Command inventory knows what is on the shelf: it shows stock, and it sets
// stock aside for orders until they are confirmed or abandoned.
package main

import (
	"context"
	"io"

	"watertight.example/pkg/service"
)

func main() { service.Main(run) }

// run is the whole service; tests start it as main does.
func run(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error {
	cfg := &Config{}
	return service.Run(ctx, args, getenv, stdout, service.Program{
		Name:    "inventory",
		Summary: "Stock of the shop: counts, reservations with commit, release and expiry, and a snapshot in Redis.",
		Config:  cfg,
		Build:   func(s *service.Service) error { return build(s, cfg) },
	})
}
