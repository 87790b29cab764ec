// Package control is the control room: one web page on which a visitor breaks an edge of the running shop, watches both
// product pages, and sees what was hurt, what was protected, and why.
//
// It knows the shop only from outside: pages by HTTP, edges by Toxiproxy's API, and the internal listeners that Prometheus reads
// as well. It needs neither Prometheus nor Grafana, and the shop does not know that it exists. All state is in the one process
// and in Toxiproxy, so every visitor sees the same; each second the whole of it goes to everybody as one server-sent event.
//
// Figures come from a gentle open-loop load of its own on both pages (package load), not from the pages' histograms: a request
// that hangs is in no histogram until it ends. One that still waits counts with the time it has waited so far.
//
// Everything that can be started ends by itself: a fault has a mandatory end in its name (package faults), an incident its length.
package control
