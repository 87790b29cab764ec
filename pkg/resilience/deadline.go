package resilience

import (
	"fmt"
	"strconv"
	"time"
)

// HeaderTimeout carries the caller's remaining time to the next hop, in whole milliseconds.
const HeaderTimeout = "X-Request-Timeout-Ms"

// FormatTimeout formats what is left of d after the hop margin (5 ms or 2 %, the larger) for HeaderTimeout.
func FormatTimeout(d time.Duration) string {
	d -= max(5*time.Millisecond, d/50)
	return strconv.FormatInt(max(0, d.Milliseconds()), 10)
}

// ParseTimeout reads HeaderTimeout.
func ParseTimeout(v string) (time.Duration, error) {
	ms, err := strconv.ParseUint(v, 10, 32)
	if err != nil || len(v) > 9 {
		return 0, fmt.Errorf("malformed %s", HeaderTimeout)
	}
	return time.Duration(ms) * time.Millisecond, nil
}
