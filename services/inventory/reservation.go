package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// State is where a reservation stands. The schema enforces the same machine:
//
//	(nothing) ── reserve ──> held ── commit ──> committed
//	    │                     └──── release ──> released
//	    └────── release ──────────────────────> released   (a tombstone: a late reserve cannot hold)
type State string

// The states of a reservation. Committed and Released are final.
const (
	Held      State = "held"
	Committed State = "committed"
	Released  State = "released"
)

// Line is a quantity of one item.
type Line struct {
	SKU      int32 `json:"sku"`
	Quantity int32 `json:"quantity"`
}

// Reservation is stock set aside for one order. Its id is the order's id.
type Reservation struct {
	OrderID   uuid.UUID `json:"order_id"`
	State     State     `json:"state"`
	Lines     []Line    `json:"lines"`      // sorted by SKU; empty for a tombstone
	ExpiresAt time.Time `json:"expires_at"` // from here on the sweeper asks orders; a commit is still accepted
	Moved     bool      `json:"-"`          // this call moved stock; false: an earlier one did
}

// Shortage says why a line cannot be reserved.
type Shortage struct {
	SKU       int32 `json:"sku"`
	Requested int32 `json:"requested"`
	Available int32 `json:"available"`
}

// Refusals: the database worked, the answer is no. Asking again changes nothing
// but for ErrContended.
var (
	ErrNotFound  = errors.New("no such reservation")
	ErrMismatch  = errors.New("the order has already reserved other lines")
	ErrReleased  = errors.New("the reservation was released")
	ErrCommitted = errors.New("the reservation was committed")
	ErrRestocked = errors.New("the goods of this order came back by another event, or this event was for another order")
	ErrContended = errors.New("stock changed with every look at it")
)

// ShortError is the refusal of a reservation that asks for more than there is.
type ShortError struct{ Short []Shortage }

func (e *ShortError) Error() string {
	parts := make([]string, len(e.Short))
	for i, s := range e.Short {
		parts[i] = fmt.Sprintf("item %d: %d wanted, %d left", s.SKU, s.Requested, s.Available)
	}
	return strings.Join(parts, "; ")
}

// UnknownSKUError is the refusal of a reservation of items that do not exist.
type UnknownSKUError struct{ SKUs []int32 }

func (e *UnknownSKUError) Error() string { return fmt.Sprintf("no such items: %d", e.SKUs) }

// replay answers a reserve that finds its reservation made: the same lines get
// the same answer, whatever has become of it since but a release.
func (r Reservation) replay(lines []Line) (Reservation, error) {
	switch {
	case r.State == Released:
		return r, ErrReleased
	case !slices.Equal(r.Lines, lines):
		return r, ErrMismatch
	}
	return r, nil
}

// arrive answers a commit or release that moved nothing: fine when the
// reservation is already where it should go, refused when it ended elsewhere.
func (r Reservation) arrive(to State) (Reservation, error) {
	switch r.State {
	case to:
		return r, nil
	case Committed:
		return r, ErrCommitted
	case Released:
		return r, ErrReleased
	}
	return r, ErrContended // still held: it appeared after we looked, look again
}

// refuse explains why lines were not reserved from the counters read after the
// refusal. ErrContended means that nothing is short any more: try again.
func refuse(lines []Line, available map[int32]int32) error {
	var unknown []int32
	var short []Shortage
	for _, l := range lines {
		left, known := available[l.SKU]
		switch {
		case !known:
			unknown = append(unknown, l.SKU)
		case left < l.Quantity:
			short = append(short, Shortage{SKU: l.SKU, Requested: l.Quantity, Available: left})
		}
	}
	switch {
	case unknown != nil:
		return &UnknownSKUError{SKUs: unknown}
	case short != nil:
		return &ShortError{Short: short}
	}
	return ErrContended
}
