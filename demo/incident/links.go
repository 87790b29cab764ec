package incident

// sources says for each promise, by its id, which file of the repository keeps it, and which test would notice if it did not.
func sources() map[string][2]string {
	const (
		page     = "services/productpage/page.go"
		recs     = "services/productpage/recommendations.go"
		stock    = "services/productpage/inventory.go"
		snapshot = "services/productpage/snapshot.go"
		prices   = "services/productpage/pricing.go"
		replica  = "services/inventory/postgres_replica.go"
		fallback = "services/productpage/fallback_test.go"
		opening  = "e2e/opening_incident_test.go"
		outage   = "e2e/outage_test.go"
		stories  = "e2e/stories_test.go"
	)
	return map[string][2]string{
		"no-errors":                       {page, fallback},
		"budget":                          {"services/productpage/contract.go", opening},
		"worst":                           {"services/productpage/contract.go", opening},
		"usual-time":                      {"pkg/resilience/breaker.go", "pkg/resilience/breaker_test.go"},
		"marked":                          {page, fallback},
		"home":                            {"services/productpage/home.go", opening},
		"order":                           {"services/productpage/order.go", opening},
		"price":                           {prices, opening},
		"stock":                           {stock, opening},
		"recs":                            {recs, outage},
		"hedged":                          {replica, "pkg/resilience/hedge_test.go"},
		"extra":                           {"pkg/resilience/hedge.go", "pkg/resilience/hedge_test.go"},
		"cut":                             {"pkg/resilience/aimd.go", "pkg/resilience/adaptive_test.go"},
		"replica-opens":                   {replica, outage},
		"fails-over":                      {replica, outage},
		"replica-back":                    {"pkg/resilience/aimd.go", "pkg/resilience/adaptive_test.go"},
		"stock-opens":                     {stock, outage},
		"banner":                          {snapshot, fallback},
		"button":                          {"services/productpage/checkout.go", "services/productpage/checkout_test.go"},
		"one-intent":                      {"services/orders/placing.go", "services/orders/takeover_test.go"},
		"stock-back":                      {stock, outage},
		"plan":                            {"demo/planflip/flip.go", "demo/planflip/flip_test.go"},
		"recs-opens":                      {recs, outage},
		"recs-back":                       {recs, outage},
		"duplicates":                      {"pkg/idempotency/claim.go", "services/orders/crash_test.go"},
		"audit":                           {"demo/audit/queries.go", "demo/audit/audit_test.go"},
		"retries":                         {"pkg/resilience/budget.go", "pkg/resilience/retry_test.go"},
		"whole":                           {"pkg/service/life.go", "e2e/start_test.go"},
		"back-postgres-inventory-replica": {replica, "e2e/stores_test.go"},
		"back-postgres-inventory":         {snapshot, "e2e/stores_test.go"},
		"back-redis":                      {snapshot, "e2e/stores_test.go"},
		"back-toxiproxy":                  {page, stories},
		"opens":                           {recs, "pkg/resilience/breaker_test.go"},
		"bulkhead":                        {"pkg/resilience/limiter.go", "pkg/resilience/limiter_test.go"},
		"goroutines":                      {"pkg/resilience/call.go", opening},
		"probes":                          {"pkg/resilience/breaker_state.go", "pkg/resilience/halfopen_test.go"},
		"heals":                           {"pkg/resilience/breaker_state.go", opening},
		"stays":                           {"services/productpage/flight.go", "services/productpage/flight_test.go"},
		"collapses":                       {"services/productpage/naive.go", "services/productpage/naive_test.go"},
		"slows":                           {"services/productpage/naive.go", outage},
		"takes-along":                     {"services/productpage/naive.go", opening},
	}
}

// linked adds to each verdict where its code and its test are.
func linked(verdicts []Verdict) []Verdict {
	all := sources()
	for i, v := range verdicts {
		verdicts[i].Code, verdicts[i].Test = all[v.ID][0], all[v.ID][1]
	}
	return verdicts
}
