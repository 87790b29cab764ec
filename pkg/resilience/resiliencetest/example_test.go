package resiliencetest_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"watertight.example/pkg/resilience"
	"watertight.example/pkg/resilience/resiliencetest"
)

// A dependency that is down, and what reaches it once its breaker is open. Tests of a longer story belong in a synctest bubble, see
// the package's own comment.
func ExampleScript() {
	dep, err := resilience.New("pricing", resilience.Config{
		Breaker: resilience.Breaker{FailureRatio: 0.5, MinCalls: 5, OpenFor: time.Minute},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dep.Close()
	script := resiliencetest.NewScript(resiliencetest.Phase{Do: resiliencetest.Fail(0, errors.New("down"))})
	for range 10 {
		resilience.Do(context.Background(), dep, script.Call)
	}
	reached, _, _ := script.Calls()
	fmt.Println(reached, "of 10 calls reached it; the breaker is", dep.State().Breaker)
	// Output: 5 of 10 calls reached it; the breaker is open
}
