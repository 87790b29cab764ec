#!/usr/bin/env bash
# Makes this machine ready for anything with containers: an engine, Compose, the base images. It says what it does
# and how long that takes, and does nothing, in less than a second, when all three are there.
set -euo pipefail
cd "$(dirname "$0")"
./engine.sh
./plugins.sh
./images.sh
