package load

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// othersPatience is how long a ready target may keep its visitors waiting for the services behind it. One that is away for longer is no
// start any more, and what the page does without it is what the visitors are there to see.
const othersPatience = time.Minute

// Await returns when Run would send the first visitor. A shop that has just been started is ready before everything behind it is, as it
// must be, and until then its pages lack parts. Customers of a new shop come when its door is open.
func Await(ctx context.Context, cfg Config) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	client := newClient(ctx, cfg)
	defer client.CloseIdleConnections()
	return await(ctx, client, cfg)
}

// await is Await for a valid cfg.
func await(ctx context.Context, client *http.Client, cfg Config) error {
	target, _ := parseTarget(cfg.Target, cfg.OwnHost)
	if err := awaitReady(ctx, client, target, cfg.Waiting); err != nil {
		return err
	}
	others, cancel := context.WithTimeout(ctx, othersPatience)
	defer cancel()
	for _, base := range cfg.After {
		other, _ := parseTarget(base, cfg.OwnHost)
		if err := awaitReady(others, client, other, cfg.Waiting); ctx.Err() != nil {
			return err
		}
	}
	return nil
}

// awaitReady asks every half second until base is ready, and tells waiting why it is not yet: at once and then every 10 s. It ends
// with an error only when ctx does: in compose the load may be started long before the shop.
func awaitReady(ctx context.Context, client *http.Client, base *url.URL, waiting func(error)) error {
	var told time.Time
	for {
		err := probe(ctx, client, base.JoinPath("readyz").String())
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("stopped before the target was ready: %w", err)
		}
		if waiting != nil && time.Since(told) >= 10*time.Second {
			waiting(err)
			told = time.Now()
		}
		select {
		case <-ctx.Done():
		case <-time.After(500 * time.Millisecond):
		}
	}
}

func probe(ctx context.Context, client *http.Client, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // so that the connection can be used again
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %d", url, resp.StatusCode)
	}
	return nil
}
