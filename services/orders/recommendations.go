package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/service"
)

// recommendations hears of every purchase, some time.
type recommendations struct {
	url string
	dep *resilience.Dependency
}

// Nobody waits for this: the outbox is the fallback and the retry. A small bulkhead keeps the relay from adding to a
// database that is in trouble.
func (c *Config) recommendationsPolicy() resilience.Config {
	return resilience.Config{
		Timeout:  resilience.Timeout{Total: time.Second},
		Bulkhead: resilience.Bulkhead{Max: relayWorkers},
		Breaker:  resilience.Breaker{FailureRatio: 0.5, MinCalls: 20, ConsecutiveFailures: 5, OpenFor: c.RecommendationsOpenFor, Probes: 1},
	}
}

func newRecommendations(s *service.Service, cfg *Config) (*recommendations, error) {
	dep, err := s.Dependency("recommendations", cfg.recommendationsPolicy())
	return &recommendations{url: cfg.RecommendationsURL, dep: dep}, err
}

// purchased reports a purchase, idempotent by the event's id. The payload goes out as it was stored with the order; only an answer
// that names the event says that it arrived.
func (r *recommendations) purchased(ctx context.Context, id uuid.UUID, payload []byte) error {
	return resilience.Do(ctx, r.dep, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+"/purchases", bytes.NewReader(payload))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		var answer struct {
			EventID uuid.UUID `json:"event_id"`
		}
		if err := service.CallJSON(r.dep.HTTPClient(), req, &answer); err != nil {
			return err
		}
		if answer.EventID != id {
			return fmt.Errorf("%w: event %v for %v", service.ErrBadAnswer, answer.EventID, id)
		}
		return nil
	})
}
