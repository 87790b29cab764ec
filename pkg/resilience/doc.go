// Package resilience keeps a program on its feet when something it depends on is slow, broken or gone.
//
// # The idea
//
// A service is rarely taken down by its own bugs. It is taken down by waiting: a dependency that answered in 10 ms takes five
// seconds, the goroutines, connections and memory of every request pile up behind it, and soon the pages that never
// needed it are gone too. Nothing has failed; there is not even an error to see. All the patterns here limit one thing, how much
// of us one dependency may take: how long (deadline), how much at once (bulkhead), how often in vain (breaker, retry budget).
//
// A [Dependency] is everything a process knows about one remote thing it calls. It is made once, from one [Config] that reads
// like a table and is validated as a whole:
//
//	recs, err := resilience.New("recommendations", resilience.Config{
//		Timeout:  resilience.Timeout{Total: 120 * time.Millisecond},
//		Bulkhead: resilience.Bulkhead{Max: 50},
//		Breaker: resilience.Breaker{
//			FailureRatio: 0.5, SlowRatio: 0.8, SlowAfter: 100 * time.Millisecond,
//			MinCalls: 20, Window: 10 * time.Second,
//			ConsecutiveFailures: 5, OpenFor: 30 * time.Second,
//		},
//	}, observer)
//
// and used in one line wherever it is called:
//
//	list, err := resilience.Call(ctx, recs, fetch)             // fetch is a func(context.Context) ([]Item, error)
//	list := resilience.CallOr(ctx, recs, fetch, bestSellers)   // bestSellers hears why, and always has an answer
//
// Every layer can be left out, by leaving its part of the Config at zero; a Dependency with a Breaker alone is a breaker.
//
// # The order
//
// The layers always stand in the same order. It is not configurable, because most other orders are bugs:
//
//	Call
//	 └ deadline          the caller's remaining time or Timeout.Total, the earlier; nothing is started that cannot finish
//	   └ retry           asks a shared budget before it sleeps; never sleeps past the deadline; keeps the cause
//	     └ hedge         a second attempt when the first takes unusually long, out of the same budget
//	       └ bulkhead    outside the breaker: that we are full is not their failure
//	         └ breaker   inside the retry: it sees every attempt, and its refusals are never retried
//	           └ attempt a context of its own: Timeout.Attempt or what is left, the earlier
//
// fn runs on the goroutine of its caller; only the second attempt of a hedged call has one of its own. Go cannot abandon a
// function that ignores its context, and pretending to (by leaving it behind on another goroutine) would only hide what still
// runs. So the slot is held until fn returns, and Call returns when fn does.
//
// # What counts as what
//
// Every call and every attempt ends in exactly one [Outcome] of a closed set; the words are the same in code, events, logs and
// metric labels. Only OutcomeFailure, OutcomeTimeout and OutcomeSlow can open a breaker. That a caller has left, that our
// own bulkhead is full, or that a dependency further down was not called, says nothing about this dependency's health.
// A timeout does, the caller's too: a dependency that hangs must not hide behind impatient callers.
//
// Whatever a layer refuses is a [*Rejected]: it names the layer, and when to try again. [Config].Classify decides which errors of fn are
// answers and which are failures, and starts from [DefaultClassify].
//
// # More than one attempt
//
// Repeating a call is safe only if doing it twice does no more than doing it once, and helps only if the load it adds is bounded.
// [Retry] and [Hedge] are off unless configured, draw on one budget per Dependency, and never outlast the deadline. [OneAttempt]
// exempts a call. A retry cures a failure that passes; a hedge cures a slow fraction of calls; neither cures a dependency
// that is slow or down as a whole, which is what the breaker and the fallback are for. A server whose own retries were in vain says so
// to its caller with [HeaderDoNotRetry] (see [Final]), or four hops with three attempts each make 81 calls of one.
//
// # How much at once
//
// A [Bulkhead] is a number. An [Adaptive] limit finds the number itself, from the time answers take. On the server's side a
// [Shedder] does the same for requests that come in, and refuses the least important first. [CheckShared] compares the limits over one
// pool with its size, as [CheckBudget] compares times with the time of what they are a part of.
//
// # Over the network
//
// [Dependency.HTTPClient] carries the deadline, the attempt's number and the trace to the next hop in headers, and [CheckResponse]
// turns a status into an error that all layers understand:
//
//	func (c *client) fetch(ctx context.Context) ([]Item, error) {
//		req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url, nil)
//		if err != nil {
//			return nil, err
//		}
//		resp, err := c.dep.HTTPClient().Do(req)
//		if err != nil {
//			return nil, err
//		}
//		defer resp.Body.Close()
//		if err := resilience.CheckResponse(resp); err != nil {
//			return nil, err
//		}
//		...read the whole body here: when fn returns, its context ends, and the body with it
//	}
//
// # Seeing it
//
// An [Observer] hears of every call, attempt and change of state, outside every lock, and may put a span into the context of each call
// and attempt ([ContextWithSpan]). [Dependency.State] is a pure read.
// [Dependency.Describe] prints the composed layers and their numbers; log it at start. [Dependency.ForceOpen],
// [Dependency.ForceClosed] and [Dependency.SetLimit] are for the people on call. Package resiliencetest plays outages through all
// this in virtual time.
//
// The patterns follow two articles, "Building Resilient Distributed Systems with Go" (article 1 in the comments) and "Advanced Design
// Principles" (article 2), and what people have reported about the libraries of this field.
package resilience
