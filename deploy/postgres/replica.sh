#!/bin/sh
# Entry point of the streaming replica. Either side may be killed, restarted or recreated at any time:
#   - an empty volume: copy the primary, waiting for it as long as it takes;
#   - the primary is away: serve what we have, Postgres reconnects by itself;
#   - the primary is another cluster, or no longer has the WAL we need: throw our copy away and make a new one.
set -eu
server=
# As process 1 the shell would otherwise ignore them while it waits for the primary. INT is Postgres' fast shutdown.
trap '[ -z "$server" ] || { kill -INT "$server"; wait "$server"; }; exit 0' INT TERM

export PGDATA=/var/lib/postgresql/data/pgdata # one level down, so that a half-made copy can lie beside it
primary="host=$PRIMARY_HOST user=replicator password=$REPLICATOR_PASSWORD connect_timeout=3"

ask() { psql -X -q -A -t -d "$primary dbname=postgres" -c "$1"; }

can_follow() {
	ours=$(pg_controldata "$PGDATA" | sed -n 's/^Database system identifier: *//p')
	theirs=$(ask "SELECT system_identifier FROM pg_control_system()") || return 0
	wal=$(ask "SELECT wal_status FROM pg_replication_slots WHERE slot_name = 'replica'") || return 0
	[ "$ours" = "$theirs" ] && [ -n "$wal" ] && [ "$wal" != lost ]
}

copy_primary() {
	rm -rf "$PGDATA" "$PGDATA.copy"
	# The slot makes the primary keep the WAL we have not seen yet. -R writes standby.signal and where to connect.
	ask "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = 'replica'" >/dev/null &&
		pg_basebackup -d "$primary" -D "$PGDATA.copy" -X stream -c fast -C -S replica -R &&
		mv "$PGDATA.copy" "$PGDATA"
}

# Who receives WAL can follow. To look at our own processes costs next to nothing; to ask the primary takes a tenth of a second of
# the half core that this container has, which a read that comes just then would feel.
streaming() { cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' ' ' | grep -q 'walreceiver streaming'; }

# serve runs Postgres until it ends by itself, which ends us too, or until the primary is one that it cannot follow: somebody has
# lost the primary's volume, say. Postgres would go on asking that one for WAL for ever.
serve() {
	# A server that was killed leaves its number, which a process of ours may have by now; Postgres would take that for another server on
	# these data and refuse to start. There is none: the volume is this container's, and this is where its only server starts.
	rm -f "$PGDATA/postmaster.pid"
	"$@" &
	server=$!
	while sleep 10 & wait $! && kill -0 "$server" 2>/dev/null; do
		streaming || can_follow || { kill -INT "$server"; wait "$server" || true; server=; return 0; }
	done
	wait "$server"
	exit
}

while :; do
	if [ ! -f "$PGDATA/PG_VERSION" ] || ! can_follow; then
		until copy_primary; do
			echo "replica: no copy of the primary yet, trying again in 1 s"
			sleep 1
		done
	fi
	serve "$@"
done
