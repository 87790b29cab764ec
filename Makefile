# Long recipes are scripts in deploy/ and scripts/. Everything with containers prepares the machine first
# (deploy/airgap/README.md), which takes a third of a second when there is nothing to do.
.DEFAULT_GOAL := help
.PHONY: help demo down logs load break-recommendations fix-recommendations incident build test fmt unit e2e soak bench bench-check

help: ## prints this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-21s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## builds and starts the shop, waits until a real page was served, prints the addresses
	@scripts/demo.sh

down: ## stops the shop and removes its containers, volumes and network (its images stay: IMAGES=1 removes them too)
	@scripts/down.sh

logs: ## follows the shop's logs; SERVICE=orders for one service only
	@deploy/compose.sh logs --follow --tail 50 $(SERVICE)

load: ## sends extra customers for a while and says what they got; RATE=50 DURATION=1m
	@deploy/compose.sh run --rm --no-deps load load -target http://productpage:8080 -rate $(or $(RATE),25) -duration $(or $(DURATION),30s)

break-recommendations: ## makes the database of recommendations answer 4.8 s late; FOR=60s ends it by itself, Ctrl-C at once
	@deploy/compose.sh run --rm --no-deps janitor fault latency -toxiproxy http://toxiproxy:8474 -edge recommendations-postgres -for $(or $(FOR),60s)

fix-recommendations: ## ends every fault at once
	@deploy/compose.sh run --rm --no-deps janitor mend -toxiproxy http://toxiproxy:8474

incident: ## plays the opening incident and the 30-minute outage on the running shop and its naive twin (4 minutes), judges both; NAME=opening for one; report in reports/
	@scripts/incident.sh $(or $(NAME),opening outage)

build: ## builds the images of the five services and of the demo
	@deploy/airgap/prepare.sh
	@scripts/build.sh

test: ## everything: format, vet, lint, modules, deploy files, unit and component tests with -race, end to end
	@scripts/test.sh format vet lint modules deploy unit e2e

fmt: ## formats all Go code and tidies every go.mod
	@gofmt -w $$(go list -m -f '{{.Dir}}')
	@for dir in $$(go list -m -f '{{.Dir}}') pkg/resilience/bench; do (cd $$dir && GOWORK=off go mod tidy) || exit 1; done

unit: ## unit and component tests with -race (component tests start Postgres and Redis)
	@scripts/test.sh unit

e2e: ## starts the real compose file on ports of its own and breaks it; RUN=TestName for some tests only
	@scripts/test.sh e2e

soak: ## ten quiet minutes of load, 100,000 orders under faults, and a Postgres that lies; SOAK=30m, ORDERS=20000 to change them
	@scripts/test.sh soak

bench: ## what a protected call costs beside others, then orders per second; PLOT=1 redraws the limits' chart
	@$(if $(PLOT),cd pkg/resilience && go test -run WhyAIMD -plot doc/limits.svg .)
	@cd pkg/resilience/bench && GOWORK=off go run .
	@scripts/test.sh throughput

bench-check: ## what a protected call costs, and exit 1 when an allocation count or a ratio promised of it is broken
	@cd pkg/resilience/bench && GOWORK=off go run . -check
