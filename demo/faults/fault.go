package faults

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Fault asks for one edge to be broken.
type Fault struct {
	Kind    string        // the name of one of Kinds
	Edge    string        // the name of one of Client.Edges
	For     time.Duration // 1 s to 1 h; it ends by itself then
	Latency time.Duration // of kind latency: at least 1 ms
	Share   float64       // of kind latency: the share of answers that are late, each by up to Latency; 0 means all, by exactly that
}

// Active is something broken at this moment.
type Active struct {
	Kind  string
	Edge  string
	Until time.Time // zero: set by somebody else, without an end
	mark  string    // its toxic's name; empty: a proxy disabled by somebody else
}

// Set breaks an edge. The same kind on the same edge is replaced, other kinds add up. The fault ends at Until by
// whoever sweeps first; the error says why it could not be set, and then nothing is left broken by it.
func (c *Client) Set(ctx context.Context, f Fault) (Active, error) {
	t, err := effect(f)
	if err != nil {
		return Active{}, err
	}
	if f.For < time.Second || f.For > time.Hour {
		return Active{}, fmt.Errorf("a fault for %s is not between 1s and 1h", f.For)
	}
	if f.Kind == "latency" && (f.Latency < time.Millisecond || f.Latency > time.Hour) {
		return Active{}, fmt.Errorf("a latency of %s is not between 1ms and 1h", f.Latency)
	}
	if f.Share < 0 || f.Share > 1 || f.Share > 0 && f.Kind != "latency" {
		return Active{}, fmt.Errorf("a share of %g is not between 0 and 1, or not of latency", f.Share)
	}
	edges, err := c.Edges(ctx)
	if err != nil {
		return Active{}, err
	}
	if _, ok := edges[f.Edge]; !ok {
		return Active{}, fmt.Errorf("there is no edge %q; there are %s", f.Edge, strings.Join(slices.Sorted(maps.Keys(edges)), ", "))
	}

	older := slices.DeleteFunc(edges[f.Edge].Active(), func(a Active) bool { return a.Kind != f.Kind || a.Until.IsZero() })
	set := newActive(f, older)
	t.Name = set.mark
	if err := c.apply(ctx, f, t); err != nil {
		return Active{}, errors.Join(err, c.End(context.WithoutCancel(ctx), set))
	}
	for _, a := range older {
		if err := c.End(ctx, a); err != nil {
			return set, err // harmless: it ends when its own time is over
		}
	}
	return set, nil
}

// newActive gives the fault a name that none of the older ones has: one set again within the same second, perhaps with
// another latency, lives a second longer.
func newActive(f Fault, older []Active) Active {
	for until := time.Now().Add(f.For); ; until = until.Add(time.Second) {
		mark := markName(f.Kind, until)
		if !slices.ContainsFunc(older, func(a Active) bool { return a.mark == mark }) {
			_, rounded, _ := parseMark(mark)
			return Active{f.Kind, f.Edge, rounded, mark}
		}
	}
}

func (c *Client) apply(ctx context.Context, f Fault, t toxic) error {
	if err := c.addToxic(ctx, f.Edge, t); err != nil {
		return err
	}
	if f.Kind == refuse {
		return c.setEnabled(ctx, f.Edge, false)
	}
	return nil
}

// End ends one fault; that it has ended already is fine. Other faults on the edge stay.
func (c *Client) End(ctx context.Context, a Active) error {
	if a.Kind == refuse {
		edges, err := c.Edges(ctx)
		if err != nil {
			return err
		}
		another := func(o Active) bool { return o.Kind == refuse && o.mark != a.mark }
		if e, ok := edges[a.Edge]; ok && !e.Enabled && !slices.ContainsFunc(e.Active(), another) {
			if err := c.setEnabled(ctx, a.Edge, true); err != nil {
				return err
			}
		}
	}
	if a.mark == "" {
		return nil
	}
	return c.removeToxic(ctx, a.Edge, a.mark)
}

// Active lists what is broken, by edge and kind, whoever broke it.
func (c *Client) Active(ctx context.Context) ([]Active, error) {
	edges, err := c.Edges(ctx)
	if err != nil {
		return nil, err
	}
	var all []Active
	for _, e := range edges {
		all = append(all, e.Active()...)
	}
	slices.SortFunc(all, func(a, b Active) int {
		return cmp.Or(cmp.Compare(a.Edge, b.Edge), cmp.Compare(a.Kind, b.Kind), a.Until.Compare(b.Until))
	})
	return all, nil
}

// Active is what is broken on the edge.
func (e Edge) Active() []Active {
	var all []Active
	refused := false
	for _, t := range e.Toxics {
		kind, until, ok := parseMark(t.Name)
		if !ok {
			kind = t.Type
		}
		refused = refused || ok && kind == refuse
		all = append(all, Active{kind, e.Name, until, t.Name})
	}
	if !e.Enabled && !refused {
		all = append(all, Active{Kind: refuse, Edge: e.Name})
	}
	return all
}

// Sweep ends every fault whose time was over at now, and says which. An error about one does not save the others.
// What somebody else broke without an end stays broken: it is theirs.
func (c *Client) Sweep(ctx context.Context, now time.Time) ([]Active, error) {
	all, err := c.Active(ctx)
	if err != nil {
		return nil, err
	}
	return c.end(ctx, slices.DeleteFunc(all, func(a Active) bool { return a.Until.IsZero() || a.Until.After(now) }))
}

// Mend ends everything on the given edges, or on all edges if none are given, whoever broke it and for how long.
func (c *Client) Mend(ctx context.Context, edges ...string) ([]Active, error) {
	all, err := c.Active(ctx)
	if err != nil {
		return nil, err
	}
	return c.end(ctx, slices.DeleteFunc(all, func(a Active) bool { return len(edges) > 0 && !slices.Contains(edges, a.Edge) }))
}

func (c *Client) end(ctx context.Context, list []Active) (ended []Active, err error) {
	for _, a := range list {
		if e := c.End(ctx, a); e != nil {
			err = errors.Join(err, fmt.Errorf("%s on %s: %w", a.Kind, a.Edge, e))
			continue
		}
		ended = append(ended, a)
	}
	return ended, err
}
