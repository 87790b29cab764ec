package resilience

import (
	"errors"
	"fmt"
	"time"
)

// CheckShared says at start whether the dependencies that share one resource, such as a connection pool, could together take more of
// it than there is. Then one slow dependency starves the others in the pool's own queue, and their bulkheads protect nobody
// (article 1, "Bulkhead": three sizes that add up to 225 over a pool of 100). The error joins every problem found.
func CheckShared(resource string, capacity int, deps ...*Dependency) error {
	var problems []error
	sum := 0
	for _, d := range deps {
		limit := max(d.cfg.Bulkhead.Max, d.cfg.Adaptive.Max)
		switch {
		case limit == 0:
			problems = append(problems, fmt.Errorf("resilience: %s has no limit on its use of %s", d.name, resource))
		case limit >= capacity && len(deps) > 1:
			problems = append(problems, fmt.Errorf("resilience: %s: a bulkhead of %d is as large as all of %s (%d): it keeps nothing free for the others",
				d.name, limit, resource, capacity))
		}
		sum += limit
	}
	if sum > capacity {
		problems = append(problems, fmt.Errorf("resilience: the limits on %s add up to %d, and it has %d", resource, sum, capacity))
	}
	return errors.Join(problems...)
}

// CheckBudget says at start whether each dependency's Timeout.Total fits into the budget of what calls it, such as a request's longest
// time. A longer one never comes to its end: the caller is gone before the last retry and before any fallback (article 1,
// "Timeout Propagation"). A Total of 0 always fits, for it is whatever the caller has. The error joins every problem found.
func CheckBudget(parent string, budget time.Duration, deps ...*Dependency) error {
	var problems []error
	for _, d := range deps {
		if total := d.cfg.Timeout.Total; total > budget {
			problems = append(problems, fmt.Errorf("resilience: %s: Timeout.Total %v exceeds the %v of %s: a child's budget cannot be above its parent's",
				d.name, total, budget, parent))
		}
	}
	return errors.Join(problems...)
}
