package control

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"watertight.example/demo/faults"
	"watertight.example/demo/load"
)

// Room is the control room. Its handler is safe for concurrent use.
type Room struct {
	cfg       Config
	proxies   *faults.Client
	probes    map[string]*probe
	cameras   map[string]*camera
	listeners []listener
	visitors  visitors
	incidents *incidents
	closing   chan struct{} // closed when Run ends: an event stream has no end of its own
	changed   chan struct{} // something was done: everybody shall see it at once

	acting sync.Mutex // one action at a time, so that no fault is set while an incident begins

	mu         sync.Mutex
	broken     []Broken
	flipped    []Broken // the plan, as long as it is
	trouble    string   // why the above is unknown
	insides    []Inside
	happenings []Happening // the newest first
	spans      []Span      // in which something was broken
}

// New makes a room. Nothing is read before Run.
func New(cfg Config) (*Room, error) {
	cfg.fillIn()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	r := &Room{
		cfg: cfg, proxies: faults.NewClient(cfg.Toxiproxy, cfg.Transport),
		probes: map[string]*probe{}, cameras: map[string]*camera{},
		incidents: newIncidents(cfg), closing: make(chan struct{}), changed: make(chan struct{}, 1),
	}
	for name, twin := range cfg.twins() {
		r.probes[name] = newProbe(twin, cfg.Transport)
		r.cameras[name] = newCamera(twin.Target, cfg.Product, cfg.Transport)
	}
	for _, s := range cfg.Services {
		r.listeners = append(r.listeners, listener{s, cfg.Transport})
		r.insides = append(r.insides, Inside{Name: s.Name, Silent: true, Dependencies: []Dependency{}, Pools: []Pool{}})
	}
	return r, nil
}

// Run watches the shop until ctx ends, and leaves no incident and no visitor behind. It is called once.
func (r *Room) Run(ctx context.Context) error {
	var all sync.WaitGroup
	failed := make(chan error, len(r.probes))
	watching, stop := context.WithCancel(ctx)
	defer all.Wait()
	defer func() { r.incidents.stop()() }()
	defer close(r.closing)
	defer stop()
	for name := range r.probes {
		all.Go(func() {
			opened := r.cfg.twins()[name].visitors(r.cfg)
			opened.Transport = r.cfg.Transport
			r.cameras[name].run(watching, func() error { return load.Await(watching, opened) })
		})
		all.Go(func() {
			if err := r.probes[name].run(watching, r.cfg); err != nil {
				failed <- fmt.Errorf("the visitors of the %s page: %w", name, err)
			}
		})
	}
	for i, l := range r.listeners {
		all.Go(func() { every(watching, time.Second, func() { r.hear(i, l.read(watching)) }) })
	}
	all.Go(func() {
		r.proxies.Janitor(watching, // the compose file has one as well; this one also tells the visitors
			func(a faults.Active) {
				r.note("%s: %s ended by itself, its time was over", placeOf(a.Edge).Name, a.Kind)
			},
			func(err error) { r.cfg.Log.Warn("cannot look for expired faults", "cause", err.Error()) })
	})
	if r.cfg.Plan != nil {
		all.Go(func() { every(watching, 2*time.Second, func() { r.readPlan(watching) }) })
	}
	all.Go(func() { r.report(watching) })
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		return nil
	}
}

// every does something now and then every period.
func every(ctx context.Context, period time.Duration, do func()) {
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		do()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// report tells all visitors the state every second, and at once when something was done.
func (r *Room) report(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		r.look(ctx)
		if event, err := json.Marshal(r.state(time.Now())); err == nil {
			r.visitors.tell(event)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-r.changed:
		}
	}
}

// look asks Toxiproxy what is broken.
func (r *Room) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, readPatience)
	defer cancel()
	edges, err := r.proxies.Edges(ctx)
	var active []faults.Active
	if err == nil {
		active, err = r.proxies.Active(ctx)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.broken, r.trouble = nil, err.Error()
		return
	}
	r.broken, r.trouble = newBroken(active, edges), ""
	r.spans = extend(r.spans, len(active)+len(r.flipped) > 0, time.Now())
}

func (r *Room) hear(i int, in Inside) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.insides[i] = in
}

// note writes down what happened and wakes the report.
func (r *Room) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.happenings = slices.Insert(r.happenings, 0, Happening{time.Now(), fmt.Sprintf(format, args...)})
	r.happenings = r.happenings[:min(len(r.happenings), happeningsKept)]
	select {
	case r.changed <- struct{}{}:
	default:
	}
}
