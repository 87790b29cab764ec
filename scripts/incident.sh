#!/usr/bin/env bash
# incident.sh NAME [flags]: plays an incident on the running shop (make demo). It runs inside the shop's network, where the
# breakers can be read; the report is written to reports/ as the user who asked for it.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p reports
deploy/compose.sh run --rm --no-deps --user "$(id -u):$(id -g)" --volume "$PWD/reports:/out" janitor incident "$@" \
	-shop http://productpage:8080 -naive http://productpage-naive:8080 -internal http://productpage:9090 \
	-naive-internal http://productpage-naive:9090 -toxiproxy http://toxiproxy:8474 -out /out
