#!/bin/bash
# Runs a PostgreSQL server with a temporary folder and a Unix socket, and prints its URL. It ends when its
# standard input ends; then all its files are removed. The input is a pipe from the process that starts this
# script, so the server ends with that process, even when it is killed.
#
# The lines "stop", "crash" and "start" control the server; each is answered by the same line when it is done.
#
# The role "parley" needs no password, "keeper" with "sesame" (SCRAM), also over TCP on a
# separate port of the loopback, with or without TLS; the certificate is server.crt beside the socket.
#
# PARLEY_POSTGRES_WAL names an empty folder for its write-ahead log, in segments of 1 MiB;
# PARLEY_POSTGRES_BUFFERS is the size of its shared buffers, 64MB by default; PARLEY_POSTGRES_PARENT is the folder in
# which its own folder is created.
set -eu

for bin in $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -rV) "$(dirname "$(command -v initdb || true)")"; do
    [ -x "$bin/initdb" ] && [ -x "$bin/postgres" ] && break
done
[ -x "$bin/initdb" ] || { echo "there is no initdb; install the package postgresql" >&2; exit 1; }

# In /dev/shm if 4 GiB are free there. The server still syncs, and no test depends on what a power failure loses.
root=/tmp
free=$(df --output=avail -k /dev/shm 2> /dev/null | tail -n 1) || free=0
[ "${free:-0}" -lt 4194304 ] || [ ! -w /dev/shm ] || root=/dev/shm
root=${PARLEY_POSTGRES_PARENT:-$root}
folder=$(mktemp -d "$root/parley-postgres-XXXXXX")
chmod 755 "$folder"
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# PostgreSQL refuses to run as root. It gets SIGINT if this shell is killed.
as=(setpriv --pdeathsig INT)
if [ "$(id -u)" = 0 ]; then
    chown nobody "$folder"
    as=(setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups --pdeathsig INT)
fi

"${as[@]}" "$bin/initdb" -D "$folder/data" -U parley --auth=trust -E UTF8 --locale=C --no-sync \
    ${PARLEY_POSTGRES_WAL:+-X "$PARLEY_POSTGRES_WAL" --wal-segsize=1} \
    > "$folder/initdb.log" 2>&1 || { cat "$folder/initdb.log" >&2; exit 1; }
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 7 -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout "$folder/server.key" -out "$folder/server.crt" \
    2> /dev/null || { echo "there is no openssl" >&2; exit 1; }
chmod 600 "$folder/server.key"
[ "$(id -u)" != 0 ] || chown nobody "$folder/server.key"
# Below the ports that the kernel gives to clients: one of those could be taken while the server restarts.
port=$(python3 -c '
import random, socket
while True:
    port = random.randrange(10000, 32768)
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            continue
    print(port)
    break')

cat > "$folder/data/pg_hba.conf" <<'RULES'
local all keeper scram-sha-256
local all all trust
host all keeper 127.0.0.1/32 scram-sha-256
RULES
cat >> "$folder/data/postgresql.conf" <<SETTINGS
listen_addresses = '127.0.0.1'
port = $port
ssl = on
ssl_cert_file = '$folder/server.crt'
ssl_key_file = '$folder/server.key'
unix_socket_directories = '$folder'
fsync = on
max_connections = 1500
max_locks_per_transaction = 256
shared_buffers = ${PARLEY_POSTGRES_BUFFERS:-64MB}
max_wal_size = 512MB
SETTINGS

start() {
    "${as[@]}" "$bin/postgres" -D "$folder/data" >> "$folder/server.log" 2>&1 < /dev/null &
    server=$!
    for _ in $(seq 1200); do
        "$bin/psql" -q -h "$folder" -p "$port" -U parley -d postgres -c "SELECT 1" > /dev/null 2>&1 && return
        kill -0 $server 2>/dev/null || break
        sleep 0.05
    done
    cat "$folder/server.log" >&2
    exit 1
}

stop() {
    kill -"$1" $server 2>/dev/null || true
    wait $server || true
}

start
"$bin/psql" -q -h "$folder" -p "$port" -U parley -d postgres \
    -c "CREATE ROLE keeper SUPERUSER LOGIN PASSWORD 'sesame'" \
    -c "CREATE DATABASE parley TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'" > /dev/null
echo "postgres://parley@/parley?port=$port&host=$folder"

while read -r command; do
    case $command in
    stop) stop INT ;;
    # Like a power failure: the server recovers from its log at the next start.
    crash) stop QUIT ;;
    start) start ;;
    esac
    echo "$command"
done
stop INT
