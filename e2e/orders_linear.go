//go:build e2e

package e2e

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// Two models, after section 5.4 of the reference: each key is a register that is written once, each product a stock that is sold once.
// Both are small, because checking is exponential in what is concurrent: a partition is the attempts of one key, or the orders of one
// product.

// checkLimit bounds one model's check; running out of it is no pass.
const checkLimit = 2 * time.Minute

// keyOp is one attempt with a key.
type keyOp struct {
	outcome outcome
	answer  digest
}

// written is the state of a key: answered or not, and with what.
type written struct {
	done   bool
	answer digest
}

// keyModel: one attempt executes, all others repeat its answer; none is told "in progress" once the answer is out; an attempt whose
// outcome is open may write the answer at any later time, or never.
func keyModel() porcupine.Model {
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{written{}} },
		Step: func(state, input, _ any) []any {
			was, op := state.(written), input.(keyOp)
			now := written{true, op.answer}
			switch {
			case op.outcome == executed && !was.done, op.outcome == replayed && was == now:
				return []any{now}
			case op.outcome == busy && !was.done:
				return []any{was}
			case op.outcome == open && was.done:
				return []any{was}
			case op.outcome == open:
				return []any{was, now}
			}
			return nil
		},
	}
	return m.ToModel()
}

// keyOps is an intent as operations on its key. What an open attempt may write is the answer that its client got in the end: there
// has to be one.
func keyOps(in *intent) (ops []porcupine.Operation) {
	var final digest
	for _, a := range in.attempts {
		if a.outcome == executed || a.outcome == replayed {
			final = a.answer
		}
	}
	for _, a := range in.attempts {
		op := porcupine.Operation{Call: int64(a.call), Return: int64(a.back), Input: keyOp{a.outcome, a.answer}}
		if a.outcome == open {
			op.Input, op.Return = keyOp{open, final}, math.MaxInt64
		}
		ops = append(ops, op)
	}
	return ops
}

// sale is an order of one product.
type sale struct {
	quantity int
	refused  bool
	// held is what was set aside at the time for orders that came to nothing: a hold that is given back may have refused others.
	held int
}

// stockModel: what is sold was there, and nobody is refused while there is enough.
func stockModel(opening int) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return opening },
		Step: func(state, input, _ any) (bool, any) {
			left, s := state.(int), input.(sale)
			if s.refused {
				return left-s.held < s.quantity, left
			}
			return left >= s.quantity, left - s.quantity
		},
	}
}

// hold is stock that was set aside and given back.
type hold struct {
	sku, quantity int
	from, to      time.Duration
}

// stockOps sorts the orders of a run by product. An intent is one operation, from its first attempt to its answer.
func stockOps(intents []*intent, released []hold) map[int][]porcupine.Operation {
	ops := map[int][]porcupine.Operation{}
	for _, in := range intents {
		began := in.began()
		for _, it := range in.items {
			s := sale{quantity: it.Quantity, refused: in.status != 201}
			if s.refused && !slices.Contains(in.short, it.SKU) {
				continue // another line of this order was short
			}
			for _, h := range released {
				if h.sku == it.SKU && h.from <= in.ended && h.to >= began {
					s.held += h.quantity
				}
			}
			ops[it.SKU] = append(ops[it.SKU], porcupine.Operation{Input: s, Call: int64(began), Return: int64(in.ended)})
		}
	}
	return ops
}

// linearizable checks every key and every product, and names those that are not. There is an opening stock for each product.
func linearizable(intents []*intent, opening map[int]int, released []hold) (faults []string) {
	deadline := time.Now().Add(checkLimit)
	check := func(what string, model porcupine.Model, ops []porcupine.Operation) {
		if r := porcupine.CheckOperationsTimeout(model, ops, max(time.Until(deadline), time.Millisecond)); r != porcupine.Ok {
			faults = append(faults, fmt.Sprintf("%s: %s", what, r))
		}
	}
	keys := keyModel()
	for _, in := range intents {
		check("key "+in.key, keys, keyOps(in))
	}
	for sku, ops := range stockOps(intents, released) {
		check(fmt.Sprintf("sku %d", sku), stockModel(opening[sku]), ops)
	}
	return faults
}
