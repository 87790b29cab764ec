// Package faults breaks edges of the running shop on purpose, through Toxiproxy, and sees to it that they heal.
//
// # Who ends a fault
//
// Toxiproxy keeps a toxic until somebody removes it, so a tool that was killed would leave the shop broken. Here the
// end of a fault is part of the fault: its toxic is called "latency-expires-1764500000" (Unix seconds), and whoever
// sees an expired one removes it (Client.Sweep). The janitor, a service of its own in the compose file, looks every
// second; every demo fault, faults and mend does so as well. There is no second store of faults that could
// disagree: what Toxiproxy lists is what is broken.
//
// Refusing connections is no toxic but a disabled proxy, which has no name to carry an expiry. It is accompanied by a
// toxic that does nothing, set before the proxy is disabled and removed after it was enabled again: a process that
// dies between the two leaves a mark that still leads to a mended edge.
package faults
