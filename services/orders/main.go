// Orders places orders: once for each intent, however often it is asked.
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
		Name:    "orders",
		Summary: "Places orders: once for each intent, however often it is asked.",
		Config:  &cfg,
		Build:   func(s *service.Service) error { return build(s, &cfg) },
	})
}
