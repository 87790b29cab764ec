package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Inside is what one service says about itself on its internal listener.
type Inside struct {
	Name         string       `json:"name"`
	Silent       bool         `json:"silent"` // it did not answer; the rest is empty then
	Dependencies []Dependency `json:"dependencies"`
	Pools        []Pool       `json:"pools"`
}

// Dependency is how one service protects itself from one other, at this moment.
type Dependency struct {
	Name       string  `json:"name"`
	HasBreaker bool    `json:"has_breaker"`
	Breaker    string  `json:"breaker"`   // closed, open, half_open
	RetryIn    float64 `json:"retry_in"`  // seconds until an open breaker lets a probe pass
	Held       bool    `json:"held"`      // forced by hand
	Reason     string  `json:"reason"`    // why the breaker is where it is
	InFlight   int     `json:"in_flight"` // calls under way
	Limit      int     `json:"limit"`     // most that may be; 0: no limit
	HasBudget  bool    `json:"has_budget"`
	BudgetLeft int     `json:"budget_left"` // extra attempts still allowed
	Policy     string  `json:"policy"`
}

// Pool is a pool of connections to a store.
type Pool struct {
	Name string `json:"name"`
	Used int    `json:"used"`
	Max  int    `json:"max"` // 0: not told
}

// listener reads one service. An answer that does not come is shown as silence.
type listener struct {
	Service
	transport http.RoundTripper
}

func (l listener) read(ctx context.Context) Inside {
	ctx, cancel := context.WithTimeout(ctx, readPatience)
	defer cancel()
	in := Inside{Name: l.Name, Dependencies: []Dependency{}, Pools: []Pool{}}
	err := errors.Join(
		l.get(ctx, "/resilience", func(body io.Reader) (err error) { in.Dependencies, err = dependencies(body); return }),
		l.get(ctx, "/metrics", func(body io.Reader) (err error) { in.Pools, err = pools(body); return }))
	if err != nil {
		return Inside{Name: l.Name, Silent: true, Dependencies: []Dependency{}, Pools: []Pool{}}
	}
	return in
}

func (l listener) get(ctx context.Context, path string, use func(io.Reader) error) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, l.Internal+path, nil)
	if err != nil {
		return err
	}
	resp, err := (&http.Client{Transport: l.transport}).Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s%s answers %d", l.Internal, path, resp.StatusCode)
	}
	return use(io.LimitReader(resp.Body, maxBody))
}

func dependencies(body io.Reader) ([]Dependency, error) {
	var answer struct {
		Dependencies []struct {
			Name       string
			HasBreaker bool `json:"has_breaker"`
			HasBudget  bool `json:"has_budget"`
			Policy     string
			State      struct {
				Breaker         string
				RetryAfter      time.Duration `json:"retry_after"`
				Held            bool
				InFlight        int `json:"in_flight"`
				Limit           int
				BudgetLeft      int `json:"budget_left"`
				Calls, Failures int
			}
			Recent []struct{ Reason string }
		}
	}
	if err := json.NewDecoder(body).Decode(&answer); err != nil {
		return nil, err
	}
	list := []Dependency{}
	for _, d := range answer.Dependencies {
		one := Dependency{
			Name: d.Name, HasBreaker: d.HasBreaker, Breaker: d.State.Breaker, RetryIn: d.State.RetryAfter.Round(100 * time.Millisecond).Seconds(),
			Held: d.State.Held, InFlight: d.State.InFlight, Limit: d.State.Limit,
			HasBudget: d.HasBudget, BudgetLeft: d.State.BudgetLeft, Policy: d.Policy,
		}
		if len(d.Recent) > 0 {
			one.Reason = d.Recent[0].Reason
		}
		list = append(list, one)
	}
	return list, nil
}

// pools reads what /metrics says of connections, like pgxpool_max_conns{db="orders",service="orders"} 10.
func pools(body io.Reader) ([]Pool, error) {
	byName := map[string]*Pool{}
	names := []string{}
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		metric, rest, _ := strings.Cut(lines.Text(), "{")
		field := map[string]func(p *Pool, v int){
			"pgxpool_acquired_conns": func(p *Pool, v int) { p.Used += v },
			"pgxpool_max_conns":      func(p *Pool, v int) { p.Max = v },
			"redis_pool_total_conns": func(p *Pool, v int) { p.Used += v },
			"redis_pool_idle_conns":  func(p *Pool, v int) { p.Used -= v },
		}[metric]
		_, db, found := strings.Cut(rest, `db="`)
		value, err := strconv.ParseFloat(rest[strings.LastIndexByte(rest, ' ')+1:], 64)
		if field == nil || !found || err != nil {
			continue
		}
		db, _, _ = strings.Cut(db, `"`)
		if byName[db] == nil {
			byName[db] = &Pool{Name: db}
			names = append(names, db)
		}
		field(byName[db], int(value))
	}
	list := []Pool{}
	for _, name := range names {
		list = append(list, *byName[name])
	}
	return list, lines.Err()
}
