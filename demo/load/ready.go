package load

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// awaitReady asks url every half second until it answers 200, and tells waiting why it does not yet: at once and then
// every 10 s. It ends with an error only when ctx does: in compose the load may be started long before the shop.
func awaitReady(ctx context.Context, client *http.Client, url string, waiting func(error)) error {
	var told time.Time
	for {
		err := probe(ctx, client, url)
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
