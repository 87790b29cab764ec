package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"watertight.example/pkg/idempotency"
)

// The tests here prove that the invariants can be violated: each puts one well-known mistake in the place of one part of the
// design, at a deterministic point, and demands that the check named for it goes red; and that the design, treated the same, stays green.
//
// The last net, UNIQUE (scope, idem_key) on orders, is taken away where it would catch the mistake by itself.

func (s *shop) withoutTheLastNet() { s.exec(`ALTER TABLE orders DROP CONSTRAINT ` + oneOrderPerKey) }

// setnx is article 2's handler: a marker in Redis, the work, the answer in Redis.
type setnx struct{ *mortal }

func (m setnx) ask(ctx context.Context, key string, in placement) (idempotency.Answer, error) {
	var answer idempotency.Answer
	busy := errors.New("409: being processed")
	marked, err := m.redis.client.SetNX(ctx, key, "processing", 24*time.Hour).Result()
	if err != nil {
		return answer, err
	}
	if !marked {
		stored, err := m.redis.client.Get(ctx, key).Bytes()
		if err != nil || string(stored) == "processing" {
			return answer, errors.Join(busy, err)
		}
		return answer, json.Unmarshal(stored, &answer)
	}
	if err := m.at("after marker"); err != nil {
		return answer, err
	}
	claim := &idempotency.Claim{Scope: idempotency.Scope(route, in.Customer), Key: key, OperationID: uuid.New()}
	order, err := m.prepare(ctx, claim, in)
	if err == nil {
		batch := &pgx.Batch{}
		queueOrder(batch, claim, in, order)
		err = m.pool.SendBatch(ctx, batch).Close()
	}
	if m.at("after order") != nil {
		return answer, errDead
	}
	if err != nil {
		return answer, errors.Join(err, m.redis.client.Del(ctx, key).Err())
	}
	if answer, err = created(order); err != nil {
		return answer, err
	}
	raw, err := json.Marshal(answer)
	if err != nil {
		return answer, err
	}
	return answer, m.redis.client.Set(ctx, key, raw, 24*time.Hour).Err()
}

// asker is a way to place orders.
type asker interface {
	ask(ctx context.Context, key string, in placement) (idempotency.Answer, error)
}

func TestTeethSetNX(t *testing.T) {
	design := func(m *mortal) asker { return m }
	mutant := func(m *mortal) asker { return setnx{m} }
	for name, c := range map[string]struct {
		mutantDies, designDies string
		flushed                bool
		violates               string
	}{
		"a marker without an owner refuses for a day":      {"after marker", "after claim", false, terminal},
		"an order whose customer never hears of it":        {"after order", "after finish", false, acknowledged},
		"Redis forgets, the intent is carried out again":   {"after order", "after finish", true, oneOrder},
		"one key has two answers, and both were called OK": {"", "", true, oneAnswer},
	} {
		t.Run(name, func(t *testing.T) {
			story := func(place func(*mortal) asker, dieAt string) (*shop, heard) {
				s, h := closed(t), heard{}
				s.withoutTheLastNet()
				in := s.placement(s.pricing.body(Item{42, 1}))
				first := s.mortal(dieAt)
				if answer, err := place(first).ask(t.Context(), keyText("x"), in); err == nil {
					h.add("x", answer)
				}
				s.expireLeases()
				if c.flushed {
					flush(t, s.redis)
				}
				heir := s.mortal("")
				for range 2 {
					if answer, err := place(heir).ask(t.Context(), keyText("x"), in); err == nil {
						h.add("x", answer)
					}
				}
				s.settled(heir, s.resolve)
				return s, h
			}
			s, h := story(mutant, c.mutantDies)
			s.marker = s.stuck(keyText("x"))
			s.bites(h, c.violates)
			s, h = story(design, c.designDies)
			s.holds(h)
		})
	}
}

// stuck reports whether the key is refused as "processing" when no process is left that works for it.
func (s *shop) stuck(key string) bool {
	s.t.Helper()
	return redisClient(s.t, s.redis).Get(s.t.Context(), key).Val() == "processing"
}

