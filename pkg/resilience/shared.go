package resilience

import "fmt"

// CheckShared says at start whether the dependencies that share one resource, such as a connection pool, could together take more of
// it than there is. Then one slow dependency starves the others in the pool's own queue, and their bulkheads protect nobody
// (article 1, "Bulkhead": three sizes that add up to 225 over a pool of 100).
func CheckShared(resource string, capacity int, deps ...*Dependency) error {
	sum := 0
	for _, d := range deps {
		limit := max(d.cfg.Bulkhead.Max, d.cfg.Adaptive.Max)
		if limit == 0 {
			return fmt.Errorf("resilience: %s has no limit on its use of %s", d.name, resource)
		}
		sum += limit
	}
	if sum > capacity {
		return fmt.Errorf("resilience: the limits on %s add up to %d, and it has %d", resource, sum, capacity)
	}
	return nil
}
