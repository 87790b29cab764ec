package main

import (
	"context"
	"sync"

	"watertight.example/pkg/resilience"
)

// hotItems bounds how many reservations of one item are with the primary at once. A reservation waits for its item's row inside a slot
// of the bulkhead; unbounded, the buyers of one hot item take every slot, and each cold item is turned away with them. More than a few
// gain nothing, because the row serves them one by one: the others wait out here, where waiting costs nobody a connection.
type hotItems struct {
	max   int
	mu    sync.Mutex
	items map[int32]*hotItem // those somebody wants
}

type hotItem struct {
	sku    int32
	slots  chan struct{}
	wanted int // by how many, at work or waiting
}

// newHotItems leaves two thirds of the slots to others, whatever the item. (Settling does not come through here: orders' relays
// deliver few commits at once.)
func newHotItems(slots int) *hotItems {
	return &hotItems{max: max(1, slots/3), items: map[int32]*hotItem{}}
}

// enter waits for a place at every item, in the order of lines: by SKU, so that no two orders wait for each other. When ctx ends
// before that, it fails as a full bulkhead does, and holds nothing. A nil hotItems lets everybody pass.
func (h *hotItems) enter(ctx context.Context, lines []Line) (leave func(), err error) {
	if h == nil {
		return func() {}, nil
	}
	var entered []*hotItem
	leave = func() {
		for _, item := range entered {
			<-item.slots
			h.forget(item)
		}
	}
	for _, l := range lines {
		item := h.want(l.SKU)
		select {
		case item.slots <- struct{}{}:
			entered = append(entered, item)
		case <-ctx.Done():
			h.forget(item)
			leave()
			return nil, &resilience.Rejected{Dependency: "postgres-primary", Outcome: resilience.OutcomeRejectedLimit}
		}
	}
	return leave, nil
}

func (h *hotItems) want(sku int32) *hotItem {
	h.mu.Lock()
	defer h.mu.Unlock()
	item := h.items[sku]
	if item == nil {
		item = &hotItem{sku: sku, slots: make(chan struct{}, h.max)}
		h.items[sku] = item
	}
	item.wanted++
	return item
}

func (h *hotItems) forget(item *hotItem) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if item.wanted--; item.wanted == 0 {
		delete(h.items, item.sku)
	}
}
