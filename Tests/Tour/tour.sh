#!/usr/bin/env bash
# Runs the first conversation of the README and the tour of the quick start against a new server.
set -euo pipefail

binary=$(realpath "${1:?usage: tour.sh BINARY}")
root=$(realpath "$(dirname "$(realpath "$0")")/../..")
folder=$(mktemp -d)
server=

finish() {
    code=$?
    # Ends only the process that was started below.
    [ -z "$server" ] || { kill -9 "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; }
    [ $code = 0 ] || { echo "tour failed; the output of the server was:" >&2; tail -n 20 "$folder"/out "$folder"/err >&2; }
    rm -rf "$folder"
    exit $code
}
trap finish EXIT

# Prints the shell block between the comments `<!-- NAME: begin -->` and `<!-- NAME: end -->` of a file.
block() {
    local text
    text=$(sed -n "/^<!-- $1: begin -->\$/,/^<!-- $1: end -->\$/p" "$root/$2" | sed -n '/^```\(ba\)\?sh$/,/^```$/p' | sed '1d;$d')
    [ -n "$text" ] || { echo "$2 has no block '$1'" >&2; exit 1; }
    printf '%s\n' "$text"
}
first=$(block 'first conversation' README.md)
tour=$(block tour Sources/ParleyServer/ParleyServer.docc/Quickstart.md)

cd "$folder"
# Below the ports that the system gives to clients of other tests.
port=$(cd "$root/Tests/Crash" && python3 -B -c 'from server import fixed_port; print(fixed_port())')
env -u PARLEY_APP_ID -u PARLEY_APP_TOKEN "$binary" serve --listen "127.0.0.1:$port" --data data >out 2>err &
server=$!
for _ in $(seq 1200); do
    grep -q '^TOKEN=' out && break
    kill -0 "$server" || { echo "the server ended at start" >&2; exit 1; }
    sleep 0.05
done

# The first start prints variables and a curl command.
eval "$(grep -E '^(APP|TOKEN)=' out)"
BASE=$(sed -n 's/^Parley .* serves \(http[^ ]*\).*/\1/p' out)
export APP TOKEN BASE
bash -euo pipefail -c "$(grep '^curl ' out)" >/dev/null || { echo "the printed curl command fails" >&2; exit 1; }

# The five calls must succeed; the last one lists the events of the others.
calls=${first//http:\/\/127.0.0.1:8080/"$BASE"}
[ "$calls" != "$first" ] || { echo "the README's calls do not name http://127.0.0.1:8080" >&2; exit 1; }
output=$(bash -euo pipefail -c "$calls")
for expected in '"body":"Hello, Bo"' '"type":"conversation.created"' '"type":"message.sent"' '"user_id":"ana"'; do
    [[ $output == *"$expected"* ]] || { printf 'the output of the five calls lacks %s:\n%s\n' "$expected" "$output" >&2; exit 1; }
done

# Through a pipe, because `tee /dev/stderr` in the block would truncate a file that stderr is redirected to.
bash -c "$tour" 2>&1 | cat

kill -TERM "$server"
wait "$server" || { echo "SIGTERM gave exit code $?" >&2; exit 1; }
server=
echo "1 passed, 0 failed"
