#!/usr/bin/env bash
# Removes what `make demo` made: containers, volumes, network, and with IMAGES=1 the images built from this repository.
# Base images stay: others may use them too, and pulling or building them again takes minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
. deploy/airgap/lib.sh

arguments=(--volumes --remove-orphans)
if [ -n "${IMAGES:-}" ]; then arguments+=(--rmi local); fi
compose -f deploy/docker-compose.yml --profile grafana down "${arguments[@]}"
if [ -z "${IMAGES:-}" ]; then
	say "Containers, volumes and network are gone; the images stay for the next start (IMAGES=1 make down removes ours)"
fi
