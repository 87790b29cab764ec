// Package service is what every service of the shop shares, so that a service's own folder holds only its reason to exist:
// configuration, logs, two HTTP listeners, health, metrics, problem details, stores that may be late, and a stop that loses
// nothing.
//
// A service is a [Program]: a name, a Config, and one Build function that wires dependencies in and routes out.
//
//	func main() { service.Main(run) }
//
//	func run(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error {
//		cfg := &Config{}
//		return service.Run(ctx, args, getenv, stdout, service.Program{
//			Name: "pricing", Summary: "prices and quotes", Config: cfg,
//			Build: func(s *service.Service) error { return build(s, cfg) },
//		})
//	}
//
// # A life
//
//  1. Every knob is read and checked; all mistakes are reported at once, and the values are logged with secrets masked.
//  2. Build registers routes, dependencies, start-up tasks and workers. It must not wait for anything.
//  3. The listeners open at once: /healthz says 200, /readyz says 503 and names what is missing, business routes say 503
//     "starting". Services may therefore be started in any order.
//  4. Start-up tasks run in order, each until it succeeds. Then workers start and /readyz says 200.
//  5. SIGTERM: /readyz says 503 and answers carry "Connection: close", but work goes on for DRAIN_DELAY, until load balancers
//     have noticed. Then no new connections, SHUTDOWN_TIMEOUT for what is in flight, workers stopped, pools closed last.
//     A second signal ends the process at once.
//
// # What operators can do
//
// The internal listener has /metrics, /debug/pprof/ and /resilience: every dependency with its breaker, why it is where it is, what
// is in flight, and the policy; JSON, or a page with buttons for browsers. Overrides are logged, show in the metrics, and last
// until they are released or the process ends:
//
//	curl localhost:9090/resilience
//	curl -H 'Content-Type: application/json' -d '{"force":"open"}' localhost:9090/resilience/pricing/breaker   # or closed, release
//	curl -H 'Content-Type: application/json' -d '{"limit":40}' localhost:9090/resilience/pricing/limit
//
// # What a collector gets
//
// With OTEL_EXPORTER_OTLP_ENDPOINT set, spans go to a collector by OTLP over HTTP: one for each request, named by its route; below it
// one for each call of a dependency, with its outcome; below that one for each attempt, so that a retry, a hedge and its cancelled loser are
// told apart; and below an attempt over HTTP the next service's request. Logs, exemplars and traceparent name the same ids. Without
// it nothing is recorded and no goroutine runs, but ids are made and passed on all the same. The other variables of OpenTelemetry's
// SDK mean what they always mean; -h lists the ones a service reads itself. A collector that is slow, full or gone costs spans and nothing else.
//
// # What the log says
//
// One JSON object a line, with service, and inside a request request_id and trace_id. The lines to look for:
//
//	configuration            INFO   once; every knob's value, secrets masked
//	listening                INFO   once; the addresses
//	dependency               INFO   once per dependency; its limits as a table
//	traces                   INFO   once, if they are exported: where to and which; WARN what is wrong about the variables
//	traces are lost          WARN   the collector does not take them; once a minute at most, with how many spans since
//	waiting                  WARN   a start-up task fails and is retried; again only when its error changes
//	started                  INFO   a start-up task succeeded
//	ready, not ready         INFO/WARN  each change of /readyz, with what is missing and why
//	circuit breaker          WARN when it opens, INFO else; from, to, and the counts that caused it
//	override                 WARN   somebody has forced a breaker or changed a limit; which, how, and from which address
//	degraded answer          INFO   a page was served without one of its parts; route, reason, parts
//	request                  ERROR a 500 nobody planned; WARN any other 5xx; INFO slower than a quarter of REQUEST_TIMEOUT; else
//	                         DEBUG. With the problem and the error behind it, which the client was not shown
//	panic                    ERROR  with the stack
//	worker failed            ERROR  a background worker fails and is restarted; again only when its error changes
//	the last traces are lost WARN   they did not get out within half a second of the stop
//	draining, stopped        INFO   the two ends of a stop; "cut off" WARN when requests outlived SHUTDOWN_TIMEOUT
package service
