#!/usr/bin/env bash
# incident.sh NAME [flags]: plays an incident on the running shop (make demo). It runs inside the shop's network, where the
# breakers can be read; the report is written to reports/ as the user who asked for it.
#   incident.sh opening | outage | retry-storm | redis-loss     what Toxiproxy and SQL can break
#   incident.sh casualties | restart-all                        kill containers: these get the engine's socket
#   incident.sh opening outage                                  one after the other; what make incident plays
#   incident.sh outage -without PATTERN                         restarts the five services without it, and with it afterwards
#   incident.sh outage -without all                             once with and once without each, side by side (half an hour)
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p reports
five="productpage recommendations inventory pricing orders"
patterns="deadline bulkhead limiter breaker retry-budget hedge fallback idempotency"

# The socket's group is what lets a container use it; the report keeps its owner.
play() {
	local name=$1 user socket
	shift
	user="$(id -u):$(id -g)" socket=()
	if [ "$name" = casualties ] || [ "$name" = restart-all ]; then
		local path=${DOCKER_SOCKET:-/var/run/docker.sock}
		user="$(id -u):$(stat -c %g "$path")"
		socket=(--volume "$path:/engine.sock")
		set -- -engine /engine.sock "$@"
	fi
	deploy/compose.sh run --rm --no-deps --user "$user" --volume "$PWD/reports:/out" ${socket[@]+"${socket[@]}"} janitor incident "$name" "$@" \
		-shop http://productpage:8080 -naive http://productpage-naive:8080 -internal http://productpage:9090 \
		-naive-internal http://productpage-naive:9090 -inside inventory=http://inventory:9090 -toxiproxy http://toxiproxy:8474 -out /out
}

restart() {
	export RESILIENCE_WITHOUT=$1
	# shellcheck disable=SC2086
	deploy/compose.sh up -d --no-deps --no-build --wait $five
}

play_without() {
	local pattern=$1
	shift
	restart "$pattern"
	play "$@" -without "$pattern"
}

names=() flags=() without=""
while [ $# -gt 0 ] && [ "${1#-}" = "$1" ]; do names+=("$1") && shift; done
: "${names[0]:?which incident? opening, outage, retry-storm, redis-loss, casualties, restart-all}"
while [ $# -gt 0 ]; do
	case $1 in
	-without | --without) without=${2:?without what?} && shift 2 ;;
	*) flags+=("$1") && shift ;;
	esac
done
trap 'exit 130' INT # what is played has mended and reported by then; the next one is not begun
if [ -z "$without" ]; then
	status=0 # the second is played also when the first breaks a promise
	for name in "${names[@]}"; do play "$name" ${flags[@]+"${flags[@]}"} || status=$?; done
	exit "$status"
fi
trap 'restart ""' EXIT # also after Ctrl-C: the shop is not left without it
for name in "${names[@]}"; do
	set -- "$name" ${flags[@]+"${flags[@]}"}
	if [ "$without" = all ]; then
		play "$@" || true # a broken promise is in the comparison, too
		for pattern in $patterns; do play_without "$pattern" "$@"; done
	else
		play_without "$without" "$@"
	fi
done
