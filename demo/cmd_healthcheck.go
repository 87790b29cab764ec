package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"time"
)

const healthcheckIntro = `
demo healthcheck asks a control room whether it is well; exit code 0 or 1. The image has no shell and no curl, so that the container's
probe is the binary itself.

  demo healthcheck -url http://127.0.0.1:8088/api/state`

func runHealthcheck(ctx context.Context, env environment, args []string) error {
	fs := flag.NewFlagSet("healthcheck", flag.ContinueOnError)
	url := fs.String("url", "http://127.0.0.1:8088/api/state", "what has to answer 200 within 2 s; the room's state takes all of its locks")
	if err := parse(env, fs, healthcheckIntro, args); err != nil {
		return help(err)
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, *url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", *url, resp.Status)
	}
	return nil
}
