package faults

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Kind is a way in which an edge can be broken. All of them act on the way back, from the server to its caller: the
// request arrives and the work is done, but the answer does not come as it should. For whoever must not do
// things twice that is the harder case.
type Kind struct {
	Name     string
	Sentence string // what it does, for a person
}

// Kinds lists all of them.
func Kinds() []Kind {
	return []Kind{
		{"latency", "every answer arrives late, by -latency"},
		{"hang", "connections open, requests go out, no answer comes back until it is mended"},
		{"refuse", "nobody listens: open connections are cut, new ones refused"},
		{"reset", "the connection is reset the moment an answer begins"},
		{"trickle", "answers come one byte each 100 ms: never silent, never done"},
	}
}

const refuse = "refuse"

// effect is the toxic that a fault consists of.
func effect(f Fault) (toxic, error) {
	t := toxic{Stream: "downstream", Toxicity: 1}
	switch f.Kind {
	case "latency":
		t.Type, t.Attributes = "latency", lateness(f.Latency, f.Share)
	case "hang":
		// A frozen process, as a latency longer than any fault. Not the timeout toxic: it passes on that the server
		// closed the connection, so that whoever asks with "Connection: close" sees an end at once and no hang.
		t.Type, t.Attributes = "latency", map[string]int64{"latency": (24 * time.Hour).Milliseconds()}
	case refuse:
		t.Type, t.Attributes = "latency", map[string]int64{"latency": 0} // does nothing, carries the name
	case "reset":
		t.Type, t.Attributes = "reset_peer", map[string]int64{"timeout": 0}
	case "trickle":
		// Not the bandwidth toxic: its slowest is 1 KB/s, with which most answers of the shop are through at once.
		t.Type, t.Attributes = "slicer", map[string]int64{"average_size": 1, "size_variation": 0, "delay": 100_000}
	default:
		var names []string
		for _, k := range Kinds() {
			names = append(names, k.Name)
		}
		return toxic{}, fmt.Errorf("there is no fault %q; there are %s", f.Kind, strings.Join(names, ", "))
	}
	return t, nil
}

// lateness makes a share of all answers late. A toxicity below 1 would choose connections, and a pool keeps using the same few:
// then all answers are late or none. The jitter is drawn anew for each answer, evenly around the latency, and a negative
// delay is none: so the range is laid across zero, with the wanted share of it above.
func lateness(latency time.Duration, share float64) map[string]int64 {
	if share == 0 {
		return map[string]int64{"latency": latency.Milliseconds()}
	}
	most := float64(latency.Milliseconds())
	half := most / share / 2
	return map[string]int64{"latency": int64(most - half), "jitter": int64(half)}
}

const expires = "-expires-"

// markName is the name of a fault's toxic. Rounding up gives a fault its full time.
func markName(kind string, until time.Time) string {
	return kind + expires + strconv.FormatInt(until.Add(time.Second-1).Unix(), 10)
}

// parseMark reads a name that markName wrote.
func parseMark(name string) (kind string, until time.Time, ok bool) {
	kind, seconds, ok := strings.Cut(name, expires)
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if !ok || err != nil {
		return "", time.Time{}, false
	}
	return kind, time.Unix(unix, 0), true
}
