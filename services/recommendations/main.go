// Recommendations answers "bought together" and "best sellers" from purchase history, and takes note of new purchases.
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
		Name:    "recommendations",
		Summary: "What customers bought together, the day's best sellers, and new purchases as they happen.",
		Config:  &cfg,
		Build:   func(s *service.Service) error { return build(s, &cfg) },
	})
}