// TestTeethNoTombstone: inventory's sweeper is told "abandoned" of an order that is merely slow. Without the tombstone the slow owner
// confirms it, and sells stock that was given back.
func TestTeethNoTombstone(t *testing.T) {
	story := func(resolve func(*shop, uuid.UUID) State) (*shop, heard) {
		s, h := closed(t), heard{}
		in := s.placement(s.pricing.body(Item{42, 1}))
		slow := s.mortal("")
		slow.on["before finish"] = func() { s.sweep(func(id uuid.UUID) State { return resolve(s, id) }) }
		s.mustAsk(slow, in, h)
		s.settled(slow, s.resolve)
		return s, h
	}
	s, h := story(func(s *shop, id uuid.UUID) State {
		if s.count(`SELECT count(*) FROM orders WHERE id = $1`, id) == 0 {
			return Abandoned // true when it was read, and no promise
		}
		return Confirmed
	})
	s.bites(h, stockAddsUp)
	s, h = story((*shop).resolve)
	s.holds(h)
}

// TestTeethNoFence: an owner freezes before its finish, for longer than its lease. Another takes over under a fresh id and places the
// order; nothing stops the first when it thaws.
func TestTeethNoFence(t *testing.T) {
	story := func(mutate bool) (*shop, heard) {
		s, h := closed(t), heard{}
		s.withoutTheLastNet()
		if mutate {
			s.exec(`
CREATE OR REPLACE FUNCTION idempotency_finish(p_scope text, p_key text, p_attempt int, p_fingerprint bytea, p_status int, p_headers jsonb, p_body bytea)
RETURNS void LANGUAGE sql AS $$
    UPDATE idempotency_keys SET state = 1, status = p_status, headers = p_headers, body = p_body, finished_at = clock_timestamp()
     WHERE scope = p_scope AND key = p_key $$;
CREATE FUNCTION fresh_id() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.operation_id := gen_random_uuid(); RETURN NEW; END $$;
CREATE TRIGGER fresh_id BEFORE UPDATE OF attempt ON idempotency_keys FOR EACH ROW EXECUTE FUNCTION fresh_id()`)
		}
		in := s.placement(s.pricing.body(Item{42, 1}))
		heir, frozen := s.mortal(""), s.mortal("")
		frozen.on["before finish"] = func() {
			s.expireLeases()
			s.mustAsk(heir, in, h)
		}
		if answer, err := frozen.ask(t.Context(), keyText("x"), in); err == nil {
			h.add("x", answer)
		} else if !errors.Is(err, idempotency.ErrFenced) {
			t.Errorf("the frozen owner: %v, want ErrFenced", err)
		}
		s.settled(heir, s.resolve)
		return s, h
	}
	s, h := story(true)
	s.bites(h, oneOrder)
	s.bites(h, oneAnswer)
	s, h = story(false)
	s.holds(h)
}

// TestTeethReleaseOnUnknownOutcome: the answer to the commit is lost. Whoever takes this for a failure and clears the key (the
// articles' Del) opens an intent again that was carried out. (Merely ending the lease would be harmless as long as the fence and the
// stable order id stand; that it does not happen either is checked by TestCrashBetweenEveryTwoSteps, "during finish".)
func TestTeethReleaseOnUnknownOutcome(t *testing.T) {
	story := func(clear bool) (*shop, heard) {
		s, h := closed(t), heard{}
		s.withoutTheLastNet()
		in := s.placement(s.pricing.body(Item{42, 1}))
		m := s.mortal("")
		m.on["before finish"] = func() {
			committed := func() bool { return len(s.confirmed()) == 1 }
			m.mu.Lock()
			m.losing = committed
			m.mu.Unlock()
		}
		_, err := m.ask(t.Context(), keyText("x"), in)
		var refusal *idempotency.Refusal
		if !errors.As(err, &refusal) || refusal.Name != idempotency.OutcomeUnknown || refusal.Status != http.StatusServiceUnavailable {
			t.Fatalf("the answer to the commit was lost: %v, want outcome-unknown", err)
		}
		if clear {
			s.exec(`DELETE FROM idempotency_keys`)
		}
		heir := s.mortal("")
		s.mustAsk(heir, in, h)
		s.settled(heir, s.resolve)
		return s, h
	}
	s, h := story(true)
	s.bites(h, oneOrder)
	s, h = story(false)
	s.holds(h)
}
