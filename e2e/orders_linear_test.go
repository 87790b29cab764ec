//go:build e2e

package e2e

import (
	"fmt"
	"testing"
	"time"
)

func at(call, back int, o outcome, answer byte) attempt {
	return attempt{time.Duration(call) * time.Millisecond, time.Duration(back) * time.Millisecond, o, digest{answer}}
}

// wish is an intent for one of a product that was answered after the last of its attempts.
func wish(sku, status int, attempts ...attempt) *intent {
	in := &intent{key: fmt.Sprintf("%d-%v", sku, attempts[0].call), items: []item{{sku, 1}}, attempts: attempts, status: status, ended: attempts[len(attempts)-1].back}
	if status == 422 {
		in.short = []int{sku}
	}
	return in
}

// honest is a history as it should be: of two pieces of product 7 the first goes to a client whose answers are lost and who asks for
// three times, the second to one that sends everything twice, and the third client is refused.
func honest() []*intent {
	return []*intent{
		wish(7, 201, at(0, 50, open, 0), at(60, 70, busy, 0), at(80, 90, replayed, 1), at(200, 210, replayed, 1)),
		wish(7, 201, at(10, 120, executed, 2), at(11, 60, busy, 0), at(130, 140, replayed, 2)),
		wish(7, 422, at(150, 170, executed, 3), at(180, 190, replayed, 3)),
	}
}

// TestTheCheckerHasTeeth corrupts an honest history in each way that matters. Costs nothing: no stack is started.
func TestTheCheckerHasTeeth(t *testing.T) {
	two := map[int]int{7: 2}
	if faults := linearizable(honest(), two, nil); len(faults) > 0 {
		t.Fatalf("an honest history is refused: %q", faults)
	}
	for name, corrupt := range map[string]func(h []*intent) ([]*intent, map[int]int){
		"one key executed twice": func(h []*intent) ([]*intent, map[int]int) {
			h[1].attempts[2].outcome = executed
			return h, two
		},
		"an answer changed": func(h []*intent) ([]*intent, map[int]int) {
			h[0].attempts[3].answer = digest{9}
			return h, two
		},
		"a repetition of nothing": func(h []*intent) ([]*intent, map[int]int) {
			h[0].attempts = h[0].attempts[1:]
			return h, two
		},
		"in progress after the answer": func(h []*intent) ([]*intent, map[int]int) {
			h[1].attempts = append(h[1].attempts, at(150, 160, busy, 0))
			return h, two
		},
		"sold out of nothing": func(h []*intent) ([]*intent, map[int]int) { return h, map[int]int{7: 1} },
		"refused what was there": func(h []*intent) ([]*intent, map[int]int) {
			return h, map[int]int{7: 3}
		},
		"refused before the last was sold": func(h []*intent) ([]*intent, map[int]int) {
			return append(h[:2:2], wish(7, 422, at(1, 5, executed, 3))), two
		},
	} {
		t.Run(name, func(t *testing.T) {
			history, stock := corrupt(honest())
			if faults := linearizable(history, stock, nil); len(faults) == 0 {
				t.Error("goes unnoticed")
			}
		})
	}
}

// TestAKeyStuckInProgressIsNoticed: as long as busyLimit a key may be in 409 after the last fault, and before that for as long as troubles
// want.
func TestAKeyStuckInProgressIsNoticed(t *testing.T) {
	limit := int(busyLimit.Milliseconds())
	for name, c := range map[string]struct {
		calm     int
		attempts []attempt
		stuck    bool
	}{
		"an honest key":                    {0, honest()[0].attempts, false},
		"a lease after the last fault":     {5, []attempt{at(0, 10, busy, 0), at(limit+10, limit+90, busy, 0), at(limit+100, limit+110, executed, 1)}, false},
		"more than that":                   {5, []attempt{at(0, 10, busy, 0), at(limit+11, limit+12, busy, 0), at(limit+100, limit+110, executed, 1)}, true},
		"more, in the order of the answer": {5, []attempt{at(limit+11, limit+12, busy, 0), at(0, 10, busy, 0)}, true},
		"more, with other answers between": {5, []attempt{at(0, 10, busy, 0), at(20, 30, open, 0), at(limit+11, limit+12, busy, 0)}, true},
		"long before the last fault":       {9 * limit, []attempt{at(0, 10, busy, 0), at(9*limit, 9*limit+200, busy, 0)}, false},
		"long before it and after it":      {9 * limit, []attempt{at(0, 10, busy, 0), at(10*limit+1, 10*limit+2, busy, 0)}, true},
		"lost answers only":                {0, []attempt{at(0, 10, open, 0), at(3*limit, 3*limit+10, open, 0), at(4*limit, 4*limit+10, replayed, 1)}, false},
		"new in the quiet":                 {5, []attempt{at(3*limit, 3*limit+10, busy, 0), at(3*limit+20, 3*limit+30, busy, 0)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			calm := time.Duration(c.calm) * time.Millisecond
			if wrong := stuckInProgress([]*intent{wish(7, 201, c.attempts...)}, calm); (len(wrong) > 0) != c.stuck {
				t.Errorf("named %q, want one: %v", wrong, c.stuck)
			}
		})
	}
}

// TestAHoldGivenBackExcusesARefusal: an order that came to nothing may have been in the way of another, while it held its stock.
func TestAHoldGivenBackExcusesARefusal(t *testing.T) {
	refused := []*intent{wish(7, 422, at(100, 110, executed, 3))}
	held := hold{sku: 7, quantity: 1, from: 50 * time.Millisecond, to: 105 * time.Millisecond}
	if faults := linearizable(refused, map[int]int{7: 1}, []hold{held}); len(faults) > 0 {
		t.Errorf("refused: %q", faults)
	}
	held.to = 99 * time.Millisecond
	if faults := linearizable(refused, map[int]int{7: 1}, []hold{held}); len(faults) == 0 {
		t.Error("a hold that had ended is an excuse")
	}
}
