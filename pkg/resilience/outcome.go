package resilience

// Outcome says how a call, or one attempt of it, ended. The set is closed: code, events and metric labels use the
// same ten words, so that a dashboard can show all of them from the start and their sum is always the number of calls.
type Outcome uint8

// The outcomes. Only OutcomeFailure, OutcomeTimeout and OutcomeSlow can trip a breaker; everything else says
// nothing about the dependency's health.
const (
	OutcomeSuccess          Outcome = iota // the dependency did its work, "no" as an answer included
	OutcomeSlow                            // a success that took Breaker.SlowAfter or longer
	OutcomeFailure                         // the dependency failed, or the code calling it panicked
	OutcomeTimeout                         // the time given to it ran out
	OutcomeCanceled                        // the caller left, or another attempt had won
	OutcomeRejectedOpen                    // not started: the breaker is open
	OutcomeRejectedHalfOpen                // not started: all probes of a half-open breaker are out
	OutcomeRejectedLimit                   // not started: the bulkhead or adaptive limit is full
	OutcomeRejectedBudget                  // failed, and the retry budget had nothing left for another attempt
	OutcomeRejectedDeadline                // not started (again): too little time left to finish
)

var outcomeNames = [...]string{
	OutcomeSuccess:          "success",
	OutcomeSlow:             "slow",
	OutcomeFailure:          "failure",
	OutcomeTimeout:          "timeout",
	OutcomeCanceled:         "canceled",
	OutcomeRejectedOpen:     "rejected_open",
	OutcomeRejectedHalfOpen: "rejected_half_open",
	OutcomeRejectedLimit:    "rejected_limit",
	OutcomeRejectedBudget:   "rejected_budget",
	OutcomeRejectedDeadline: "rejected_deadline",
}

// String returns the outcome as it stands in metric labels and logs.
func (o Outcome) String() string {
	if int(o) < len(outcomeNames) {
		return outcomeNames[o]
	}
	return "unknown"
}

// answered tells whether the dependency has given an answer, be it "no".
func (o Outcome) answered() bool { return o == OutcomeSuccess || o == OutcomeSlow }

// Outcomes returns the whole set, in order, so that an exporter can create every series at zero.
func Outcomes() []Outcome {
	all := make([]Outcome, len(outcomeNames))
	for i := range all {
		all[i] = Outcome(i)
	}
	return all
}
