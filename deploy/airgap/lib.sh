# shellcheck shell=bash
# Sourced by the scripts beside it and by ../compose.sh. Bash 3.2 is enough where no stand-ins are built (macOS).

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
airgap=$root/deploy/airgap
cache=$root/.cache/airgap # everything these scripts keep: unpacked tools and logs
suite=trixie              # the Debian release the tools and stand-ins come from

say() { printf '==> %s\n' "$*"; }
fail() {
	printf '==> %s\n' "$@" >&2
	exit 1
}

# step LOG TEXT COMMAND...: says TEXT, runs COMMAND with its output in a log file, shows every 15 s where it is, and at
# the end how long it took.
step() {
	local log=$cache/logs/$1.log text=$2 start=$SECONDS status ticker
	shift 2
	mkdir -p "$cache/logs"
	say "$text"
	while sleep 15 >/dev/null && kill -0 $$ 2>/dev/null; do
		say "  $((SECONDS - start)) s: $(tail -n 1 "$log" | cut -c 1-100)"
	done &
	ticker=$!
	set +e # and not `if !`, inside which the command would go on after its first error
	(set -e && "$@") >"$log" 2>&1
	status=$?
	set -e
	kill "$ticker"
	if [ "$status" -ne 0 ]; then
		tail -n 30 "$log" >&2
		fail "failed: $text" "the whole output is in $log"
	fi
	say "  done in $((SECONDS - start)) s"
}

on_debian() { [ -r /etc/os-release ] && (. /etc/os-release && [ "${ID:-}" = debian ]); }
on_debian_as_root() { on_debian && [ "$(id -u)" = 0 ]; }

# The mirror this machine's apt already uses, in either format of its list.
debian_mirror() {
	awk '/^URIs:/ { print $2; exit }
	     /^deb / { for (i = 2; i <= NF; i++) if ($i ~ /^https?:/) { print $i; exit } }' \
		/etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null
}

# Waits for its turn: another apt may be at work, unattended-upgrades on a new machine for example.
apt_install() {
	apt-get update -q && DEBIAN_FRONTEND=noninteractive \
		apt-get -o DPkg::Lock::Timeout=300 install -y -q --no-install-recommends "$@"
}

# Compose and buildx: Docker's own plugins, or the programs that plugins.sh unpacked, which also run on their own.
compose() { plugin compose "$@"; }
buildx() { plugin buildx "$@"; }
plugin() {
	local name=$1
	shift
	if docker "$name" version >/dev/null 2>&1; then
		docker "$name" "$@"
	elif [ -x "$cache/bin/docker-$name" ]; then
		BUILDX_CONFIG=$cache/buildx "$cache/bin/docker-$name" "$@"
	else
		return 127
	fi
}
