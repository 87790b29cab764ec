package resiliencetest

import (
	"regexp"
	"runtime"
	"strings"
	"testing/synctest"
)

// bubbleOf finds the bubble in the first line of a goroutine's stack. The count of all goroutines would be of no use here: tests that
// run in parallel have goroutines too.
var bubbleOf = regexp.MustCompile(`^goroutine \d+ .*(synctest bubble \d+)\b`)

// leftInBubble returns the stacks of the other goroutines of this bubble that are inside package resilience, once all have got as far as
// they can. Outside a bubble it knows nothing.
func leftInBubble() (left []string) {
	mine := bubbleOf.FindStringSubmatch(stacks(false))
	if mine == nil {
		return nil
	}
	synctest.Wait()
	for i, stack := range strings.Split(stacks(true), "\n\n") {
		its := bubbleOf.FindStringSubmatch(stack)
		if i > 0 && its != nil && its[1] == mine[1] && strings.Contains(stack, "/resilience.") { // the first is our own
			left = append(left, stack)
		}
	}
	return left
}

func stacks(all bool) string {
	for size := 64 << 10; ; size *= 2 {
		buf := make([]byte, size)
		if n := runtime.Stack(buf, all); n < size {
			return string(buf[:n])
		}
	}
}
