#!/usr/bin/env bash
# `docker compose` for this stack, with whichever Compose this machine has: deploy/compose.sh ps, logs -f orders, ...
set -euo pipefail
. "$(dirname "$0")/airgap/lib.sh"
compose -f "$root/deploy/docker-compose.yml" "$@"
