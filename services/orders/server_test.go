package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"watertight.example/pkg/idempotency"
)

func TestBadInputIsRefusedAndWritesNothing(t *testing.T) {
	s := open(t)
	good := s.pricing.body(Item{42, 1})
	quote := uuid.NewString()
	lines := func(lines string) string { return fmt.Sprintf(`{"quote_id":%q,"lines":%s}`, quote, lines) }
	many := strings.TrimSuffix(strings.Repeat(`{"sku":1,"quantity":1},`, 21), ",")
	for name, c := range map[string]struct {
		body    string
		headers []string
		status  int
		problem string
	}{
		"no key":              {good, []string{alice}, 400, "idempotency-key-missing"},
		"empty key":           {good, []string{alice, "Idempotency-Key: "}, 400, "idempotency-key-invalid"},
		"short key":           {good, []string{alice, "Idempotency-Key: 123456789012345"}, 400, "idempotency-key-invalid"},
		"long key":            {good, []string{alice, "Idempotency-Key: " + strings.Repeat("k", 256)}, 400, "idempotency-key-invalid"},
		"key not ASCII":       {good, []string{alice, "Idempotency-Key: intent-0123456789-ö"}, 400, "idempotency-key-invalid"},
		"key with parameters": {good, []string{alice, `Idempotency-Key: "intent-0123456789";v=1`}, 400, "idempotency-key-invalid"},
		"two keys":            {good, []string{alice, key("a"), key("b")}, 400, "idempotency-key-invalid"},
		"no customer":         {good, []string{key("a")}, 400, "customer-id-invalid"},
		"hostile customer":    {good, []string{"X-Customer-Id: " + strings.Repeat("x", 65), key("a")}, 400, "customer-id-invalid"},
		"no body":             {``, nil, 400, "malformed-json"},
		"not JSON":            {`quote_id=1`, nil, 400, "malformed-json"},
		"array":               {`[]`, nil, 400, "malformed-json"},
		"unknown field":       {`{"quote_id":"` + quote + `","lines":[{"sku":1,"quantity":1}],"currency":"USD"}`, nil, 400, "malformed-json"},
		"an amount":           {lines(`[{"sku":1,"quantity":1,"amount":1}]`), nil, 400, "malformed-json"},
		"trailing data":       {good + `{}`, nil, 400, "malformed-json"},
		"huge body":           {`{"quote_id":"` + strings.Repeat("x", 70_000) + `"}`, nil, 413, "body-too-large"},
		"form":                {good, []string{alice, key("a"), "Content-Type: text/plain"}, 415, "unsupported-media-type"},
		"no quote":            {`{"lines":[{"sku":1,"quantity":1}]}`, nil, 400, "invalid-order"},
		"quote no UUID":       {`{"quote_id":"../42","lines":[{"sku":1,"quantity":1}]}`, nil, 400, "malformed-json"},
		"no lines":            {lines(`[]`), nil, 400, "invalid-order"},
		"too many lines":      {lines(`[` + many + `]`), nil, 400, "invalid-order"},
		"same sku twice":      {lines(`[{"sku":1,"quantity":1},{"sku":1,"quantity":2}]`), nil, 400, "invalid-order"},
		"quantity 0":          {lines(`[{"sku":1,"quantity":0}]`), nil, 400, "invalid-order"},
		"quantity negative":   {lines(`[{"sku":1,"quantity":-1}]`), nil, 400, "invalid-order"},
		"quantity 100":        {lines(`[{"sku":1,"quantity":100}]`), nil, 400, "invalid-order"},
		"quantity huge":       {lines(`[{"sku":1,"quantity":99999999999999999999}]`), nil, 400, "malformed-json"},
		"quantity fractional": {lines(`[{"sku":1,"quantity":1.5}]`), nil, 400, "malformed-json"},
		"quantity a string":   {lines(`[{"sku":1,"quantity":"1"}]`), nil, 400, "malformed-json"},
		"sku 0":               {lines(`[{"sku":0,"quantity":1}]`), nil, 400, "invalid-order"},
		"sku too large":       {lines(`[{"sku":2147483648,"quantity":1}]`), nil, 400, "invalid-order"},
		"no time to do it":    {good, []string{alice, key("a"), "X-Request-Timeout-Ms: 50"}, 503, "deadline-too-short"},
	} {
		t.Run(name, func(t *testing.T) {
			headers := c.headers
			if headers == nil {
				headers = []string{alice, key("a")}
			}
			var only []string // a test's Content-Type replaces the usual one
			for _, h := range headers {
				if !strings.HasPrefix(h, "Content-Type") {
					only = append(only, h)
				}
			}
			a, err := s.sendAs(t.Context(), contentType(headers), "POST", s.url+"/orders", c.body, only...)
			if err != nil {
				t.Fatal(err)
			}
			a.is(t, c.status, c.problem)
		})
	}
	if n := s.count(`SELECT (SELECT count(*) FROM orders) + (SELECT count(*) FROM idempotency_keys) + (SELECT count(*) FROM outbox)`); n != 0 {
		t.Errorf("%d rows written", n)
	}
	if n := s.pricing.asked("") + s.inventory.asked(""); n != 0 {
		t.Errorf("%d requests went on to others", n)
	}
}

func contentType(headers []string) string {
	for _, h := range headers {
		if value, ok := strings.CutPrefix(h, "Content-Type: "); ok {
			return value
		}
	}
	return "application/json"
}

