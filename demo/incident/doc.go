// Package incident plays a story on the running shop and judges how the shop came through it.
//
// A story is a function that reads like one: phases, a fault, a wait, the mend (see tellOpening). Meanwhile the same
// visitors come, open-loop, to two product pages: the protected one, and its naive twin without any protection. Every
// answer is kept as it was; the promises are judged at the end, from raw samples, by functions that do nothing else.
//
// Figures are p95 and counts, no p99 of a few; an answer belongs to the second in which it was asked for, so that ten
// seconds of waiting show where the wait began. Bounds that compare are max(2x, +25 ms) of the same twin's baseline in
// the same run: a slow machine makes the whole run slow and breaks no promise.
package incident
