// Pricing answers what products cost, and makes quotes that hold for a while.
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
		Name:    "pricing",
		Summary: "What products cost, and quotes that hold for a while.",
		Config:  &cfg,
		Build:   func(s *service.Service) error { return build(s, &cfg) },
	})
}
