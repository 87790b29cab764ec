#!/bin/bash
# The official image's entrypoint in the parts that are used: the same variables, init folder and argument rules.
set -Eeo pipefail

file_env() { # VARIABLE [DEFAULT]: VARIABLE, or the content of the file VARIABLE_FILE
	local file=${1}_FILE
	if [ -n "${!1:-}" ] && [ -n "${!file:-}" ]; then
		echo >&2 "error: both $1 and $file are set"
		exit 1
	fi
	if [ -n "${!file:-}" ]; then
		export "$1=$(<"${!file}")"
	elif [ -z "${!1:-}" ]; then
		export "$1=${2:-}"
	fi
	unset "$file"
}

as_postgres() { # root prepares the folders and becomes postgres
	mkdir -p "$PGDATA" /var/run/postgresql
	chmod 00700 "$PGDATA" || :
	chmod 03775 /var/run/postgresql || :
	find "$PGDATA" /var/run/postgresql \! -user postgres -exec chown postgres '{}' +
	exec gosu postgres "${BASH_SOURCE[0]}" "$@"
}

process_sql() { psql -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" --no-password --no-psqlrc "$@"; }
docker_process_sql() { process_sql -d "$POSTGRES_DB" "$@"; } # the name that init scripts know

run_init_files() {
	local f
	for f in /docker-entrypoint-initdb.d/*; do
		case $f in
		*.sh) if [ -x "$f" ]; then "$f"; else . "$f"; fi ;;
		*.sql) docker_process_sql -f "$f" ;;
		*.sql.gz) gunzip -c "$f" | docker_process_sql ;;
		esac
	done
}

initialize() { # a new cluster, and the init files against a server that listens on its socket only
	file_env POSTGRES_PASSWORD
	file_env POSTGRES_USER postgres
	file_env POSTGRES_DB "$POSTGRES_USER"
	file_env POSTGRES_INITDB_ARGS
	if [ -z "$POSTGRES_PASSWORD" ] && [ "${POSTGRES_HOST_AUTH_METHOD:-}" != trust ]; then
		echo >&2 'Error: Database is uninitialized and superuser password is not specified (POSTGRES_PASSWORD).'
		exit 1
	fi
	eval 'initdb --username="$POSTGRES_USER" --pwfile=<(printf "%s\n" "$POSTGRES_PASSWORD") '"$POSTGRES_INITDB_ARGS"
	printf '\nhost all all all %s\n' "${POSTGRES_HOST_AUTH_METHOD:-scram-sha-256}" >>"$PGDATA/pg_hba.conf"

	local arguments=("${@:2}")
	export PGPASSWORD=$POSTGRES_PASSWORD
	PGUSER=$POSTGRES_USER pg_ctl -D "$PGDATA" -w start -o "$(printf '%q ' "${arguments[@]}" -c listen_addresses= -p 5432)"
	[ "$POSTGRES_DB" = postgres ] || process_sql -d postgres -v db="$POSTGRES_DB" <<<'CREATE DATABASE :"db"'
	run_init_files
	PGUSER=$POSTGRES_USER pg_ctl -D "$PGDATA" -m fast -w stop
	unset PGPASSWORD
	echo 'PostgreSQL init process complete; ready for start up.'
}

[ "${1:0:1}" = '-' ] && set -- postgres "$@"
if [ "$1" = postgres ]; then
	[ "$(id -u)" = 0 ] && as_postgres "$@"
	mkdir -p "$PGDATA"
	chmod 00700 "$PGDATA" || :
	[ -s "$PGDATA/PG_VERSION" ] || initialize "$@"
fi
exec "$@"
