package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"watertight.example/demo/control"
	"watertight.example/demo/incident"
	"watertight.example/demo/planflip"
)

const controlIntro = `
demo control is the control room: a web page on which everybody can break the shop, watch both product pages, and see what protects
one of them. It runs until it is stopped and mends what an incident of its own has broken. The defaults are the names in the compose file.

  demo control
  demo control -listen 127.0.0.1:18088 -toxiproxy http://127.0.0.1:8474 -shop http://127.0.0.1:18080 -naive http://127.0.0.1:18081`

func runControl(ctx context.Context, env environment, args []string) error {
	fs := flag.NewFlagSet("control", flag.ContinueOnError)
	cfg := control.Config{Product: 42, OpenFor: 30 * time.Second, Log: slog.New(slog.NewJSONHandler(env.stdout, nil)).With("service", "control-room")}
	listen := fs.String("listen", ":8088", "`address` to serve the page on")
	hosts := fs.String("hosts", "localhost,127.0.0.1,::1,control-room", "`names` the page may be opened by; others are refused, because they may be a trick")
	fs.StringVar(&cfg.Protected.Target, "shop", "http://productpage:8080", "base `URL` of the protected page")
	fs.StringVar(&cfg.Naive.Target, "naive", "http://productpage-naive:8080", "base `URL` of its naive twin")
	fs.StringVar(&cfg.Protected.Public, "shop-link", "", "`URL` at which a visitor's browser finds the protected page")
	fs.StringVar(&cfg.Naive.Public, "naive-link", "", "the same of the naive twin")
	internal := fs.String("internal", "http://{service}:9090", "base `URL` of the services' internal listeners; {service} stands for the name")
	public := fs.String("public", "", "base `URL` of the services' public listeners, {service} as above; the room waits a minute for them to be ready before it looks at a page")
	toxiproxy := toxiproxyFlag(env, fs)
	database := databaseFlag(env, fs)
	fs.IntVar(&cfg.Rate, "rate", 4, "visitors per second on each page, by which it is measured")
	if err := parse(env, fs, controlIntro, args); err != nil {
		return help(err)
	}
	at := func(service string) string { return strings.ReplaceAll(*internal, "{service}", service) }
	cfg.Toxiproxy, cfg.Hosts, cfg.Books = *toxiproxy, strings.Split(*hosts, ","), books(env)
	cfg.Protected.Internal, cfg.Naive.Internal = at("productpage"), at("productpage-naive")
	for _, name := range []string{"productpage", "recommendations", "inventory", "pricing", "orders"} {
		cfg.Services = append(cfg.Services, control.Service{Name: name, Internal: at(name)})
	}
	if *public != "" {
		ready := func(service string) string { return strings.ReplaceAll(*public, "{service}", service) }
		cfg.Protected.After = []string{ready("recommendations"), ready("inventory"), ready("pricing"), ready("orders")}
		cfg.Naive.After = []string{ready("recommendations-naive"), ready("inventory-naive"), ready("pricing"), ready("orders")}
	}
	cfg.Incident = incident.Times{Baseline: 10 * time.Second, Fault: 30 * time.Second, Recovery: 45 * time.Second}
	if database() != "" {
		db, err := planflip.Open(database())
		if err != nil {
			return err
		}
		defer db.Close()
		cfg.Plan = db
	}
	room, err := control.New(cfg)
	if err != nil {
		return err
	}
	return serve(ctx, cmp.Or(*listen, ":8088"), room, cfg.Log)
}

// serve runs the room behind its page until ctx ends.
func serve(ctx context.Context, address string, room *control.Room, log *slog.Logger) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("the control room cannot listen: %w", err)
	}
	server := &http.Server{Handler: room.Handler(), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	log.Info("the control room is open", "address", listener.Addr().String())

	watching, stop := context.WithCancel(ctx)
	watched := make(chan error, 1)
	go func() { watched <- room.Run(watching) }()
	select {
	case err = <-served: // never without a reason
		stop()
		return errors.Join(err, <-watched)
	case err = <-watched: // ctx has ended, or the room cannot go on
	}
	stop()
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	return errors.Join(err, server.Shutdown(closing))
}
