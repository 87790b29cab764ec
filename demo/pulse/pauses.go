package pulse

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Pause is a time in which the machine stood still, or one of its processors did.
type Pause struct{ From, To time.Time }

// Pauses are those of one watch.
type Pauses []Pause

// echo is how long the queue that a pause has left behind is felt: as long as it was itself, and not less than 50 ms.
const echo = 50 * time.Millisecond

// In is how much of the time from one moment to the other was a pause, or the queue behind it. Whoever judges that time subtracts it,
// instead of setting aside what was disturbed: the slower an answer, the more surely a pause is in it, and only the quick ones would be left.
func (p Pauses) In(from, to time.Time) (d time.Duration) {
	for _, one := range p {
		begin, end := one.From, one.To.Add(max(one.To.Sub(one.From), echo))
		if begin.Before(from) {
			begin = from
		}
		if end.After(to) {
			end = to
		}
		if end.After(begin) {
			d += end.Sub(begin)
			from = end // the next may begin in this one's echo
		}
	}
	return d
}

// with adds a pause that ended last; one that another heart or counter has seen already is no second one.
func (p Pauses) with(next Pause) Pauses {
	for len(p) > 0 && !p[len(p)-1].To.Before(next.From) {
		if last := p[len(p)-1]; last.From.Before(next.From) {
			next.From = last.From
		}
		p = p[:len(p)-1]
	}
	return append(p, next)
}

// Longest is the longest pause.
func (p Pauses) Longest() (d time.Duration) {
	for _, one := range p {
		d = max(d, one.To.Sub(one.From))
	}
	return d
}

// String says how often and for how long at most.
func (p Pauses) String() string {
	return fmt.Sprintf("the machine stood still %d times, at most for %d ms", len(p), p.Longest().Milliseconds())
}

// parseStolen reads the lines "cpu0 user nice system idle iowait irq softirq steal …" of /proc/stat, in hundredths of a second.
func parseStolen(stat string) (list []time.Duration) {
	const steal = 8
	for line := range strings.Lines(stat) {
		fields := strings.Fields(line)
		if len(fields) <= steal || !strings.HasPrefix(fields[0], "cpu") || fields[0] == "cpu" {
			continue
		}
		ticks, err := strconv.ParseInt(fields[steal], 10, 64)
		if err != nil {
			return nil
		}
		list = append(list, time.Duration(ticks)*10*time.Millisecond)
	}
	return list
}

// most is the greatest increase of one processor.
func most(before, now []time.Duration) (d time.Duration) {
	for i := range min(len(before), len(now)) {
		d = max(d, now[i]-before[i])
	}
	return d
}
