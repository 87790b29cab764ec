#!/usr/bin/env bash
# Starts the shop and returns when a customer would be happy: a product page with recommendations came through the
# published port. Then it says where everything is.
set -euo pipefail
cd "$(dirname "$0")/.."
. deploy/airgap/lib.sh

shop=http://127.0.0.1:${SHOP_PORT:-18080}
control=http://127.0.0.1:${CONTROL_PORT:-18088}
prometheus=http://127.0.0.1:${PROMETHEUS_PORT:-19090}
grafana=http://127.0.0.1:${GRAFANA_PORT:-13000}
grafana_image=${GRAFANA_IMAGE:-grafana/grafana:11.6.0}

have_grafana() {
	docker image inspect "$grafana_image" >/dev/null 2>&1 && return
	say "Pulling $grafana_image (where it cannot be had, the stack is complete without it)"
	docker pull -q "$grafana_image" >/dev/null 2>&1
}

whole_page() {
	local page
	page=$(curl -fsS -m 5 -H 'Accept: application/json' "$shop/products/42" 2>/dev/null) || return 1
	[[ $page == *'"recommendations":[{'* && $page == *'"degraded":[]'* ]]
}

wait_for_page() {
	local waited
	for ((waited = 0; waited < 180; waited++)); do
		whole_page && return
		((waited % 10 == 9)) && say "  waiting for the first whole page, $((waited + 1)) s"
		sleep 1
	done
	deploy/compose.sh ps
	deploy/compose.sh logs --tail 20
	fail "No page with recommendations within 180 s at $shop/products/42. Above: the containers and their last words."
}

command -v curl >/dev/null || fail "curl is missing; it is how this script looks at the shop."
start=$SECONDS
deploy/airgap/prepare.sh
scripts/build.sh
if have_grafana; then export COMPOSE_PROFILES=grafana; fi
say "Starting the shop"
deploy/compose.sh up --detach --no-build --remove-orphans --quiet-pull ||
	fail "If a port is taken, choose another one: SHOP_PORT, NAIVE_PORT, CONTROL_PORT, PROMETHEUS_PORT, GRAFANA_PORT (SHOP_PORT=28080 make demo)."
wait_for_page
say "Ready after $((SECONDS - start)) s"

cat <<EOF

  the shop      $shop          (try $shop/products/42)
  naive twin    http://127.0.0.1:${NAIVE_PORT:-18081}          (the same shop without its protection)
  control room  $control          (break it from here, and watch both)
  Prometheus    $prometheus
$(if [ -n "${COMPOSE_PROFILES:-}" ]; then echo "  Grafana       $grafana"; else
	echo "  Grafana       not started: its image ($grafana_image) cannot be had here; the shop is complete without it"; fi)

  make break-recommendations   makes their database slow for a minute
  make incident                two stories with a verdict on both pages, in four minutes
  make load                    more customers
  make logs                    what the services say
  make down                    stops it and removes its containers, volumes and network
EOF
