#!/usr/bin/env bash
# test.sh STAGE...: runs the stages in order, stops at the first that fails, and says how long each one took.
set -euo pipefail
cd "$(dirname "$0")/.."
. deploy/airgap/lib.sh

staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2
modules=$(go list -m -f '{{.Dir}}')
bench=$PWD/pkg/resilience/bench # not in the workspace: what it compares with would join everybody's build list

# testcontainers: no reaper image is needed, every test ends what it starts; and the engine's ports are this machine's,
# also where a /.dockerenv makes it believe that it is inside a container.
if [ -z "${DOCKER_HOST:-}" ]; then
	export TESTCONTAINERS_RYUK_DISABLED=true TESTCONTAINERS_HOST_OVERRIDE=127.0.0.1
fi

stage_format() {
	local unformatted
	unformatted=$(gofmt -l $modules)
	[ -z "$unformatted" ] || fail "gofmt would change these; make fmt does it:" "$unformatted"
}

stage_vet() {
	go vet work
	go vet -tags e2e,soak ./e2e
	(cd "$bench" && GOWORK=off go vet ./...)
}

stage_lint() {
	go run "$staticcheck" work
	go run "$staticcheck" -tags e2e,soak ./e2e
	(cd "$bench" && GOWORK=off go run "$staticcheck" ./...)
}

# Whoever takes one module alone gets what its own go.mod says, not what the workspace adds.
stage_modules() {
	local module bad=""
	for module in $modules "$bench"; do
		(cd "$module" && export GOWORK=off && go build -o /dev/null ./... && go mod tidy -diff) || bad+=" ${module#"$PWD"/}"
	done
	[ -z "$bad" ] || fail "these modules do not build alone, or their go.mod is not tidy (make fmt does that):$bad"
}

stage_deploy() {
	local script scenarios
	deploy/airgap/prepare.sh
	for script in deploy/*.sh deploy/*/*.sh scripts/*.sh .ci/run; do
		bash -n "$script"
	done
	# With an empty environment: nothing may have to be set.
	env -i PATH="$PATH" HOME="$HOME" deploy/compose.sh --profile grafana config --quiet
	scenarios=$(mktemp -d)
	chmod 755 "$scenarios" # promtool runs as somebody else
	go run ./deploy/instruments -scenarios "$scenarios"
	promtool check config /etc/prometheus/prometheus.yml
	promtool check rules /etc/prometheus/alerts/watertight.yml
	promtool test rules $(cd deploy/prometheus && printf '/etc/prometheus/%s ' tests/*_test.yml) /scenarios/article.yml /scenarios/ours.yml
	rm -r "$scenarios"
}

promtool() {
	docker run --rm --network none -v "$PWD/deploy/prometheus:/etc/prometheus:ro" -v "$scenarios:/scenarios:ro" --entrypoint promtool \
		"${PROMETHEUS_IMAGE:-prom/prometheus:v2.53.3}" "$@"
}

stage_unit() {
	deploy/airgap/prepare.sh
	go test -race -shuffle=on work
	go test -run '^TestAllocations$' ./pkg/resilience # the race detector allocates, too
}

# The browser tests look at the pages with Chromium.
browser() {
	local name
	for name in chromium chromium-browser google-chrome chrome; do
		if command -v "$name" >/dev/null; then return; fi
	done
	on_debian_as_root || fail "The browser tests need Chromium (or Chrome) in PATH."
	step chromium "Installing Debian's Chromium for the browser tests (about a minute)" apt_install chromium
}

e2e() {
	deploy/airgap/prepare.sh
	browser
	scripts/build.sh
	(cd e2e && go test -tags e2e -count=1 -v -timeout 60m . "$@")
}

stage_e2e() { e2e ${RUN:+-run "$RUN"}; }
stage_throughput() { e2e -run '^TestOrderThroughput$' -throughput=20s; }

# The quiet part, 100,000 orders under faults, the negative control, and the long stories, each with a shop of its own.
stage_soak() {
	e2e -run '^TestSteadyLoad$' "-soak=${SOAK:-10m}"
	e2e -timeout 4h -run '^TestOrdersUnderFaults$' "-orders=${ORDERS:-100000}"
	e2e -tags e2e,soak -run '^TestAsynchronousCommitIsCaught$'
	e2e -tags e2e,soak -run '^(TestAColdStart|TestTheOutageAt|TestARetryStorm|TestRedisIsLost|TestKilledInTheMiddle|TestEverythingRestarts)'
}

report="" stage="" all=$SECONDS
finish() {
	local status=$?
	[ -z "$stage" ] || report+="  $stage: FAILED"$'\n'
	printf '==> stages\n%s  %-8s %5d s\n' "$report" total $((SECONDS - all))
	exit "$status"
}
trap finish EXIT

for stage; do
	say "$stage"
	start=$SECONDS
	"stage_$stage"
	report+=$(printf '  %-8s %5d s' "$stage" $((SECONDS - start)))$'\n'
done
stage=""
