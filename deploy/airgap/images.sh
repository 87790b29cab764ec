#!/usr/bin/env bash
# The base images. Each one that is missing is pulled; where its registry cannot be reached, a stand-in is built under
# the same name from Debian's packages and the Go module proxy (Debian, as root). A registry that answers, but refuses,
# is an error: nobody gets a stand-in by accident.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
export BUILDX_NO_DEFAULT_ATTESTATIONS=1

names="distroless golang postgres redis prometheus toxiproxy"
image() {
	case $1 in
	debian) echo "debian:$suite-slim" ;; # only the stand-ins are built on it
	distroless) echo "gcr.io/distroless/static-debian12:nonroot" ;;
	golang) echo "golang:1.26" ;;
	postgres) echo "${POSTGRES_IMAGE:-postgres:17-alpine}" ;;
	redis) echo "${REDIS_IMAGE:-redis:8-alpine}" ;;
	prometheus) echo "${PROMETHEUS_IMAGE:-prom/prometheus:v2.53.3}" ;;
	toxiproxy) echo "${TOXIPROXY_IMAGE:-ghcr.io/shopify/toxiproxy:2.12.0}" ;;
	esac
}

# A stand-in carries the hash of its recipe as a label, so that one made by an older recipe is made anew.
label=watertight.stand-in
recipe() { cat "$airgap/images/$1"/* | sha256sum | cut -c1-16; }
have() {
	local made_by
	made_by=$(docker image inspect -f "{{index .Config.Labels \"$label\"}}" "$(image "$1")" 2>/dev/null) || return 1
	[ -z "$made_by" ] || [ "$made_by" = "$(recipe "$1")" ]
}

unreachable='no such host|connection refused|timeout|Timeout|deadline exceeded|unreachable|no route to host|x509|EOF|proxyconnect'
pull() {
	local errors
	say "Pulling $(image "$1")"
	errors=$(docker pull "$(image "$1")" 2>&1 >&3) && return
	grep -qE "$unreachable" <<<"$errors" || fail "docker pull $(image "$1") failed:" "$errors"
	say "  its registry cannot be reached from here"
	return 1
} 3>&1

# What a stand-in's Dockerfile may COPY: its own folder, and what golang takes from this machine.
context() {
	local extra=()
	if [ "$1" = golang ]; then
		# The machine's own certificate authorities, without which a module proxy behind one cannot be trusted.
		extra=(--exclude=./test --exclude=./api --exclude=./doc --exclude=./misc --transform 's,^\./,go/,'
			-C "$(go env GOROOT)" . -C /usr/local/share ca-certificates)
	fi
	tar -c -C "$airgap/images/$1" --exclude=rootfs.sh $(ls "$airgap/images/$1") "${extra[@]}"
}

build() {
	if [ "$1" = debian ]; then
		"$airgap/images/debian/rootfs.sh" "$suite" "$(debian_mirror)" "$cache/rootfs" &&
			tar -c -C "$cache/rootfs" --numeric-owner . |
			docker import -c 'CMD ["bash"]' -c "LABEL $label=$(recipe debian)" - "$(image debian)" && rm -rf "$cache/rootfs"
	else
		context "$1" | buildx build --load --progress=plain --label "$label=$(recipe "$1")" -t "$(image "$1")" -
	fi
}

stand_in() { # NAME SECONDS, after what it is built on
	have "$1" || step "image-$1" "Building a stand-in for $(image "$1") (about $2 s)" build "$1"
}

stand_ins() {
	on_debian_as_root || fail "$(image "$1") can be neither pulled nor built here." \
		"Get it to this engine (docker pull, docker load), or use Debian as root, where a stand-in can be built."
	[[ $(go env GOVERSION 2>/dev/null) == go1.26* ]] || fail "Stand-ins need Go 1.26 on this machine: golang:1.26 is made from it."
	command -v debootstrap >/dev/null || step debootstrap "Installing debootstrap" apt_install debootstrap
	stand_in debian 30
	[ "$1" != toxiproxy ] || stand_in golang 40
	case $1 in
	golang | toxiproxy) stand_in "$1" 40 ;;
	postgres) stand_in "$1" 30 ;;
	*) stand_in "$1" 10 ;;
	esac
}

unreachable_registries=
for name in $names; do
	have "$name" && continue
	registry=$(image "$name")
	registry=${registry%%/*}
	[[ $registry == *.* ]] || registry=docker.io
	if [[ $unreachable_registries != *" $registry "* ]]; then
		pull "$name" && continue
		unreachable_registries+=" $registry "
	fi
	stand_ins "$name"
done
