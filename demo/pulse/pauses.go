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

// Disturbed says whether something that lasted from one moment to the other met a pause, or the queue behind it.
func (p Pauses) Disturbed(from, to time.Time) bool {
	for _, one := range p {
		length := one.To.Sub(one.From)
		if from.Before(one.To.Add(max(length, echo))) && !to.Before(one.From) {
			return true
		}
	}
	return false
}

// Longest is the longest pause.
func (p Pauses) Longest() (d time.Duration) {
	for _, one := range p {
		d = max(d, one.To.Sub(one.From))
	}
	return d
}

// Within gives the pauses that touch the time from one moment to the other.
func (p Pauses) Within(from, to time.Time) (list Pauses) {
	for _, one := range p {
		if one.From.Before(to) && one.To.After(from) {
			list = append(list, one)
		}
	}
	return list
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
