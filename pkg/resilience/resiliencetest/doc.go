// Package resiliencetest tests code that depends on package resilience, in virtual time: a dependency that misbehaves to a
// script, a checker that proves nothing was leaked or miscounted, and an outage simulator that prints a timeline.
//
// Everything here reads the clock through package time, so it belongs inside a testing/synctest bubble, where an outage of ten
// minutes takes milliseconds and comes out the same every time:
//
//	func TestPageSurvivesSlowRecommendations(t *testing.T) {
//		synctest.Test(t, func(t *testing.T) {
//			checker := resiliencetest.NewChecker(t)
//			dep, _ := resilience.New("recommendations", policy, checker)
//			script := resiliencetest.NewScript(
//				resiliencetest.Phase{For: time.Minute, Do: resiliencetest.Answer(10 * time.Millisecond)},
//				resiliencetest.Phase{For: time.Minute, Do: resiliencetest.Answer(4800 * time.Millisecond)},
//				resiliencetest.Phase{Do: resiliencetest.Answer(10 * time.Millisecond)},
//			)
//			timeline := resiliencetest.Simulate(dep, script, resiliencetest.Load{Rate: 50, For: 3 * time.Minute})
//			t.Log(timeline)
//			checker.Verify(dep)
//		})
//	}
package resiliencetest
