package service

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// RedisOptions sizes a client. Zero values get the defaults named here.
type RedisOptions struct {
	PoolSize     int           // default 16
	MinIdleConns int           // default 2; kept open, because a caller with a short deadline cannot wait for a dial
	Timeout      time.Duration // default 50 ms, for reading, for writing, and for a free connection
}

// Redis makes a client that fails fast: Redis only makes things faster here, so waiting for it must never cost more than doing
// without. It retries nothing (resilience.Retry does) and honours the context's deadline, which go-redis does not by itself: a
// frozen Redis held a call with 100 ms left for 5 s. It is not part of readiness. Metrics carry the label db=name.
func (s *Service) Redis(name string, url Secret, opt RedisOptions) (*redis.Client, error) {
	options, err := redis.ParseURL(url.Reveal())
	if err != nil {
		return nil, fmt.Errorf("redis %s: cannot read %s as a redis:// URL", name, url) // the error itself may quote the password
	}
	opt.apply(options)
	logging.Disable() // plain text on stderr for every failed dial; the callers' errors and the metrics below say it better
	client := redis.NewClient(options)
	s.OnStop("redis "+name, func(context.Context) error { return client.Close() })
	s.Metrics.MustRegister(newRedisCollector(name, client))
	return client, nil
}

func (opt RedisOptions) apply(options *redis.Options) {
	timeout := cmp.Or(opt.Timeout, 50*time.Millisecond)
	options.ContextTimeoutEnabled = true
	options.MaxRetries = -1
	options.DialerRetries = 1
	options.DialTimeout = 2 * timeout
	options.ReadTimeout, options.WriteTimeout, options.PoolTimeout = timeout, timeout, timeout
	options.PoolSize = cmp.Or(opt.PoolSize, 16)
	options.MinIdleConns = min(cmp.Or(opt.MinIdleConns, 2), options.PoolSize)
	options.ConnMaxIdleTime = 5 * time.Minute
	// Two round trips less for each new connection; the second is for Redis Enterprise only.
	options.DisableIdentity = true
	options.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
}
