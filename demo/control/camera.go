package control

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Shot says what a visitor who opens a page's address sees at this moment.
type Shot struct {
	Version  string  `json:"version"`   // of the last page that came: its address and its hash; empty before the first
	AgeS     float64 `json:"age_s"`     // since that page came
	TookMS   float64 `json:"took_ms"`   // it had taken
	WaitingS float64 `json:"waiting_s"` // since the first request that has no page to show for it; 0: the last one was answered
	Trouble  string  `json:"trouble"`   // what came instead of a page, e.g. "status 503"
	Degraded string  `json:"degraded"`  // the page's own word, from its Degraded header
}

// camera asks for a page again and again, one request at a time, as a person does who presses reload.
type camera struct {
	base    string
	product int
	client  *http.Client

	mu      sync.Mutex
	body    []byte
	version string
	came    time.Time // the page
	took    time.Duration
	asked   time.Time // the request that is under way, or the first of those that failed since the last page; zero: none
	trouble string
	lacks   string
}

// between two requests of one camera: often enough to see a change at once, seldom enough to be no load.
const between = time.Second

func newCamera(base string, product int, transport http.RoundTripper) *camera {
	client := &http.Client{Transport: transport, Timeout: patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &camera{base: strings.TrimSuffix(base, "/"), product: product, client: client}
}

// run begins when the page is open: until then every request would be a page that failed, in the shop's own figures, too.
func (c *camera) run(ctx context.Context, open func() error) {
	c.starting(time.Now())
	if open() != nil {
		return // ctx has ended
	}
	for {
		c.shoot(ctx)
		select {
		case <-ctx.Done():
			return
		case <-time.After(between):
		}
	}
}

func (c *camera) starting(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked, c.trouble = now, "the shop is starting"
}

func (c *camera) shoot(ctx context.Context) {
	begin := time.Now()
	c.mu.Lock()
	if c.asked.IsZero() {
		c.asked = begin
	}
	c.mu.Unlock()
	body, lacks, err := c.fetch(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.trouble = troubleOf(err)
		return
	}
	hash := sha256.Sum256(body)
	c.body, c.version, c.lacks = body, hex.EncodeToString(hash[:8]), lacks
	c.came, c.took, c.asked, c.trouble = time.Now(), time.Since(begin), time.Time{}, ""
}

// statusError is an answer that is no page.
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("status %d", int(e)) }

func troubleOf(err error) string {
	var status statusError
	switch {
	case errors.As(err, &status):
		return status.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer"
	}
	return "no connection"
}

func (c *camera) fetch(ctx context.Context) (body []byte, lacks string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/products/%d", c.base, c.product), nil)
	if err != nil {
		return nil, "", err
	}
	req.Header.Set("Accept", "text/html")
	resp, err := c.client.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = statusError(resp.StatusCode)
	}
	return body, resp.Header.Get("Degraded"), err
}

// shot tells how the page looks at now.
func (c *camera) shot(now time.Time) Shot {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := Shot{Version: c.version, TookMS: millis(c.took), Trouble: c.trouble, Degraded: c.lacks}
	if !c.came.IsZero() {
		s.AgeS = now.Sub(c.came).Round(100 * time.Millisecond).Seconds()
	}
	if !c.asked.IsZero() {
		s.WaitingS = now.Sub(c.asked).Round(100 * time.Millisecond).Seconds()
	}
	return s
}

func (c *camera) page() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.body
}
