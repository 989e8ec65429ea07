#!/usr/bin/env bash
# Tests commands, exit codes, errors (one line each), signals, reloads and limits of the binary.
. "$(dirname "$0")/harness.sh"

start() {
    "$binary" serve --listen "127.0.0.1:$port" "$@" >out 2>err &
    server=$!
    # Waits for the last line of output as well, because the server listens before it prints.
    for _ in $(seq 1200); do
        grep -q ' serves ' out && [ "$(status "http://127.0.0.1:$port/health/ready")" = 200 ] && return
        sleep 0.05
    done
    echo "the server does not start" >&2; cat out err >&2; exit 1
}

status() { curl -s -o /dev/null -m 60 -w '%{http_code}' "$@"; }
# Prints the status of a request with a token to a path below /apps/; further arguments are options of curl.
api() {
    local token=$1 path=$2
    shift 2
    status -H "Authorization: Bearer $token" -H 'Accept: application/vnd.layer+json; version=3.0' "$@" "http://127.0.0.1:$port/apps/$path"
}

# Expects that a command fails with exactly one line that matches a pattern.
fails_with() {
    local pattern=$1
    shift
    timeout 120 "$binary" "$@" >discarded 2>output
    local code=$?
    [ $code -ne 0 ] && [ $code -lt 124 ] && [ "$(wc -l <output)" = 1 ] && grep -qE "^parley: $pattern" output
}

port=$(free_port)
base=http://127.0.0.1:$port
known=00000000-0000-4000-8000-000000000000

check 'check-config accepts the defaults' "$binary" check-config >/dev/null
check 'check-config checks the URL of the database' fails_with \
    'the database of database.url cannot be used: the URL is not understood: there is no such port' \
    check-config --set database.url=postgres://me:sesame@db:none/parley
"$binary" check-config --set http.backlog=0 --set color=red --log-level loud >discarded 2>output
check 'check-config fails on errors' test $? -ne 0
check 'check-config reports every error' test "$(wc -l <output)" = 3
check 'an invalid setting is reported in one line' fails_with 'setting http.backlog = 0: must be ' serve --set http.backlog=0 --data data
check 'X14: the development login is refused with an https URL' fails_with \
    'setting api.dev_login = true: api.dev_login must be false when public_url is https' serve --set api.dev_login=true --public-url https://chat.example.com --data data
check 'a missing settings file is reported in one line' fails_with 'the settings file nowhere.json cannot be read' serve --config nowhere.json
printf 'a-token-of-the-environment\n' >token
check 'a secret is read from a file' env "PARLEY_APP_ID=$known" PARLEY_APP_TOKEN_FILE=token "$binary" check-config >discarded
PARLEY_APP_ID=$known PARLEY_APP_TOKEN_FILE=hidden check 'a missing secret file is reported in one line' fails_with \
    'setting app.token_file = hidden: must name a file that can be read ' serve --data data
PARLEY_HTTP_LISTN=127.0.0.1:80 check 'an unknown variable is reported in one line' fails_with \
    'setting PARLEY_HTTP_LISTN: there is no such variable; the nearest is PARLEY_HTTP_LISTEN ' check-config
printf '{"http": {"lisetn": "127.0.0.1:80"}}' >misspelt.json
check 'an unknown name in the file is reported in one line' fails_with \
    'setting http.lisetn: there is no such setting; the nearest is http.listen \(misspelt.json:1\)$' check-config --config misspelt.json
check 'an unknown name of --set is reported in one line' fails_with \
    'setting http.lisetn = 127.0.0.1:80: there is no such setting; the nearest is http.listen \(flag --set\)$' check-config --set http.lisetn=127.0.0.1:80
touch file
check 'a data folder that is a file is reported in one line' fails_with \
    'the data folder file is a file, not a folder: choose another with data.folder$' serve --data file
check 'a data folder below a file is reported in one line' fails_with \
    'the data folder file/data cannot be created below a file: choose another with data.folder$' serve --data file/data
check 'a command for a folder below a file is reported in one line' fails_with \
    'the data folder file/data cannot be created below a file: choose another with data.folder$' app create --data file/data first
check 'a folder of certificates below a file is reported in one line' fails_with \
    'the folder file/pair cannot be created below a file: name another one$' dev-cert --out file/pair

# Expects that check-config and serve both fail and print the same lines; the first argument is their number.
refused_alike() {
    local lines=$1
    shift
    timeout 120 "$binary" check-config "$@" >discarded 2>check_output
    local checking=$?
    timeout 120 "$binary" serve "$@" >discarded 2>output
    local serving=$?
    [ $checking = 1 ] && [ $serving = 1 ] && cmp -s check_output output && [ "$(wc -l <output)" = "$lines" ]
}
bucket=(--set s3.access_key=a --set s3.secret_key=b)
PARLEY_S3_BUCKET=b check 'check-config and serve refuse the name of a bucket that is too short' refused_alike 1 "${bucket[@]}"
check 'check-config and serve refuse authorities that are missing' refused_alike 2 --set s3.bucket=bucket "${bucket[@]}" \
    --set s3.authorities=no.pem --set webhooks.authorities=no.pem
check 'check-config and serve refuse missing certificates and keys' refused_alike 2 --set tls.listen=127.0.0.1:0 --set tls.certificates=no.pem --set tls.keys=no.pem
check 'check-config and serve refuse a data folder that is a file' refused_alike 1 --data file
check 'check-config and serve refuse a data folder that cannot be written' refused_alike 1 --data /proc/data
check 'check-config and serve refuse a missing file of the database' refused_alike 1 --set database.url_file=none
check 'check-config and serve refuse an address of another machine' refused_alike 1 --listen 192.0.2.1:8080
check 'check-config and serve refuse a Unix socket that is a file' refused_alike 1 --listen unix:file
check 'the file in place of the Unix socket is not removed' test -f file
SWIFT_DETERMINISTIC_HASHING=1 check 'check-config and serve refuse deterministic hashing' refused_alike 1
check 'check-config lists all mistakes' refused_alike 4 --set http.backlog=0 --data file --listen unix:file --set webhooks.authorities=no.pem
check 'a data folder that cannot be created is reported in one line' fails_with 'the data folder /proc/none/data ' serve --data /proc/none/data
check 'a data folder that cannot be written is reported in one line' fails_with 'the data folder /proc/data ' serve --data /proc/data
SWIFT_DETERMINISTIC_HASHING=1 check 'H188: deterministic hashing is refused' fails_with 'SWIFT_DETERMINISTIC_HASHING ' serve --data data
check 'commands require a database' fails_with 'there is no database in data' app list --data data
check 'healthcheck fails when no server answers' fails_with "127.0.0.1:$port does not answer" healthcheck --listen "127.0.0.1:$port"

check 'the error of two contradicting settings names both' fails_with \
    'setting http.handler_timeout = 61s: http.handler_timeout must not be above http.request_timeout' \
    check-config --set http.handler_timeout=61s
check 'ruling 36: a proxy without public_url is a warning' bash -c "'$binary' check-config --set http.trusted_proxies=10.0.0.1 2>output >discarded && grep -q 'parley: warning: http.trusted_proxies is set and public_url is not' output && grep -q 'settings are valid' discarded"
check 'ruling 36: a proxy with public_url is no warning' bash -c "'$binary' check-config --set http.trusted_proxies=10.0.0.1 --public-url https://chat.example.com 2>output >discarded && test ! -s output"
check 'check-config creates nothing' test -z "$(ls -A | grep -E '^(data|\.parley)')"
check 'the error of a folder that cannot be created has path, reason and advice' fails_with \
    'the data folder /proc/none/data cannot be created there \(No such file or directory\): choose another with data.folder$' serve --data /proc/none/data
check 'the error of a missing import file has path and reason' fails_with 'the file nowhere.jsonl cannot be read: No such file or directory' import nowhere.jsonl --data other
check 'no error has a number of errno' test -z "$(timeout 120 "$binary" serve --data /proc/data 2>&1 | grep -i errno)"

# Starts a server on a new data folder, and runs the curl command that it prints.
check_printed_curl() {
    local name=$1
    shift
    # Otherwise the loop could read the output of the previous server.
    rm -rf pasted out
    timeout 300 "$binary" serve --data pasted "$@" >out 2>err &
    server=$!
    for _ in $(seq 1200); do grep -qs '^curl ' out && break; sleep 0.05; done
    grep '^curl ' out >curl_command
    bash curl_command >answer 2>output
    cat answer err >>output
    check "the curl of the first start works $name" grep -q '"id":"layer:///conversations/' answer
    stop
}
mkdir 'a b'
"$binary" dev-cert --out 'a b/pair' --host chat.test >discarded
tls=(--set "tls.listen=127.0.0.1:$(free_port)" --set 'tls.certificates=a b/pair/cert.pem' --set 'tls.keys=a b/pair/key.pem')
check_printed_curl 'without settings' --listen "127.0.0.1:$port"
check_printed_curl 'on all addresses' --listen "0.0.0.0:$port"
check_printed_curl 'on IPv6' --listen "[::1]:$port"
check_printed_curl 'on a Unix socket' --listen "unix:$folder/a b/socket"
check_printed_curl 'with allowed hosts' --listen "127.0.0.1:$port" --set http.allowed_hosts=chat.test
check_printed_curl 'with the certificate of dev-cert' --listen "127.0.0.1:$port" "${tls[@]}"
check 'the printed curl trusts the certificate of dev-cert' grep -qF -- "--cacert 'a b/pair/cert.pem' https://127.0.0.1:" curl_command
check_printed_curl 'with TLS and a public URL' --listen "127.0.0.1:$port" "${tls[@]}" --public-url https://chat.test
check 'the URLs of the answer start with the public URL' grep -q '"url":"https://chat.test/apps/' answer
check_printed_curl 'with a public URL' --listen "127.0.0.1:$port" --public-url http://chat.test:8080/base
check_printed_curl 'behind TLS of a proxy' --listen "127.0.0.1:$port" --public-url https://chat.test

# Limits and hosts from settings (rulings 35, 36).
start --data limits --set api.max_participants=2 --set uploads.max_upload_size=4KiB --set http.trusted_proxies=127.0.0.1 --set http.forwarded_from=x-forwarded
app=$(sed -n 's/^APP=//p' out)
token=$(sed -n 's/^TOKEN=//p' out)
request() {
    local path=$1
    shift
    curl -s -m 60 -H "Authorization: Bearer $token" -H 'Accept: application/vnd.layer+json; version=3.0' "$@" "$base/$path"
}
check 'ruling 35: the settings limit the participants' grep -q 'a conversation has 1 to 2[.]' <(request "apps/$app/conversations" -d '{"participants":["a","b","c"]}')
check 'ruling 35: the OpenAPI description has the limit' grep -q '"maxItems":2[,}]' <(curl -s "$base/openapi.json")
made=$(request "apps/$app/conversations" -d '{"participants":["a","b"]}' -H 'X-Forwarded-For: 192.0.2.1' -H 'X-Forwarded-Proto: https' -H 'X-Forwarded-Host: chat.example.com')
check 'ruling 36: links take host and scheme from a trusted proxy' grep -q '"url":"https://chat.example.com/apps/' <<<"$made"
check 'ruling 36: a Host field alone changes no link' grep -q "\"self\":\"$base/\"" <(curl -s -H 'Host: evil.example' "$base/")
conversation=$(grep -oE 'conversations/[0-9a-f-]{36}' <<<"$made" | head -n 1)
check 'ruling 35: uploads.max_upload_size limits an announced content' grep -q 'above the limit of 4,096 bytes' <(request "apps/$app/$conversation/content" -X POST -H 'Upload-Content-Type: a/b' -H 'Upload-Content-Length: 4097')
check 'the start event has the limits in force' python3 -c '
import json
line = next(line for line in map(json.loads, open("err")) if line["message"] == "started")
for name, value in {"api.max_participants": "2", "uploads.max_upload_size": "4KiB", "data.folder": "limits", "engine": "sqlite"}.items():
    assert line[name] == value, line
assert line["http.listen"].startswith("127.0.0.1:") and line["version"], line
'
check 'ruling 36: the start warns of a missing public_url' grep -q 'http.trusted_proxies is set and public_url is not' err
check 'a server with limits stops with exit code 0' stop

start --data data
app=$(sed -n 's/^APP=//p' out)
token=$(sed -n 's/^TOKEN=//p' out)
check 'X12: the first start prints an application and its token' test "$(api "$token" "$app/users/ana/conversations")" = 404
check 'healthcheck succeeds while the server is ready' "$binary" healthcheck --listen "127.0.0.1:$port"
check 'an address in use is reported in one line' fails_with "cannot listen on 127.0.0.1:$port: the address is in use" serve --listen "127.0.0.1:$port" --data other
check 'a data folder in use is reported in one line' fails_with 'the data folder data is already in use by process ' serve --listen "127.0.0.1:$(free_port)" --data data

check 'X12: applications are listed while a server runs' grep -q "$app" <("$binary" app list --data data)
second=$("$binary" app create --data data 'The second one' | sed -n 's/^APP=//p')
read_token=$("$binary" token create --data data --app "$app" --scope read --expires 1h | sed -n 's/^TOKEN=//p')
check 'X12: a token created while a server runs gives access to its application' test "$(api "$read_token" "$app/users/ana/conversations")" = 404
check 'X12: a token gives no access to another application' test "$(api "$read_token" "$second/users/ana/conversations")" = 403
check 'X12: a token with scope read may not write' test "$(api "$read_token" "$app/conversations" -d '{}')" = 403
check 'X14: dev-login prints a session token' grep -qx 'SESSION=[A-Za-z0-9_-]\{43\}' \
    <("$binary" dev-login --data data --app "$app" --user ana)
check 'X14: dev-login names an unknown application' fails_with 'there is no application ' \
    dev-login --data data --app 00000000-0000-4000-8000-000000000000 --user ana
check 'X12: secrets are never listed' test -z "$("$binary" token list --data data --app "$app" | grep "$read_token")"
check 'an unknown application is reported in one line' fails_with "there is no application $known" token create --data data --app "$known"
check 'an unknown scope is reported in one line' fails_with 'the scope of a token is one of read, write, admin' token create --data data --app "$app" --scope all
check 'an expiry in the past is reported in one line' fails_with '2001-01-01T00:00:00Z is in the past' token create --data data --app "$app" --expires 2001-01-01T00:00:00Z
id=$("$binary" token list --data data --app "$app" | awk '$2 == "read" { print $1 }')
"$binary" token revoke --data data --app "$app" "$id" >discarded
"$binary" app suspend --data data "$app" >discarded
sleep 1.2
check 'X12: a revoked token is refused a second later' test "$(api "$read_token" "$app/users/ana/conversations")" = 401
check 'X12: a suspended application is refused a second later' test "$(api "$token" "$app/users/ana/conversations")" = 403
"$binary" app suspend --lift --data data "$app" >discarded

check 'the log has a line for each event' grep -qE "^[0-9T:-]{19}Z Access: The server created token $id with scope read\.\$" <("$binary" log --data data --app "$app")
check 'the log of an unknown application is an error of one line' fails_with "there is no application $known" log --data data --app "$known"
check 'a position after the end of the log is reported in one line' fails_with 'the log ends before position 99999' log --data data --app "$app" --after 99999
"$binary" log --data data --app "$app" --follow >lines 2>output &
follower=$!
sleep 1.2
made=$(curl -s -H "Authorization: Bearer $token" -H 'Accept: application/vnd.layer+json; version=3.0' "$base/apps/$app/conversations" -d '{"participants": ["ana"]}' | sed -E 's/.*"id":"layer:\/\/\/conversations\/([^"]*)".*/\1/')
api "$token" "$app/conversations/$made/messages" -d '{"sender_id": "layer:///identities/ana", "parts": [{"mime_type": "a/b", "body": "hi"}]}' >discarded
eventually grep -q 'a message' lines
kill "$follower"
wait "$follower" 2>/dev/null
check 'log --follow prints new lines while a server runs' grep -qE "^[0-9T:-]{19}Z Sync: User ana created a message in conversation $made\.\$" lines
check 'log --follow prints no line twice' test "$(sort lines | uniq -d | wc -l)" = 0

check 'missing download keys are not rotated' fails_with 'the file elsewhere/download-keys is missing' download-key rotate --data elsewhere
check '9.6: download keys are rotated while a server runs' test "$("$binary" download-key rotate --data data | cut -f2 | tr '\n' ' ')" = 'signing next retired '
kill -HUP "$server"
check '9.6: the server reads the download keys again on SIGHUP' eventually grep -q 'download keys reloaded' err
check '9.6: --forget removes retired download keys' test "$("$binary" download-key rotate --forget --data data | cut -f2 | tr '\n' ' ')" = 'signing next '

status "$base/health/live?token=abcdefgh" -H 'Authorization: Bearer abcdefgh' >discarded
status "$base/uploads/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" -X PUT >discarded
printf 'GET /uploads/abcdefghijkl?token=%s HTTP/9\r\nCookie: %s\r\n\r\n' "$token" "$token" | python3 -c '
import socket, sys
peer = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
peer.sendall(sys.stdin.buffer.read())
while peer.recv(4096): pass' "$port"
check 'H194: SIGTERM ends an idle server with exit code 0' stop
check 'H206: a request line has the template of its route' grep -q '"route":"/uploads/{token}"' err
check 'H206: a refused head is logged with its rule and the beginning of its request line' grep -qF '"beginning":"GET /uploads/abcdef…' err
check 'H206: the line of a request on behalf of a user has the user' grep -qF '"user":"ana"' err
check 'H208: no token is in the log' test "$(grep -cE "$token|$read_token|abcdefgh|AAAAAAA" err)" = 0
check 'the log has one start event with version, engine, address and folder' python3 -c 'import json, sys
[event] = [event for event in map(json.loads, open("err")) if event["message"] == "started"]
output = json.dumps(event)
assert all(text in output for text in ("\"sqlite\"", "\"version\"", sys.argv[1], "\"data\"", "http.max_connections")), output' "127.0.0.1:$port"
check 'the log ends with the only stop event' python3 -c 'import json
events = [json.loads(line) for line in open("err")]
assert [event["message"] for event in events].count("stopped") == 1 and events[-1]["message"] == "stopped", events[-1]'
check 'H207: each line of the log is one JSON object' python3 -c 'import json; [json.loads(line) for line in open("err")]'

# A request runs until its body has arrived, so a stopping server waits for it.
start --data data --set http.body_idle_timeout=10m --set http.body_grace=10m --set http.request_timeout=10m \
    --set http.shutdown_deadline=10m
exec 3<>"/dev/tcp/127.0.0.1/$port"
printf 'POST /apps/%s/conversations HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\nAccept: application/vnd.layer+json; version=3.0\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n' "$app" "$token" >&3
read -r -t 60 interim <&3
check 'the server waits for the body' test "$interim" = $'HTTP/1.1 100 Continue\r'
kill -TERM "$server"
check 'H194: the signal is logged' eventually grep -qF '"message":"stopping"' err
sleep 0.2
check 'H194: a stopping server waits for a running request' kill -0 "$server"
kill -TERM "$server"
has_ended() { ! kill -0 "$server" 2>/dev/null; }
check 'H195: a second signal ends the server at once' eventually has_ended
exec 3>&-
kill -9 "$server" 2>/dev/null
wait "$server" 2>/dev/null
server=

# Settings that a running server reloads.
wait_for_log() { eventually grep -qF "$1" err; }
write_settings() { printf '%s' "$1" >settings.json; }
send_request() { printf 'GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n' >&3; }
write_settings '{}'
start --data data --config settings.json
exec 3<>"/dev/tcp/127.0.0.1/$port"
send_request
write_settings '{"http": {"max_header_fields": 2}, "data": {"readers": 3}}'
kill -HUP "$server"
check 'H196: a reload is logged' wait_for_log 'settings reloaded'
check 'H196: a reloaded limit applies' test "$(status "$base/health/live")" = 431
check 'H196: a setting that needs a restart is logged' grep -q '"setting needs a restart".*data.readers' err
write_settings '{"http": {"max_header_fields": 0, "color": "red"}}'
kill -HUP "$server"
check 'H196: an invalid reload is logged' wait_for_log 'settings not reloaded'
check 'H196: every error is a line' test "$(grep -c '"message":"setting http' err)" = 2
check 'H196: the old settings stay in force' test "$(status "$base/health/live")" = 431
send_request
send_request
check 'H196: a connection stays open during a reload' test "$(timeout 60 grep -m 3 -c 'HTTP/1.1 200' <&3)" = 3
exec 3>&-
write_settings '{}'
kill -HUP "$server"
sleep 0.5
check 'a server stops with exit code 0 after reloads' stop

# A server with fewer free descriptors than opened connections.
start --data data
# Lowered after the start, because a server reserves descriptors at its start.
prlimit --pid "$server" --nofile=$(($(find "/proc/$server/fd" -mindepth 1 | wc -l) + 30)):
ticks() { echo $(($(cut -d ' ' -f 14,15 "/proc/$server/stat" | tr ' ' +))); }
began=$SECONDS
# The connections stay open while descriptor 4 is.
mkfifo held
exec 4<>held
python3 -c 'import socket, sys
connections = [socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for _ in range(60)]
sys.stdin.read()' "$port" <held 4>&- &
clients=$!
check 'H183: a lack of descriptors is logged' wait_for_log 'connections cannot be accepted'
before=$(ticks)
sleep 1
check 'H183: a server without descriptors does not spin' test $(($(ticks) - before)) -lt 50
exec 4>&-
wait $clients
# Retries, because each loop has its own accept queue: connections that still wait in the other queue may use
# up the descriptors again for a moment.
is_live() { [ "$(status "$base/health/live")" = 200 ]; }
check 'H183: the server accepts again when descriptors are free' eventually is_live
check 'H183: the lack of descriptors is logged once in ten seconds' \
    test "$(grep -c 'connections cannot be accepted' err)" -le $((1 + (SECONDS - began) / 10))
stop

# Application and token from the environment, as in a container.
export PARLEY_APP_ID=$known PARLEY_APP_TOKEN=a-token-of-the-environment PARLEY_LOG_LEVEL=debug
start --data environment
check 'X12: the environment creates an application and its token' test "$(api $PARLEY_APP_TOKEN $known/users/ana/conversations)" = 404
check 'X12: the first start creates only the application of the environment' test "$("$binary" app list --data environment | wc -l)" = 1
status_of_plain_request() { status "$base/apps/$known/conversations" -H "Authorization: Bearer $PARLEY_APP_TOKEN" -d '{"participants": ["ana", "bo"]}' "$@"; }
check 'a request without a version is served as version 3.0' test "$(status_of_plain_request)" = 201
stop
export PARLEY_API_STRICT_ACCEPT=true
start --data environment
unset PARLEY_API_STRICT_ACCEPT
check 'api.strict_accept refuses a request without a version' test "$(status_of_plain_request)" = 406
check 'api.strict_accept accepts a request with a version' test "$(status_of_plain_request -H 'Accept: application/vnd.layer+json; version=2.0')" = 201
check 'X12: a second start with the same environment creates no other token' test "$("$binary" token list --data environment --app $known | wc -l)" = 1
check 'a server with strict_accept stops with exit code 0' stop
check 'app.id requires app.token' env -u PARLEY_APP_TOKEN bash -c "! '$binary' check-config 2>/dev/null"

unset PARLEY_APP_ID PARLEY_APP_TOKEN PARLEY_LOG_LEVEL

# The operators of the console, managed while a server runs.
start --data operators
# Sends a request to the API of the console; prints its status. Further arguments are options of curl.
console() {
    local path=$1
    shift
    status -H 'X-Parley-Console: 1' -H "Origin: ${origin:-$base}" -H 'Content-Type: application/json' -b cookies -c cookies "$@" "$base/console/api/$path"
}
first_link=$(sed -n 's/^Log in to the console (this link works once, within an hour): //p' out)
check 'the first start prints a link to the console' bash -c "[[ '$first_link' == http://127.0.0.1:$port/console/login#once=* ]]"
check 'the link of the first start logs in' test "$(console session -d "{\"once\":\"${first_link##*=}\"}")" = 200
check 'a link logs in once' test "$(status -H 'X-Parley-Console: 1' -H 'Content-Type: application/json' -d "{\"once\":\"${first_link##*=}\"}" "$base/console/api/session")" = 401
check 'the cookie is valid' test "$(console session)" = 200
check 'operators are listed' test "$("$binary" console list --data operators | cut -f 1-3)" = "$(printf 'admin\tadmin\tno password')"
check 'console link prints a link' bash -c "'$binary' console link --data operators --listen 127.0.0.1:$port | grep -q '^http://127.0.0.1:$port/console/login#once=[A-Za-z0-9_-]\{43\}$'"
check 'console link uses the public URL' bash -c "'$binary' console link --data operators --public-url https://chat.example.com | grep -q '^https://chat.example.com/console/login#once='"
check 'a password that is too short is refused' fails_with 'a password has 12 to 1024 bytes' console password --data operators <<<short
check 'a missing password is refused' fails_with 'the standard input has no password' console password --data operators </dev/null
check 'an unknown role is refused' fails_with 'the role of an operator is one of read, write, admin' console password --data operators --role owner <<<'correct horse battery'
check 'an invalid name is refused' fails_with 'the name of an operator has ' console password --data operators --name 'a b' <<<'correct horse battery'
check 'a password is set' bash -c "echo 'correct horse battery' | '$binary' console password --data operators | grep -q admin"
sleep 1.1
check 'a new password ends the sessions of the operator within a second' test "$(console session)" = 401
check 'the password logs in' test "$(console session -d '{"name":"admin","password":"correct horse battery"}')" = 200
check 'another password does not log in' test "$(status -H 'X-Parley-Console: 1' -H 'Content-Type: application/json' -d '{"name":"admin","password":"wrong horse battery"}' "$base/console/api/session")" = 401
check 'a body over 64 KiB is refused' test "$(head -c 70000 /dev/zero | tr '\0' ' ' | console session --data-binary @-)" = 413
check 'a chunked body over 64 KiB is refused' test "$(head -c 70000 /dev/zero | tr '\0' ' ' | console session -H 'Transfer-Encoding: chunked' --data-binary @-)" = 413
check 'a request of another site is refused' test "$(origin=http://evil.example console apps -d '{"name":"x"}')" = 403
check 'a request of a page is accepted' test "$(console apps -d '{"name":"x"}')" = 201
check 'a request for another host is refused' test "$(console session -H 'Host: evil.example')" = 421
shop=$(curl -s -b cookies "$base/console/api/apps" | grep -o '"id":"[^"]*"' | head -1 | cut -d '"' -f 4)
for path in stream "apps/$shop/events?after=now"; do
    curl -sN -m 300 -b cookies -H 'Accept: text/event-stream' "$base/console/api/$path" >"stream-${path%%[/?]*}" &
    streams="${streams:-} $!"
done
check 'the stream of the overview has a sample each second' eventually grep -q '^event: stats' stream-stream
# Otherwise the logout may be earlier than this stream.
check 'the stream of the log begins' eventually test -s stream-apps
check 'the stream of the overview begins with the process' grep -q '^event: hello' stream-stream
check 'logout is accepted' test "$(console session -X DELETE)" = 204
for path in stream apps; do
    check 'streams end with their session' eventually grep -q '^event: end' "stream-$path"
done
wait $streams
check 'the password logs in again' test "$(console session -d '{"name":"admin","password":"correct horse battery"}')" = 200
check 'an operator is removed' bash -c "'$binary' console remove admin --data operators | grep -q removed"
check 'an operator is removed once' fails_with 'there is no operator admin' console remove admin --data operators
sleep 1.1
check 'a removed operator has no session' test "$(console session)" = 401
check 'no log line has the token of a link' bash -c "! grep -q '${first_link##*=}' err"
check 'a server with operators stops with exit code 0' stop
start --data operators --set console.enabled=false
check 'without a console its API is unknown' test "$(console session)" = 404
check 'a server without a console prints no link' bash -c "! grep -q '/console/login' out"
stop

# TLS with a certificate of dev-cert.
"$binary" dev-cert --out pair --host chat.test >output
check 'dev-cert creates a key that only its owner can read' test "$(stat -c %a pair/key.pem)" = 600
check 'dev-cert prints how to use the certificate' grep -q 'curl --cacert pair/cert.pem' output
check 'dev-cert does not overwrite files' fails_with 'pair/key.pem cannot be written: File exists' dev-cert --out pair
tls_port=$(free_port)
redirect_port=$(free_port)
metrics_port=$(free_port)
start --data secure --set "metrics.listen=127.0.0.1:$metrics_port" --set "tls.listen=127.0.0.1:$tls_port" --set tls.certificates=pair/cert.pem \
    --set tls.keys=pair/key.pem --set tls.hsts_max_age=1d --set public_url=https://localhost:$tls_port/ \
    --set "tls.redirect_listen=127.0.0.1:$redirect_port"
check 'H159: a server uses certificate and key of dev-cert' test "$(status --cacert pair/cert.pem "https://localhost:$tls_port/health/ready")" = 200
check 'H125: answers over TLS have Strict-Transport-Security' bash -c "curl -s -m 60 -D - -o discarded --cacert pair/cert.pem https://127.0.0.1:$tls_port/ | grep -q '^Strict-Transport-Security: max-age=86400'"
check 'H173: the redirect goes to the configured host only' test "$(curl -s -m 60 -o discarded -w '%{http_code} %{redirect_url}' -H 'Host: evil.test' "http://127.0.0.1:$redirect_port/a?b=c")" = "308 https://localhost:$tls_port/a?b=c"
check 'H166: the expiry of the certificate is a metric' bash -c "curl -s -m 60 http://127.0.0.1:$metrics_port/metrics | grep -qE '^parley_certificate_expiry_timestamp_seconds\{file=\"pair/cert.pem\"\} [1-9][0-9]{9}$'"
check 'TLS handshakes are counted' bash -c "curl -s -m 60 http://127.0.0.1:$metrics_port/metrics | grep -qE '^parley_tls_handshakes_total\{outcome=\"full\"\} [1-9]'"
check 'a server with TLS stops with exit code 0' stop
check 'tls.listen requires certificates' fails_with '.*tls.listen needs tls.certificates and tls.keys' check-config --set tls.listen=127.0.0.1:8443
check 'H165: a key that does not belong to its certificate is reported in one line' bash -c "'$binary' dev-cert --out other >discarded; ! '$binary' serve --data secure --listen 127.0.0.1:$port --set tls.listen=127.0.0.1:$tls_port --set tls.certificates=pair/cert.pem --set tls.keys=other/key.pem 2>output && grep -q 'does not belong to the certificate pair/cert.pem' output"

echo "$passed passed, $failed failed"
[ $failed = 0 ]
