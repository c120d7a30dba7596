#!/bin/sh
# A PostgreSQL cluster of its own, for tests and benchmarks:
#
#   tools/postgres_cluster.sh [--standby] [name=value ...]        (settings of the server)
#
# Once it takes connections, two lines come on standard output, a connection string each: by unix socket (a folder that only
# its owner enters; no password), and by 127.0.0.1 with a password. It serves until standard input ends, so until whoever
# started it closes it or dies, however that happens; then nothing of it is left. A line "restart" on standard input ends the
# server as a power cut would, starts it again, and is answered by a line "restarted"; "freeze" has it keep its connections and do
# nothing ("frozen") until "thaw" ("thawed"). Run as root, it runs as the user that
# Debian's package makes, since PostgreSQL refuses root.
#
# With --standby there is a second server, which each commit waits for, and the connection strings name both. A line "fail over"
# kills the first one and promotes the second, and is answered by a line "failed over". For a second before that nothing goes
# over the line between the two: what was committed without waiting is lost for certain, not only with bad luck.
set -eu
trap '' INT TERM HUP # of a terminal's group: the end of standard input is the end

fail() { echo "postgres_cluster: $*" >&2; exit 1; }

bin=/usr/lib/postgresql/15/bin
[ -x $bin/postgres ] || fail "PostgreSQL 15 is not there; install Debian's package postgresql-15"

with_standby=
if [ "${1:-}" = --standby ]; then with_standby=yes; shift; fi

dir=$(mktemp -d "${TMPDIR:-/tmp}/presetbridge-pg-XXXXXX")
server= standby=
clean() {
  for pid in $server $standby; do kill -QUIT "$pid" 2>/dev/null || true; done
  [ -z "$server" ] || kill -CONT "$server" $(children) 2>/dev/null || true
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
as_owner() { setpriv $owner --pdeathsig KILL "$@"; }
cd "$dir"
as_owner test -w "$dir" || fail "$dir cannot be entered by the user postgres; set TMPDIR to a folder that can"

password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
(umask 077; echo "$password" >"$dir/password")
[ -z "$owner" ] || chown postgres: "$dir/password"
# Texts sort as words do, as in most clusters: what must sort by bytes has to say so.
as_owner $bin/initdb -D "$dir/data" --no-sync -U postgres --pwfile="$dir/password" --auth-local=trust \
  --auth-host=scram-sha-256 -E UTF8 --locale=C.UTF-8 --locale-provider=icu --icu-locale=en >"$dir/log" 2>&1 || { cat "$dir/log" >&2; fail "initdb failed"; }

settings="-c unix_socket_directories=$dir -c listen_addresses=127.0.0.1 -c max_connections=200 -c logging_collector=off"
# In the folder, where a killed server's goes with it.
settings="$settings -c dynamic_shared_memory_type=mmap"
for setting in "$@"; do settings="$settings -c $setting"; done

give_up() { cat "$dir/log" >&2; fail "$1"; }

# The server must not outlive this shell, even if that is killed: nor begin, where the shell was gone before setpriv could ask for
# the signal. (A shell starts what it does not wait for with SIGQUIT ignored.)
unless_alone='test "$PPID" = "$0" && exec "$@"'

# start FOLDER PORT [setting]: sets `started`, its process.
start() {
  env --default-signal=QUIT setpriv $owner --pdeathsig QUIT sh -c "$unless_alone" $$ $bin/postgres -D "$dir/$1" -p "$2" $settings ${3:+-c "$3"} >>"$dir/log" 2>&1 </dev/null &
  started=$!
  while kill -0 "$started" 2>/dev/null; do
    $bin/pg_isready -q -t 1 -h "$dir" -p "$2" && return 0
    sleep 0.05
  done
  return 1
}

# start_somewhere FOLDER [setting]: sets `port` too. Below the range of ports that the system gives to others; taken ones are
# tried again elsewhere.
start_somewhere() {
  for try in 1 2 3 4 5 6 7 8 9 10; do
    port=$((20000 + $(od -An -N2 -tu2 /dev/urandom) % 12000))
    start "$1" "$port" ${2:+"$2"} && return 0
  done
  give_up "the server did not start"
}

# Asks the first server.
ask() { as_owner $bin/psql -X -q -A -t -h "$dir" -p "$server_port" -U postgres -d postgres -c "$1"; }

start_standby() {
  as_owner $bin/pg_basebackup -D "$dir/standby" --no-sync -c fast -R \
    -d "host=$dir port=$server_port user=postgres application_name=standby" >>"$dir/log" 2>&1 || give_up "pg_basebackup failed"
  start_somewhere standby
  standby=$started
  for try in $(seq 200); do
    [ "$(ask "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'")" = 1 ] && return 0
    sleep 0.05
  done
  give_up "the standby does not follow"
}

# Of the first server.
children() { sed -n "s/^\([0-9]*\) ([^)]*) . $server .*/\1/p" /proc/[0-9]*/stat 2>/dev/null || true; }

restart() {
  kill -QUIT "$server"
  wait "$server" || true
  start $folder "$server_port" $synchronous || give_up "the server did not start again"
  server=$started
}

fail_over() {
  [ -n "$standby" ] || fail "there is no standby"
  sender=$(ask "SELECT pid FROM pg_stat_replication")
  kill -STOP "$sender"
  sleep 1
  segment=$(sed -n '7s/.* //p' "$dir/data/postmaster.pid")
  # All of its processes, as a power cut would: the sender may hold a lock for ever that the others wait for.
  kill -STOP "$server"
  kill -KILL "$server" $(children)
  { wait "$server" || true; } 2>/dev/null # the shell would tell of it
  server=$standby standby= folder=standby server_port=$port synchronous=
  as_owner ipcrm -m "$segment" # its interlock, which a killed server leaves; gone when its last process is
  as_owner $bin/pg_ctl promote -s -D "$dir/standby" >>"$dir/log" 2>&1 || give_up "the standby was not promoted"
}

synchronous=${with_standby:+synchronous_standby_names=standby} folder=data
start_somewhere data $synchronous
server=$started server_port=$port
hosts=$(echo "$dir" | sed 's,/,%2F,g') addresses=127.0.0.1:$port ports=$port which=
if [ -n "$with_standby" ]; then
  start_standby
  hosts=$hosts,$hosts addresses=$addresses,127.0.0.1:$port ports=$ports,$port which=target_session_attrs=read-write
fi
echo "postgresql:///postgres?host=$hosts&port=$ports&user=postgres${which:+&$which}"
echo "postgresql://postgres:$password@$addresses/postgres${which:+?$which}"
while read -r command; do
  case $command in
    restart) restart; echo restarted ;;
    "fail over") fail_over; echo failed over ;;
    freeze) kill -STOP "$server"; kill -STOP $(children); echo frozen ;;
    thaw) kill -CONT $(children) "$server"; echo thawed ;;
    *) fail "there is no command $command" ;;
  esac
done
