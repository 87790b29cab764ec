// Command instruments generates what the stack's Prometheus and Grafana load from sources that people read:
//
//	go generate ./deploy/instruments    the demo's alerts from those of production, and the dashboards
//	go run . -scenarios DIR             promtool tests for the 27 scenarios in which the articles' alert rules were tried
//
// Its tests need neither Prometheus nor Grafana: they read every rule, query, panel and runbook.
package main

//go:generate go run .
