#!/usr/bin/env bash
# Compose v2 and buildx: Docker's plugins where they are installed. Debian 12 has neither; there both are unpacked from
# the next release into .cache/. Nothing is installed, and the user's own Docker configuration stays as it is.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

unpack() { # PACKAGE...
	local apt options mirror
	mirror=$(debian_mirror)
	apt=$(mktemp -d)
	mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$cache/bin"
	: >"$apt/status"
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >"$apt/sources.list"
	# An apt with lists, state and cache of its own: the machine's packages and sources are not touched.
	options=(-o "Dir::Etc::SourceList=$apt/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$apt/lists"
		-o "Dir::State::Status=$apt/status" -o "Dir::Cache=$apt" -o "APT::Sandbox::User=$(id -un)"
		-o APT::Update::Post-Invoke-Success::=)
	apt-get "${options[@]}" update -qq
	(cd "$apt" && apt-get "${options[@]}" download -qq "$@")
	for package in "$apt"/*.deb; do
		dpkg -x "$package" "$apt/root"
	done
	cp "$apt"/root/usr/libexec/docker/cli-plugins/* "$cache/bin/"
	rm -rf "$apt"
	"$cache/bin/docker-compose" version && "$cache/bin/docker-buildx" version
}

compose version >/dev/null 2>&1 && buildx version >/dev/null 2>&1 && exit 0
on_debian || fail "Docker Compose v2 or buildx is missing (docker compose version, docker buildx version)." \
	"Install both: https://docs.docker.com/compose/install/"
step plugins "Unpacking Compose and buildx from Debian $suite into .cache/ (about 20 s)" unpack docker-compose docker-buildx
