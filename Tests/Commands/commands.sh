#!/usr/bin/env bash
# What a person at a terminal relies on: commands, exit codes, one clear line for each mistake, signals.
. "$(dirname "$0")/harness.sh"

start() {
    "$binary" serve --listen "127.0.0.1:$port" "$@" >out 2>err &
    server=$!
    # It listens before it has said all it has to say.
    for _ in $(seq 400); do
        grep -q ' serves ' out && [ "$(status "http://127.0.0.1:$port/health/ready")" = 200 ] && return
        sleep 0.05
    done
    echo "the server does not start" >&2; cat out err >&2; exit 1
}

status() { curl -s -o /dev/null -m 10 -w '%{http_code}' "$@"; }
# The status of a request with a token, for a path behind /apps/, with further options of curl.
api() {
    local token=$1 path=$2
    shift 2
    status -H "Authorization: Bearer $token" -H 'Accept: application/vnd.layer+json; version=3.0' "$@" "http://127.0.0.1:$port/apps/$path"
}

# A command that must fail with exactly one line, which matches.
refuses() {
    local pattern=$1
    shift
    timeout 20 "$binary" "$@" >nothing 2>said
    local code=$?
    [ $code -ne 0 ] && [ $code -lt 124 ] && [ "$(wc -l <said)" = 1 ] && grep -qE "^parley: $pattern" said
}

port=$(free_port)
base=http://127.0.0.1:$port
known=00000000-0000-4000-8000-000000000000

holds 'check-config finds the defaults in order' "$binary" check-config >/dev/null
holds 'check-config looks at the URL of the database' refuses \
    'the database of database.url cannot be used: the URL is not understood: there is no such port' \
    check-config --set database.url=postgres://me:sesame@db:none/parley
"$binary" check-config --set http.backlog=0 --set color=red --log-level loud >nothing 2>said
holds 'check-config fails on mistakes' test $? -ne 0
holds 'check-config reports every error' test "$(wc -l <said)" = 3
holds 'a bad setting is one line' refuses 'setting http.backlog = 0: must be ' serve --set http.backlog=0 --data data
holds 'a missing file is one line' refuses 'the settings file nowhere.json cannot be read' serve --config nowhere.json
printf 'a-token-of-the-environment\n' >token
holds 'a secret is read from a file' env "PARLEY_APP_ID=$known" PARLEY_APP_TOKEN_FILE=token "$binary" check-config >nothing
PARLEY_APP_ID=$known PARLEY_APP_TOKEN_FILE=hidden holds 'a secret whose file is missing is one line' refuses \
    'setting app.token_file = hidden: must name a file that can be read ' serve --data data
PARLEY_HTTP_LISTN=127.0.0.1:80 holds 'an unknown variable is one line' refuses \
    'setting PARLEY_HTTP_LISTN: there is no such variable; the nearest is PARLEY_HTTP_LISTEN ' check-config
printf '{"http": {"lisetn": "127.0.0.1:80"}}' >misspelt.json
holds 'an unknown name in the file is one line' refuses \
    'setting http.lisetn: there is no such setting; the nearest is http.listen \(misspelt.json:1\)$' check-config --config misspelt.json
holds 'an unknown name of --set is one line' refuses \
    'setting http.lisetn = 127.0.0.1:80: there is no such setting; the nearest is http.listen \(flag --set\)$' check-config --set http.lisetn=127.0.0.1:80
touch file
holds 'a data folder that is a file is one line' refuses \
    'the data folder file is a file, not a folder: choose another with data.folder$' serve --data file
holds 'a data folder below a file is one line' refuses \
    'the data folder file/data cannot be created below a file: choose another with data.folder$' serve --data file/data
holds 'a command for a folder below a file is one line' refuses \
    'the data folder file/data cannot be created below a file: choose another with data.folder$' app create --data file/data first
holds 'a folder of certificates below a file is one line' refuses \
    'the folder file/pair cannot be created below a file: name another one$' dev-cert --out file/pair

# check-config finds everything that keeps a server from starting, and says the same.
finds() {
    local lines=$1
    shift
    timeout 20 "$binary" check-config "$@" >nothing 2>checked
    local checking=$?
    timeout 20 "$binary" serve "$@" >nothing 2>said
    local serving=$?
    [ $checking = 1 ] && [ $serving = 1 ] && cmp -s checked said && [ "$(wc -l <said)" = "$lines" ]
}
bucket=(--set s3.access_key=a --set s3.secret_key=b)
PARLEY_S3_BUCKET=b holds 'check-config finds the name of a bucket that is too short' finds 1 "${bucket[@]}"
holds 'check-config finds authorities that are missing' finds 2 --set s3.bucket=bucket "${bucket[@]}" \
    --set s3.authorities=no.pem --set webhooks.authorities=no.pem
holds 'check-config finds missing certificates and keys' finds 2 --set tls.listen=127.0.0.1:0 --set tls.certificates=no.pem --set tls.keys=no.pem
holds 'check-config finds a data folder that is a file' finds 1 --data file
holds 'check-config finds a data folder that cannot be written' finds 1 --data /proc/data
holds 'check-config finds a missing file of the database' finds 1 --set database.url_file=none
holds 'check-config finds an address of another machine' finds 1 --listen 192.0.2.1:8080
holds 'check-config finds a Unix socket that is a file' finds 1 --listen unix:file
holds 'and leaves the file alone' test -f file
SWIFT_DETERMINISTIC_HASHING=1 holds 'check-config finds hash tables that can be guessed' finds 1
holds 'check-config lists all mistakes' finds 4 --set http.backlog=0 --data file --listen unix:file --set webhooks.authorities=no.pem
holds 'a data folder that cannot be made is one line' refuses 'the data folder /proc/none/data ' serve --data /proc/none/data
holds 'a data folder that cannot be written is one line' refuses 'the data folder /proc/data ' serve --data /proc/data
SWIFT_DETERMINISTIC_HASHING=1 holds 'H188: hash tables that can be guessed are refused' refuses 'SWIFT_DETERMINISTIC_HASHING ' serve --data data
holds 'commands want a database' refuses 'there is no database in data' app list --data data
holds 'healthcheck fails when no server answers' refuses "127.0.0.1:$port does not answer" healthcheck --listen "127.0.0.1:$port"

holds 'a setting that cannot work with another names both' refuses \
    'setting http.handler_timeout = 61s: http.handler_timeout must not be above http.request_timeout' \
    check-config --set http.handler_timeout=61s
holds 'ruling 36: a proxy without public_url is a warning' bash -c "'$binary' check-config --set http.trusted_proxies=10.0.0.1 2>said >nothing && grep -q 'parley: warning: http.trusted_proxies is set and public_url is not' said && grep -q 'settings in order' nothing"
holds 'ruling 36: with public_url there is none' bash -c "'$binary' check-config --set http.trusted_proxies=10.0.0.1 --public-url https://chat.example.com 2>said >nothing && test ! -s said"
holds 'check-config creates nothing' test -z "$(ls -A | grep -E '^(data|\.parley)')"
holds 'a folder that cannot be created has path, reason and way out' refuses \
    'the data folder /proc/none/data cannot be created there \(No such file or directory\): choose another with data.folder$' serve --data /proc/none/data
holds 'a file to import that is missing has path and reason' refuses 'the file nowhere.jsonl cannot be read: No such file or directory' import nowhere.jsonl --data other
holds 'no message has a number of errno' test -z "$(timeout 20 "$binary" serve --data /proc/data 2>&1 | grep -i errno)"

# The curl of the first start, exactly as it is printed.
pastes() {
    local name=$1
    shift
    # The output of the server before would be taken for that of this one.
    rm -rf pasted out
    timeout 60 "$binary" serve --data pasted "$@" >out 2>err &
    server=$!
    for _ in $(seq 400); do grep -qs '^curl ' out && break; sleep 0.05; done
    grep '^curl ' out >paste
    bash paste >answer 2>said
    cat answer err >>said
    holds "the curl of the first start works $name" grep -q '"id":"layer:///conversations/' answer
    stop
}
mkdir 'a b'
"$binary" dev-cert --out 'a b/pair' --host chat.test >nothing
tls=(--set "tls.listen=127.0.0.1:$(free_port)" --set 'tls.certificates=a b/pair/cert.pem' --set 'tls.keys=a b/pair/key.pem')
pastes 'without settings' --listen "127.0.0.1:$port"
pastes 'on all addresses' --listen "0.0.0.0:$port"
pastes 'on IPv6' --listen "[::1]:$port"
pastes 'on a Unix socket' --listen "unix:$folder/a b/socket"
pastes 'with allowed hosts' --listen "127.0.0.1:$port" --set http.allowed_hosts=chat.test
pastes 'with the certificate of dev-cert' --listen "127.0.0.1:$port" "${tls[@]}"
holds 'it trusts that certificate' grep -qF -- "--cacert 'a b/pair/cert.pem' https://127.0.0.1:" paste
pastes 'with TLS and a public URL' --listen "127.0.0.1:$port" "${tls[@]}" --public-url https://chat.test
holds 'its URLs are the public ones' grep -q '"url":"https://chat.test/apps/' answer
pastes 'with a public URL' --listen "127.0.0.1:$port" --public-url http://chat.test:8080/base
pastes 'behind TLS of a proxy' --listen "127.0.0.1:$port" --public-url https://chat.test

# Limits and hosts that settings choose (rulings 35, 36).
start --data limits --set api.max_participants=2 --set uploads.max_upload_size=4KiB --set http.trusted_proxies=127.0.0.1 --set http.forwarded_from=x-forwarded
app=$(sed -n 's/^APP=//p' out)
token=$(sed -n 's/^TOKEN=//p' out)
ask() {
    local path=$1
    shift
    curl -s -m 10 -H "Authorization: Bearer $token" -H 'Accept: application/vnd.layer+json; version=3.0' "$@" "$base/$path"
}
holds 'ruling 35: the limit of participants is that of the settings' grep -q 'a conversation has 1 to 2[.]' <(ask "apps/$app/conversations" -d '{"participants":["a","b","c"]}')
holds 'ruling 35: the description shows it' grep -q '"maxItems":2[,}]' <(curl -s "$base/openapi.json")
made=$(ask "apps/$app/conversations" -d '{"participants":["a","b"]}' -H 'X-Forwarded-For: 192.0.2.1' -H 'X-Forwarded-Proto: https' -H 'X-Forwarded-Host: chat.example.com')
holds 'ruling 36: links take host and scheme from a trusted proxy' grep -q '"url":"https://chat.example.com/apps/' <<<"$made"
holds 'ruling 36: a Host alone changes nothing' grep -q "\"self\":\"$base/\"" <(curl -s -H 'Host: evil.example' "$base/")
chat=$(grep -oE 'conversations/[0-9a-f-]{36}' <<<"$made" | head -n 1)
holds 'ruling 35: an announcement holds to uploads.max_upload_size' grep -q 'from 0 to 4,096' <(ask "apps/$app/$chat/content" -X POST -H 'Upload-Content-Type: a/b' -H 'Upload-Content-Length: 4097')
holds 'the start logs the limits in force' python3 -c '
import json
line = next(line for line in map(json.loads, open("err")) if line["message"] == "started")
for name, value in {"api.max_participants": "2", "uploads.max_upload_size": "4KiB", "data.folder": "limits", "engine": "sqlite"}.items():
    assert line[name] == value, line
assert line["http.listen"].startswith("127.0.0.1:") and line["version"], line
'
holds 'ruling 36: and warns of a missing public_url' grep -q 'http.trusted_proxies is set and public_url is not' err
holds 'a server with limits stops in good order' stop

start --data data
app=$(sed -n 's/^APP=//p' out)
token=$(sed -n 's/^TOKEN=//p' out)
holds 'X12: the first start prints an application and its token' test "$(api "$token" "$app/users/ana/conversations")" = 404
holds 'healthcheck succeeds while the server is ready' "$binary" healthcheck --listen "127.0.0.1:$port"
holds 'an address in use is one line' refuses "cannot listen on 127.0.0.1:$port: the address is in use" serve --listen "127.0.0.1:$port" --data other
holds 'a data folder in use is one line' refuses 'the data folder data is already in use by process ' serve --listen "127.0.0.1:$(free_port)" --data data

holds 'X12: applications are listed while a server runs' grep -q "$app" <("$binary" app list --data data)
second=$("$binary" app create --data data 'The second one' | sed -n 's/^APP=//p')
reading=$("$binary" token create --data data --app "$app" --scope read --expires 1h | sed -n 's/^TOKEN=//p')
holds 'X12: a token made while a server runs opens its application' test "$(api "$reading" "$app/users/ana/conversations")" = 404
holds 'X12: a token opens no other application' test "$(api "$reading" "$second/users/ana/conversations")" = 403
holds 'X12: a token that reads may not write' test "$(api "$reading" "$app/conversations" -d '{}')" = 403
holds 'X12: secrets are never listed' test -z "$("$binary" token list --data data --app "$app" | grep "$reading")"
holds 'an unknown application is one line' refuses "there is no application $known" token create --data data --app "$known"
holds 'an unknown scope is one line' refuses 'the scope of a token is one of read, write, admin' token create --data data --app "$app" --scope all
holds 'an expiry in the past is one line' refuses '2001-01-01T00:00:00Z is in the past' token create --data data --app "$app" --expires 2001-01-01T00:00:00Z
id=$("$binary" token list --data data --app "$app" | awk '$2 == "read" { print $1 }')
"$binary" token revoke --data data --app "$app" "$id" >nothing
"$binary" app suspend --data data "$app" >nothing
sleep 1.2
holds 'X12: a revoked token is refused a second later' test "$(api "$reading" "$app/users/ana/conversations")" = 401
holds 'X12: a suspended application is refused a second later' test "$(api "$token" "$app/users/ana/conversations")" = 403
"$binary" app suspend --lift --data data "$app" >nothing

holds 'the log has a line for each event' grep -qE "^[0-9T:-]{19}Z Access: The server created token $id with scope read\.\$" <("$binary" log --data data --app "$app")
holds 'the log of an unknown application is one line' refuses "there is no application $known" log --data data --app "$known"
holds 'a place behind the end of the log is one line' refuses 'the log ends before position 99999' log --data data --app "$app" --after 99999
"$binary" log --data data --app "$app" --follow >lines 2>said &
follower=$!
sleep 1.2
made=$(curl -s -H "Authorization: Bearer $token" -H 'Accept: application/vnd.layer+json; version=3.0' "$base/apps/$app/conversations" -d '{"participants": ["ana"]}' | sed -E 's/.*"id":"layer:\/\/\/conversations\/([^"]*)".*/\1/')
api "$token" "$app/conversations/$made/messages" -d '{"sender_id": "layer:///identities/ana", "parts": [{"mime_type": "a/b", "body": "hi"}]}' >nothing
for _ in $(seq 100); do grep -q 'a message' lines && break; sleep 0.1; done
kill "$follower"
wait "$follower" 2>/dev/null
holds 'the log is followed while a server runs' grep -qE "^[0-9T:-]{19}Z Sync: User ana created a message in conversation $made\.\$" lines
holds 'the log has no line twice' test "$(sort lines | uniq -d | wc -l)" = 0

holds 'no keys are rotated that are not there' refuses 'the file elsewhere/download-keys is missing' download-key rotate --data elsewhere
holds '9.6: keys are rotated while a server runs' test "$("$binary" download-key rotate --data data | cut -f2 | tr '\n' ' ')" = 'signing next retired '
kill -HUP "$server"
sleep 0.5
holds '9.6: a signal has the server read them again' grep -q 'download keys reloaded' err
holds '9.6: keys that are no secret any more are forgotten' test "$("$binary" download-key rotate --forget --data data | cut -f2 | tr '\n' ' ')" = 'signing next '

status "$base/health/live?token=abcdefgh" -H 'Authorization: Bearer abcdefgh' >nothing
status "$base/uploads/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" -X PUT >nothing
printf 'GET /uploads/abcdefghijkl?token=%s HTTP/9\r\nCookie: %s\r\n\r\n' "$token" "$token" | python3 -c '
import socket, sys
peer = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
peer.sendall(sys.stdin.buffer.read())
while peer.recv(4096): pass' "$port"
holds 'H194: SIGTERM ends an idle server with exit code 0' stop
holds 'H206: requests have a line with the template of their route' grep -q '"route":"/uploads/{token}"' err
holds 'H206: a refused head is logged by its rule and the beginning of its request line' grep -qF '"beginning":"GET /uploads/abcdef…' err
holds 'H206: a request on behalf of a user names the user' grep -qF '"user":"ana"' err
holds 'H208: no token is in the log' test "$(grep -cE "$token|$reading|abcdefgh|AAAAAAA" err)" = 0
holds 'the log has the start once, with version, engine, address and folder' python3 -c 'import json, sys
[event] = [event for event in map(json.loads, open("err")) if event["message"] == "started"]
said = json.dumps(event)
assert all(text in said for text in ("\"sqlite\"", "\"version\"", sys.argv[1], "\"data\"", "http.max_connections")), said' "127.0.0.1:$port"
holds 'the log has the end last, and once' python3 -c 'import json
events = [json.loads(line) for line in open("err")]
assert [event["message"] for event in events].count("stopped") == 1 and events[-1]["message"] == "stopped", events[-1]'
holds 'H207: each line of the log is one JSON object' python3 -c 'import json; [json.loads(line) for line in open("err")]'

# A body that never comes keeps a request running.
start --data data
exec 3<>"/dev/tcp/127.0.0.1/$port"
printf 'POST /apps/%s/conversations HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\nAccept: application/vnd.layer+json; version=3.0\r\nContent-Length: 10\r\n\r\n' "$app" "$token" >&3
sleep 0.2
kill -TERM "$server"
sleep 0.2
holds 'H194: a running request keeps a stopping server alive' kill -0 "$server"
kill -TERM "$server"
ended=no
for _ in $(seq 40); do
    kill -0 "$server" 2>/dev/null || { ended=yes; break; }
    sleep 0.05
done
holds 'H195: a second signal ends at once' test $ended = yes
exec 3>&-
kill -9 "$server" 2>/dev/null
wait "$server" 2>/dev/null
server=

# Settings reloaded by a running server.
said_in_log() {
    for _ in $(seq 100); do
        grep -qF "$1" err && return
        sleep 0.05
    done
    return 1
}
settings() { printf '%s' "$1" >settings.json; }
asked() { printf 'GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n' >&3; }
settings '{}'
start --data data --config settings.json
exec 3<>"/dev/tcp/127.0.0.1/$port"
asked
settings '{"http": {"max_header_fields": 2}, "data": {"readers": 3}}'
kill -HUP "$server"
holds 'H196: a reload is logged' said_in_log 'settings reloaded'
holds 'H196: a new limit holds' test "$(status "$base/health/live")" = 431
holds 'H196: a setting that needs a restart is logged' grep -q '"setting needs a restart".*data.readers' err
settings '{"http": {"max_header_fields": 0, "color": "red"}}'
kill -HUP "$server"
holds 'H196: an invalid reload is logged' said_in_log 'settings not reloaded'
holds 'H196: every mistake is a line' test "$(grep -c '"message":"setting http' err)" = 2
holds 'H196: then the old settings stay' test "$(status "$base/health/live")" = 431
asked
asked
holds 'H196: a connection stays open during a reload' test "$(timeout 10 grep -m 3 -c 'HTTP/1.1 200' <&3)" = 3
exec 3>&-
settings '{}'
kill -HUP "$server"
sleep 0.5
holds 'a server stops in good order after reloads' stop

# A server that has fewer descriptors left than connections are opened.
start --data data
# Lowered later, because at its start a server keeps some below the limit.
prlimit --pid "$server" --nofile=$(($(find "/proc/$server/fd" -mindepth 1 | wc -l) + 30)):
ticks() { echo $(($(cut -d ' ' -f 14,15 "/proc/$server/stat" | tr ' ' +))); }
python3 -c 'import socket, sys
kept = [socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for _ in range(60)]
sys.stdin.read()' "$port" < <(sleep 2) &
clients=$!
holds 'H183: a lack of descriptors is logged' said_in_log 'connections cannot be accepted'
before=$(ticks)
sleep 1
holds 'H183: the server does not spin meanwhile' test $(($(ticks) - before)) -lt 50
wait $clients
# Asked until the first answer and not once more: each loop has a queue of its own, and in the other one
# some of the clients may still wait, for which descriptors are short again for a moment.
accepts_again() {
    for _ in $(seq 600); do
        [ "$(status "$base/health/live")" = 200 ] && return
        sleep 0.05
    done
    return 1
}
holds 'H183: it accepts again by itself' accepts_again
holds 'H183: it is logged at a limited rate' test "$(grep -c 'connections cannot be accepted' err)" = 1
stop

# What a container brings.
export PARLEY_APP_ID=$known PARLEY_APP_TOKEN=a-token-of-the-environment PARLEY_LOG_LEVEL=debug
start --data environment
holds 'X12: the environment creates an application and its token' test "$(api $PARLEY_APP_TOKEN $known/users/ana/conversations)" = 404
holds 'X12: then no other application is made' test "$("$binary" app list --data environment | wc -l)" = 1
plain() { status "$base/apps/$known/conversations" -H "Authorization: Bearer $PARLEY_APP_TOKEN" -d '{"participants": ["ana", "bo"]}' "$@"; }
holds 'a request of plain curl is one of version 3.0' test "$(plain)" = 201
stop
export PARLEY_API_STRICT_ACCEPT=true
start --data environment
unset PARLEY_API_STRICT_ACCEPT
holds 'api.strict_accept refuses it' test "$(plain)" = 406
holds 'api.strict_accept takes what names its version' test "$(plain -H 'Accept: application/vnd.layer+json; version=2.0')" = 201
holds 'X12: the same environment again changes nothing' test "$("$binary" token list --data environment --app $known | wc -l)" = 1
holds 'a server stops in good order' stop
holds 'app.id wants app.token' env -u PARLEY_APP_TOKEN bash -c "! '$binary' check-config 2>/dev/null"

# TLS on this machine.
unset PARLEY_APP_ID PARLEY_APP_TOKEN PARLEY_LOG_LEVEL
"$binary" dev-cert --out pair --host chat.test >said
holds 'dev-cert makes a pair whose key is readable only by its owner' test "$(stat -c %a pair/key.pem)" = 600
holds 'dev-cert says how to use it' grep -q 'curl --cacert pair/cert.pem' said
holds 'dev-cert overwrites nothing' refuses 'pair/key.pem cannot be written: File exists' dev-cert --out pair
secure=$(free_port)
redirecting=$(free_port)
watching=$(free_port)
start --data secure --set "metrics.listen=127.0.0.1:$watching" --set "tls.listen=127.0.0.1:$secure" --set tls.certificates=pair/cert.pem \
    --set tls.keys=pair/key.pem --set tls.hsts_max_age=1d --set public_url=https://localhost:$secure/ \
    --set "tls.redirect_listen=127.0.0.1:$redirecting"
holds 'H159: the pair of dev-cert serves TLS' test "$(status --cacert pair/cert.pem "https://localhost:$secure/health/ready")" = 200
holds 'H125: HSTS is said over TLS' bash -c "curl -s -m 10 -D - -o nothing --cacert pair/cert.pem https://127.0.0.1:$secure/ | grep -q '^Strict-Transport-Security: max-age=86400'"
holds 'H173: the redirect goes to the configured host only' test "$(curl -s -m 10 -o nothing -w '%{http_code} %{redirect_url}' -H 'Host: evil.test' "http://127.0.0.1:$redirecting/a?b=c")" = "308 https://localhost:$secure/a?b=c"
holds 'H166: the expiry of the certificate is a metric' bash -c "curl -s -m 10 http://127.0.0.1:$watching/metrics | grep -qE '^parley_certificate_expiry_timestamp_seconds\{file=\"pair/cert.pem\"\} [1-9][0-9]{9}$'"
holds 'handshakes are counted' bash -c "curl -s -m 10 http://127.0.0.1:$watching/metrics | grep -qE '^parley_tls_handshakes_total\{outcome=\"full\"\} [1-9]'"
holds 'a server with TLS stops in good order' stop
holds 'tls.listen wants certificates' refuses '.*tls.listen needs tls.certificates and tls.keys' check-config --set tls.listen=127.0.0.1:8443
holds 'H165: a key that does not belong to its certificate is one line' bash -c "'$binary' dev-cert --out other >nothing; ! '$binary' serve --data secure --listen 127.0.0.1:$port --set tls.listen=127.0.0.1:$secure --set tls.certificates=pair/cert.pem --set tls.keys=other/key.pem 2>said && grep -q 'does not belong to the certificate pair/cert.pem' said"

echo "$passed passed, $failed failed"
[ $failed = 0 ]
