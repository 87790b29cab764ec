package audit

import (
	"fmt"
	"io"
	"strings"
)

// Print writes the report for a person.
func (r Report) Print(w io.Writer) {
	fmt.Fprintf(w, "%d orders (%d cancelled), %d tombstones, %d keys, events and holds under way\n\n", r.Orders, r.Cancelled, r.Tombstones, r.UnderWay)
	for _, c := range r.Checks {
		mark := "ok"
		if c.Wrong > 0 {
			mark = fmt.Sprintf("%d WRONG", c.Wrong)
		}
		line := fmt.Sprintf("%-3s %-62s %s", c.Invariant, c.Demand, mark)
		if c.Wrong > 0 {
			line += ": " + strings.Join(c.Examples, ", ")
		}
		fmt.Fprintln(w, line)
	}
}
