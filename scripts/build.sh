#!/usr/bin/env bash
# Builds the images. The first one compiles all binaries; the others only copy theirs out of the same, cached stage.
# Built all at once, each would compile everything beside the others.
set -euo pipefail
cd "$(dirname "$0")/.."
. deploy/airgap/lib.sh
export BUILDX_NO_DEFAULT_ATTESTATIONS=1 # engine 20.10 does not know them

step build "Building the images (a few minutes the first time, seconds later)" \
	bash -c 'deploy/compose.sh build productpage && deploy/compose.sh build'
