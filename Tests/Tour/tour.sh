#!/usr/bin/env bash
# Executes the README's tour against the real binary, as a newcomer would: first start, paste, paste.
set -euo pipefail

binary=$(realpath "${1:?usage: tour.sh BINARY}")
readme=$(dirname "$(realpath "$0")")/../../README.md
readme=$(realpath "$readme")
folder=$(mktemp -d)
server=

finish() {
    code=$?
    # Only the process started below.
    [ -z "$server" ] || { kill -9 "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; }
    [ $code = 0 ] || { echo "tour failed; the server said:" >&2; tail -n 20 "$folder"/out "$folder"/err >&2; }
    rm -rf "$folder"
    exit $code
}
trap finish EXIT

block=$(sed -n '/^<!-- tour: begin -->$/,/^<!-- tour: end -->$/p' "$readme" | sed -n '/^```bash$/,/^```$/p' | sed '1d;$d')
[ -n "$block" ] || { echo "the README has no tour" >&2; exit 1; }

cd "$folder"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
env -u PARLEY_APP_ID -u PARLEY_APP_TOKEN "$binary" serve --listen "127.0.0.1:$port" --data data >out 2>err &
server=$!
for _ in $(seq 200); do
    grep -q '^TOKEN=' out && break
    kill -0 "$server" || { echo "the server ended at start" >&2; exit 1; }
    sleep 0.05
done

# What the first start prints is meant to be pasted.
eval "$(grep -E '^(APP|TOKEN)=' out)"
BASE=$(sed -n 's/^Parley .* serves \(http[^ ]*\).*/\1/p' out)
export APP TOKEN BASE
bash -euo pipefail -c "$(grep '^curl ' out)" >/dev/null || { echo "the printed curl line fails" >&2; exit 1; }
# Through a pipe: the block says `tee /dev/stderr`, which would cut off a log file it leads to.
bash -c "$block" 2>&1 | cat

kill -TERM "$server"
wait "$server" || { echo "SIGTERM gave exit code $?" >&2; exit 1; }
server=
echo "1 passed, 0 failed"
