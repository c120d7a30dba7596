#!/bin/sh
# A PostgreSQL cluster of its own, for tests and benchmarks:
#
#   tools/postgres_cluster.sh [name=value ...]        (settings of the server)
#
# Once it takes connections, two lines come on standard output, a connection string each: by unix socket (a folder that only
# its owner enters; no password), and by 127.0.0.1 with a password. It serves until standard input ends, so until whoever
# started it closes it or dies, however that happens; then nothing of it is left. A line "restart" on standard input ends the
# server as a power cut would, starts it again, and is answered by a line "restarted". Run as root, it runs as the user that
# Debian's package makes, since PostgreSQL refuses root.
set -eu
trap '' INT TERM HUP # of a terminal's group: the end of standard input is the end

fail() { echo "postgres_cluster: $*" >&2; exit 1; }

bin=/usr/lib/postgresql/15/bin
[ -x $bin/postgres ] || fail "PostgreSQL 15 is not there; install Debian's package postgresql-15"

dir=$(mktemp -d "${TMPDIR:-/tmp}/presetbridge-pg-XXXXXX")
server=
clean() {
  [ -z "$server" ] || kill -QUIT "$server" 2>/dev/null || true
  wait
  cd / && rm -rf "$dir"
}
trap clean EXIT

owner=
if [ "$(id -u)" = 0 ]; then
  id postgres >/dev/null 2>&1 || fail "there is no user postgres"
  owner="--reuid=postgres --regid=postgres --init-groups"
  chown postgres: "$dir"
fi
# The server must not outlive this shell, even if that is killed.
as_owner() { setpriv $owner --pdeathsig KILL "$@"; }
cd "$dir"
as_owner test -w "$dir" || fail "$dir cannot be entered by the user postgres; set TMPDIR to a folder that can"

password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
(umask 077; echo "$password" >"$dir/password")
[ -z "$owner" ] || chown postgres: "$dir/password"
as_owner $bin/initdb -D "$dir/data" --no-sync -U postgres --pwfile="$dir/password" --auth-local=trust \
  --auth-host=scram-sha-256 -E UTF8 --locale=C.UTF-8 >"$dir/log" 2>&1 || { cat "$dir/log" >&2; fail "initdb failed"; }

settings="-c unix_socket_directories=$dir -c listen_addresses=127.0.0.1 -c max_connections=200 -c logging_collector=off"
for setting in "$@"; do settings="$settings -c $setting"; done

start() {
  setpriv $owner --pdeathsig QUIT $bin/postgres -D "$dir/data" -p "$port" $settings >>"$dir/log" 2>&1 </dev/null &
  server=$!
  while kill -0 "$server" 2>/dev/null; do
    $bin/pg_isready -q -t 1 -h "$dir" -p "$port" && return 0
    sleep 0.05
  done
  return 1
}

obey() {
  while read -r command; do
    [ "$command" = restart ] || fail "there is no command $command"
    kill -QUIT "$server"
    wait "$server" || true
    start || { cat "$dir/log" >&2; fail "the server did not start again"; }
    echo restarted
  done
}

# Below the range of ports that the system gives to others; taken ones are tried again elsewhere.
for try in 1 2 3 4 5 6 7 8 9 10; do
  port=$((20000 + $(od -An -N2 -tu2 /dev/urandom) % 12000))
  start || continue
  echo "postgresql:///postgres?host=$(echo "$dir" | sed 's,/,%2F,g')&port=$port&user=postgres"
  echo "postgresql://postgres:$password@127.0.0.1:$port/postgres"
  obey
  exit 0
done
cat "$dir/log" >&2
fail "the server did not start"
