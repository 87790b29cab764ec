package main

// twins shows the same questions of both pages side by side: same load, same fault.
func twins() dashboard {
	side := func(service string) []panel {
		return []panel{
			stat("Failed", 4, "percentunit", 0.001, "Errors, and customers who did not wait.", failedShare(service)),
			stat("p95 of a product page", 4, "s", 0.5, "The page's budget is 500 ms.", pageQuantile(0.95, service)),
			stat("Goroutines", 4, "short", 0, "What waits for something.", `sum(go_goroutines{service="`+service+`"})`),
		}
	}
	long := func(service string) panel {
		return chart(service+": how long", 12, "s", 0.5, "The line is the page's budget.", quantiles(service)...)
	}
	codes := func(service string) panel {
		return chart(service+": answers by code", 12, "reqps", 0, "499: the customer did not wait.",
			query{"{{code}}", `sum by (code) (rate(http_server_request_duration_seconds_count{service="` + service + `",` + byRoute + `}[$__rate_interval]))`})
	}
	return dashboard{uid: "watertight-twins", title: "Protected and naive", rows: []row{
		{"Left: protected. Right: naive. The same load, the same fault", 4, append(side("productpage"), side("productpage-naive")...)},
		{"How long a page takes", 9, []panel{long("productpage"), long("productpage-naive")}},
		{"What customers get", 9, []panel{codes("productpage"), codes("productpage-naive")}},
	}}
}
