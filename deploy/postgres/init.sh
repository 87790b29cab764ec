#!/bin/sh
# Runs once, when a Postgres container starts with an empty volume. Makes from DATABASES="name:password ..."
#   - a database and a role of the same name for each owner; nobody else may connect to it,
#   - `auditor`, who may read everything and change nothing: the tests' and the demo's eyes,
#   - `replicator`, where REPLICATOR_PASSWORD is set,
#   - `demo`, where DEMO_PASSWORD is set: it may flip a query's plan and mend it (demo.sql).
set -eu

sql() { psql -v ON_ERROR_STOP=1 -q -X -U postgres -d postgres "$@"; }

sql -v password="$AUDITOR_PASSWORD" <<'SQL'
CREATE ROLE auditor LOGIN PASSWORD :'password' IN ROLE pg_read_all_data, pg_monitor;
ALTER ROLE auditor SET default_transaction_read_only = on;
SQL

for database in $DATABASES; do
	sql -v name="${database%%:*}" -v password="${database#*:}" <<'SQL'
CREATE ROLE :"name" LOGIN PASSWORD :'password';
CREATE DATABASE :"name" OWNER :"name";
REVOKE ALL ON DATABASE :"name" FROM PUBLIC;
GRANT CONNECT ON DATABASE :"name" TO auditor;
SQL
done

if [ -n "${REPLICATOR_PASSWORD:-}" ]; then
	sql -v password="$REPLICATOR_PASSWORD" <<'SQL'
CREATE ROLE replicator LOGIN REPLICATION PASSWORD :'password';
SQL
	# How often each statement ran, here and (by replication) there: the demo counts hedged reads where they arrive.
	for database in $DATABASES; do sql -d "${database%%:*}" -c 'CREATE EXTENSION pg_stat_statements'; done
	# "all" in pg_hba.conf does not include replication connections.
	echo 'host replication replicator all scram-sha-256' >>"$PGDATA/pg_hba.conf"
fi

if [ -n "${DEMO_PASSWORD:-}" ]; then
	sql -d recommendations -v database=recommendations -v password="$DEMO_PASSWORD" -f /demo.sql
fi
