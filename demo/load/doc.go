// Package load sends visitors to a shop at a steady rate and judges what they got.
//
// The load is open-loop: visitors arrive at their rate however slow the shop has become, as they do in life. A
// closed loop (each virtual user waits for its answer) slows down together with the shop and so hides the very
// queue it was meant to show (article 1, "The opening incident").
//
// Every answer is one of three things: full, degraded (the shop said so in its Degraded header) or failed. A 200
// that does not hold the page it should is failed: a status alone proves nothing.
package load
