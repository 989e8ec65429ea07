#!/usr/bin/env bash
# Tests that promtool accepts the metrics, that the log contains no secrets, and that a full log pipe delays nothing.
# The harness unsets it.
rounds=${PARLEY_TEST_ROUNDS:-}
. "$(dirname "$0")/harness.sh"
status() { curl -s -o /dev/null -m 60 -w '%{http_code}' "$@"; }

# Starts a server; the first argument is the file or pipe of its log.
start() {
    local log=$1
    shift
    "$binary" serve --listen "127.0.0.1:$port" --set "metrics.listen=127.0.0.1:$metrics_port" "$@" >out 2>"$log" &
    server=$!
    # Waits for the last line of output as well, because the server listens before it prints.
    for _ in $(seq 1200); do
        grep -q ' serves ' out && [ "$(status "$base/health/ready")" = 200 ] && return
        sleep 0.05
    done
    echo "the server does not start" >&2; cat out >&2; exit 1
}

# Prints the value of a sample from the metrics listener.
sample() { curl -s -m 60 "$metrics" | grep -v '^#' | grep -F -- "$1 " | sed 's/.* //'; }

port=$(free_port)
metrics_port=$(free_port)
base=http://127.0.0.1:$port
metrics=http://127.0.0.1:$metrics_port/metrics
# The exchanges exceed the rate limit of a token.
export PARLEY_METRICS_TOKEN=a-token-for-the-metrics PARLEY_API_RATE_LIMIT=0

start err --data data --log-level trace
app=$(sed -n 's/^APP=//p' out)
token=$(sed -n 's/^TOKEN=//p' out)
other=$("$binary" app create --data data other | sed -n 's/^APP=//p')
suspended=$("$binary" app create --data data suspended | sed -n 's/^APP=//p')
create_token() { "$binary" token create --data data "$@" | sed -n 's/^TOKEN=//p'; }
PARLEY_TEST_ROUNDS=$rounds python3 "$tests/replay_exchanges.py" "127.0.0.1:$port" "$tests/../PlatformAPITests/Exchanges" \
    base="$base" docs=x app="$app" APP="${app^^}" other_app="$other" suspended_app="$suspended" \
    token="$token" read_token="$(create_token --app "$app" --scope read)" write_token="$(create_token --app "$app" --scope write)" \
    other_token="$(create_token --app "$other")" suspended_token="$(create_token --app "$suspended")" expired_token=never-was >secrets
check 'the recorded exchanges were sent' test -s secrets
printf 'GET /a\033[31m\xe2\x80\xa8\xff?%s HTTP/9\r\n\r\n' "$token" | python3 -c '
import socket, sys
peer = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
peer.sendall(sys.stdin.buffer.read())
while peer.recv(4096): pass' "$port"

session=$("$binary" dev-login --data data --app "$app" --user ana | sed -n 's/^SESSION=//p')
check 'a token in a query opens a feed' test "$(status "$base/events?session_token=$session")" = 200
# The connection stays open, so that curl ends it.
opens_websocket() {
    test 101 = "$(status -m 3 -H 'Connection: Upgrade' -H 'Upgrade: websocket' -H 'Sec-WebSocket-Version: 13' \
        -H 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==' -H 'Sec-WebSocket-Protocol: layer-3.0' "$base/websocket?session_token=$session")"
}
check 'a token in a query opens a WebSocket' eventually opens_websocket
echo "$session" >>secrets

curl -s -m 60 "$metrics" >page
check 'promtool reports no problem of the metrics' test -z "$(promtool check metrics <page 2>&1 || echo "promtool: $?")"
check 'H212: requests are counted by route template' \
    grep -qF 'parley_requests_total{route="/apps/{app}/conversations",method="POST",class="2xx"}' page
check 'H212: no id is a label' test -z "$(grep -E '[0-9a-f]{8}-[0-9a-f]{4}-' page)"
check 'database commits are counted' test "$(sample parley_database_commits_total)" -gt 50
check 'a refused head is counted' test "$(sample 'parley_requests_total{route="none",method="other",class="4xx"}')" -ge 1
check 'OpenMetrics is sent to clients that accept it' grep -qx '# EOF' <(curl -s -m 60 -H 'Accept: application/openmetrics-text' "$metrics")
check 'metrics require their token' test "$(status "$base/metrics")" = 401
check 'the metrics token gives access' test "$(status -H "Authorization: Bearer $PARLEY_METRICS_TOKEN" "$base/metrics")" = 200
check 'the metrics listener serves nothing else' test "$(status "${metrics%/metrics}/health/live")" = 404
stop
unset PARLEY_METRICS_TOKEN PARLEY_API_RATE_LIMIT

python3 - <<'P'
import json
lines = [json.loads(line) for line in open("err", "rb").read().decode().split("\n") if line]
requests = [line for line in lines if line["message"] == "request"]
assert len(requests) > 300, len(requests)
for line in requests:
    missing = {"time", "id", "method", "route", "status", "bytes_in", "bytes_out", "duration_us", "client"} - line.keys()
    assert not missing, missing
assert len({line["id"] for line in requests}) == len(requests)
# Only lines of authenticated requests have the ids of application and token.
for line in requests:
    assert ("application" in line) == ("token_id" in line), line
    assert line["status"] != 401 or "application" not in line, line
owned = [line for line in requests if "token_id" in line]
assert len(owned) > 100 and all(len(line[name]) == 36 for line in owned for name in ("application", "token_id"))
assert {"/apps/{app}/conversations", "/apps/{app}/users/{user}/conversations"} & {line["route"] for line in owned}
assert any("user" in line for line in requests) and any("closing" in line for line in requests)
P
check 'H206: each request has one line with all members' test $? = 0
check 'H208: no token, cookie, query or signed URL is in the log at any level' test -z "$(grep -F -f secrets err)"
check 'H208: no body is in the log at any level' test -z "$(grep -v '"message":"started"' err | grep -E '"participants|mime_type|upload_url')"
check 'H206: the line of a refused head has its rule and its beginning' grep -qE '"status":400.*"bytes_in":[0-9]+.*"closing":"H[0-9]+".*"beginning":"GET /a' err
check 'H207: no control character of a client is in the log' test -z "$(LC_ALL=C grep -P '[\x00-\x08\x0b-\x1f\x7f]|\xe2\x80\xa8' err)"
check 'H207: control characters of a client are logged escaped' grep -qF 'GET /a\u001b[31m\u2028' err

# A log pipe that is open but never read, so that it is full. The requests log 3 MB: more than the 1 MiB that is being
# written and the 1 MiB that waits.
mkfifo pipe
exec 4<>pipe
start pipe --data data
python3 - "$port" <<'P'
import socket, sys
for _ in range(2):
    peer = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=120)
    answers = b""
    for batch in range(60):
        peer.sendall(b"GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n" * 100)
        while answers.count(b"HTTP/1.1 404") < 100 * (batch + 1):
            piece = peer.recv(1 << 16)
            assert piece
            answers += piece
P
check 'H209: a log that is not read delays no request' test $? = 0
check 'H209: dropped log lines are counted' test "$(sample parley_log_lines_dropped_total)" -gt 0
kill -TERM "$server"
has_ended() { ! kill -0 "$server" 2>/dev/null; }
check 'H209: a log that is not read does not delay the stop' eventually has_ended
exec 4>&-

echo "$passed passed, $failed failed"
[ $failed = 0 ]
