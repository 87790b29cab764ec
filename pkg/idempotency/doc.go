// Package idempotency makes a POST safe to repeat: the server side of the Idempotency-Key header
// (draft-ietf-httpapi-idempotency-key-header-07), with Postgres as the only truth.
//
// The shape of a request is always the same:
//
//	claim, replay, err := store.Claim(ctx, request) // one statement; replay != nil: done before, send it again
//	... the work, on Detach(ctx, budget), with claim.OperationID as the id of everything it causes elsewhere ...
//	err = store.Finish(ctx, claim, answer, rows)    // the answer and your rows in ONE transaction
//	err = store.Release(ctx, claim)                 // or: nothing final happened, the same key may try again
//
// No transaction is open while the work calls other services: Claim has committed before it starts, and Finish
// is a single pipelined batch that cannot contain a network call. A crash between the two leaves a lease that
// runs out; the next owner gets the same OperationID and a higher Attempt, and an owner that wakes up too
// late is fenced by its old Attempt.
//
// # Policy
//
//   - A key names one intent of one caller on one route: [Scope]. The same text elsewhere is another key.
//   - Keys are 16 to 255 visible ASCII characters, quoted or bare: [ParseKey].
//   - Same key, same request: the stored status, allow-listed headers and body, with "Idempotent-Replayed: true".
//   - Same key, other request ([FingerprintOf]): 422 idempotency-key-reused, whatever the state of the first.
//   - A twin in flight is waited for 200 ms, then 409 request-in-progress with Retry-After.
//   - Final answers, refusals included, are stored; transient failures (503) never are.
//   - When it is unknown whether Finish committed: 503 outcome-unknown and no release; the next retry reads the truth.
//   - Finished keys are kept for 24 h ([Store.Reap]). What must never happen twice needs its own unique constraint.
//
// Rule of thumb for callers: 409 is the only 4xx to repeat, 422 needs a new key, 503 means same key, later.
package idempotency
