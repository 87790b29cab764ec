#!/usr/bin/env bash
# A Docker engine that answers: the running one, or on Debian as root one that is installed and started here.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

answers() { docker info >/dev/null 2>&1; }

install() {
	apt-get update -q
	local packages="docker.io"
	if apt-cache show docker-cli >/dev/null 2>&1; then packages+=" docker-cli"; fi # since Debian 13 a package of its own
	apt_install $packages
}

start() {
	if [ -d /run/systemd/system ]; then
		systemctl start docker
	else
		setsid nohup dockerd >"$cache/logs/dockerd.log" 2>&1 </dev/null &
	fi
	for _ in $(seq 60); do
		answers && return
		sleep 1
	done
	echo "no answer within 60 s; see $cache/logs/dockerd.log or journalctl -u docker"
	return 1
}

answers && exit 0
if [ -n "${DOCKER_HOST:-}" ] || ! on_debian_as_root; then
	fail "No Docker engine answers (docker info fails)." \
		"Install and start one: https://docs.docker.com/engine/install/. If one runs, this user may not use it:" \
		"on Linux that takes membership of the group docker, or sudo."
fi
command -v dockerd >/dev/null || step engine "Installing Debian's Docker engine (about a minute)" install
step engine-start "Starting the Docker engine" start
