package pulse

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// world is a machine whose pauses are known.
type world struct {
	late  map[int]time.Duration // by beat: how much too late it wakes
	steal map[int]int           // by beat: how many hundredths of a second the second processor was withheld
	beats int
	taken int
}

func (w *world) clock() clock {
	return clock{time.Now, func(d time.Duration) {
		w.beats++
		w.taken += w.steal[w.beats]
		time.Sleep(d + w.late[w.beats])
	}, func() ([]byte, error) {
		return fmt.Appendf(nil, "cpu  9 9 9 9 9 9 9 %d 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\ncpu1 1 2 3 4 5 6 7 %d 0 0\nintr 1\n", 8+w.taken, w.taken), nil
	}}
}

func watched(t *testing.T, c clock) (pauses Pauses, began time.Time) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatch(c)
		began = time.Now()
		go w.watch()
		time.Sleep(time.Second)
		pauses = w.Stop()
	})
	return pauses, began
}

func TestALateHeartIsAPause(t *testing.T) {
	machine := world{late: map[int]time.Duration{10: 80 * time.Millisecond, 20: 24 * time.Millisecond}}
	pauses, began := watched(t, machine.clock())
	if len(pauses) != 1 || pauses.Longest() != 80*time.Millisecond {
		t.Fatalf("%v", pauses)
	}
	if at := pauses[0].From.Sub(began); at != 50*time.Millisecond {
		t.Errorf("the pause began after %s", at)
	}
}

func TestAProcessorThatWasWithheldIsAPause(t *testing.T) {
	machine := world{steal: map[int]int{30: 3, 100: 2}}
	pauses, began := watched(t, machine.clock())
	if len(pauses) != 1 || pauses[0].From.Sub(began) != 100*time.Millisecond || pauses.Longest() != 100*time.Millisecond {
		t.Errorf("%v", pauses)
	}
}

func TestWithoutProcTheHeartIsWatchedAlone(t *testing.T) {
	machine := world{late: map[int]time.Duration{1: time.Second}}
	c := machine.clock()
	c.stat = func() ([]byte, error) { return nil, errors.ErrUnsupported }
	if pauses, _ := watched(t, c); len(pauses) != 1 {
		t.Errorf("%v", pauses)
	}
}

func TestPausesAndTheirEchoAreCountedOnce(t *testing.T) {
	origin := time.Now()
	at := func(ms int) time.Time { return origin.Add(time.Duration(ms) * time.Millisecond) }
	pauses := Pauses{}.with(Pause{at(1000), at(1030)}).with(Pause{at(1060), at(1090)}).with(Pause{at(2050), at(2100)}).with(Pause{at(2000), at(2200)})
	if len(pauses) != 3 || pauses.Longest() != 200*time.Millisecond || pauses.String() != "the machine stood still 3 times, at most for 200 ms" {
		t.Fatalf("%v", pauses)
	}
	for _, c := range []struct{ from, to, want int }{
		{0, 1000, 0}, {990, 1010, 10}, {1010, 1020, 10}, {1035, 1045, 10}, {0, 1500, 140}, {1100, 1200, 40}, {1140, 1200, 0},
		{1900, 3000, 400}, {2399, 2500, 1}, {2400, 2500, 0}, {0, 9000, 540},
	} {
		if got := pauses.In(at(c.from), at(c.to)); got != time.Duration(c.want)*time.Millisecond {
			t.Errorf("%d to %d ms: %s, want %d ms", c.from, c.to, got, c.want)
		}
	}
}
