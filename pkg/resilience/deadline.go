package resilience

import (
	"fmt"
	"strconv"
	"time"
)

// HeaderTimeout tells the next hop how many milliseconds it has (article 1, "Timeout Propagation"; gRPC's
// grpc-timeout). It is relative, because no two clocks agree, and set anew for each attempt.
const HeaderTimeout = "X-Request-Timeout-Ms"

// hopMargin is what an answer needs to come back to us: 5 ms or 2 % of the time, the larger.
func hopMargin(d time.Duration) time.Duration { return max(5*time.Millisecond, d/50) }

// FormatTimeout formats a remaining time for HeaderTimeout: whole milliseconds, less the hop margin, never negative.
func FormatTimeout(left time.Duration) string {
	return strconv.FormatInt(max(left-hopMargin(left), 0).Milliseconds(), 10)
}

// ParseTimeout reads a HeaderTimeout: one to nine digits, nothing else. 0 is valid and means that no time is left.
func ParseTimeout(v string) (time.Duration, error) {
	ms, err := strconv.ParseUint(v, 10, 32)
	if err != nil || len(v) > 9 {
		return 0, fmt.Errorf("%s is not a number of milliseconds", HeaderTimeout)
	}
	return time.Duration(ms) * time.Millisecond, nil
}
