// Productpage is the shop window: it shows what there is, gathers each page from four other services within half a second, and
// shows a good page, marked as such, when some of them are slow or gone.
package main

import (
	"context"
	"io"

	"watertight.example/pkg/service"
)

func main() { service.Main(run) }

func run(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error {
	var cfg Config
	return service.Run(ctx, args, getenv, stdout, service.Program{
		Name:    "productpage",
		Summary: "The shop window: pages for people, gathered from the other services.",
		Config:  &cfg,
		Edge:    true,
		Build:   func(s *service.Service) error { return build(s, &cfg, cfg.contract()) },
	})
}