func TestReadsRefuseBadInput(t *testing.T) {
	s := open(t)
	id := uuid.NewString()
	for name, c := range map[string]struct {
		method, path, customer string
		status                 int
		problem                string
	}{
		"unknown order":          {"GET", "/orders/" + id, alice, 404, "order-not-found"},
		"order id no UUID":       {"GET", "/orders/42", alice, 404, "order-not-found"},
		"order id with braces":   {"GET", "/orders/%7B" + id + "%7D", alice, 404, "order-not-found"},
		"order id climbs":        {"GET", "/orders/..%2f..%2fhealthz", alice, 404, "order-not-found"},
		"order without customer": {"GET", "/orders/" + id, "X-Other: x", 400, "customer-id-invalid"},
		"unknown checkout":       {"GET", "/checkouts/" + keyText("nobody"), alice, 404, "checkout-not-found"},
		"checkout key short":     {"GET", "/checkouts/x", alice, 400, "idempotency-key-invalid"},
		"checkout key not ASCII": {"GET", "/checkouts/intent-0123456789-%C3%B6", alice, 400, "idempotency-key-invalid"},
		"checkout, no customer":  {"GET", "/checkouts/" + keyText("nobody"), "X-Other: x", 400, "customer-id-invalid"},
		"resolve, no UUID":       {"POST", "/resolve/42", alice, 404, "order-not-found"},
		"resolve, upper case":    {"POST", "/resolve/" + strings.ToUpper(id), alice, 404, "order-not-found"},
	} {
		t.Run(name, func(t *testing.T) {
			s.do(c.method, c.path, "", c.customer).is(t, c.status, c.problem)
		})
	}
	if n := s.count(`SELECT count(*) FROM orders`); n != 0 {
		t.Errorf("%d tombstones written for ids that are none", n)
	}
}

func TestCheckoutTellsTheStateOfAnIntent(t *testing.T) {
	s := open(t)
	o := s.order("good", s.pricing.body(Item{42, 1})).is(t, 201, "").order(t)
	s.order("no/luck?&", s.pricing.body(Item{42, 50})).is(t, 422, "insufficient-stock")
	if a := s.do("GET", "/checkouts/"+keyText("good"), "", alice); string(a.body) != `{"state":"confirmed","order_id":"`+o.ID.String()+"\"}\n" {
		t.Errorf("confirmed: %s", a.body)
	}
	a := s.do("GET", "/checkouts/"+keyText("no%2Fluck%3F&"), "", alice).is(t, 200, "")
	if !strings.HasPrefix(string(a.body), `{"state":"refused","problem":{`) || !strings.Contains(string(a.body), `"/problems/insufficient-stock"`) {
		t.Errorf("refused: %s", a.body)
	}
	s.do("GET", "/checkouts/"+keyText("good"), "", bob).is(t, 404, "checkout-not-found")
}

// GET /orders needs our own Postgres and nothing else.
func TestOrdersAreShownWhileEverythingElseIsAway(t *testing.T) {
	s := open(t, "REDIS_URL=redis://127.0.0.1:1/0")
	o := s.order("x", s.pricing.body(Item{42, 1})).is(t, 201, "").order(t)
	for _, f := range []*fake{&s.pricing.fake, &s.inventory.fake, &s.recs.fake} {
		f.fail(http.StatusInternalServerError)
	}
	s.do("GET", "/orders/"+o.ID.String(), "", alice).is(t, 200, "")
	s.do("GET", "/checkouts/"+keyText("x"), "", alice).is(t, 200, "")
}

// trips counts round trips to Postgres: a query is one, a batch is one.
type trips struct{ n atomic.Int32 }

func (c *trips) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	c.n.Add(1)
	return ctx
}
func (c *trips) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
func (c *trips) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	c.n.Add(1)
	return ctx
}
func (c *trips) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (c *trips) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}

func TestHappyPathTakesTwoRoundTripsAndHoldsNoConnection(t *testing.T) {
	s := closed(t)
	counter := &trips{}
	config, err := pgxpool.ParseConfig(s.database)
	if err != nil {
		t.Fatal(err)
	}
	config.ConnConfig.Tracer = counter
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	p := s.patient(pool)
	var held atomic.Int32
	for _, f := range []*fake{&s.pricing.fake, &s.inventory.fake} {
		f.behave(func(http.ResponseWriter, *http.Request) bool {
			held.Add(pool.Stat().AcquiredConns())
			return false
		})
	}
	in := s.placement(s.pricing.body(Item{1, 1}, Item{2, 2}, Item{3, 3}))
	if _, err := p.place(t.Context(), keyText("x"), in); err != nil {
		t.Fatal(err)
	}
	if n := counter.n.Load(); n != 2 {
		t.Errorf("%d round trips to place an order, want 2: claim, finish", n)
	}
	if n := held.Load(); n != 0 {
		t.Errorf("%d connections were held while another service was asked", n)
	}
	counter.n.Store(0)
	if a, err := p.place(t.Context(), keyText("x"), in); err != nil || !a.Replayed {
		t.Fatal(a, err)
	}
	if n := counter.n.Load(); n != 1 {
		t.Errorf("%d round trips for a replay, want 1", n)
	}
}

func TestKeyTableIsThePackages(t *testing.T) {
	migration, err := os.ReadFile("migrations/00001_idempotency_keys.sql")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(migration), idempotency.Schema()) {
		t.Error("pkg/idempotency has another schema than this service: write a new migration, do not edit this one")
	}
}

func TestImpossibleKnobsAreReportedTogether(t *testing.T) {
	env := map[string]string{"KEY_LEASE": "5s", "WORK_TIMEOUT": "5s", "RELAY_EVERY": "-1s", "PRICING_URL": "ftp://x"}
	err := run(t.Context(), []string{"orders"}, func(k string) string { return env[k] }, new(strings.Builder))
	for _, want := range []string{"KEY_LEASE", "WORK_TIMEOUT", "RELAY_EVERY", "PRICING_URL"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not name %s", err, want)
		}
	}
}
