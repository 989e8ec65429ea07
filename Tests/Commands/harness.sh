# Shared by the tests of commands; sourced first, with the binary as first argument.
set -uo pipefail

binary=$(realpath "${1:?usage: ${0##*/} BINARY}")
tests=$(realpath "$(dirname "$0")")
folder=$(mktemp -d)
cd "$folder" || exit 1
server=
passed=0
failed=0
# Settings of the calling shell must not apply.
for name in $(compgen -e PARLEY_); do unset "$name"; done

finish() {
    # Only the process started here.
    [ -z "$server" ] || { kill -9 "$server" 2>/dev/null; wait "$server" 2>/dev/null; }
    cd / && rm -rf "$folder"
}
trap finish EXIT

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# The server's exit code.
stop() {
    kill -TERM "$server"
    wait "$server"
    code=$?
    server=
    return $code
}

# A sentence, and a command that must succeed.
holds() {
    local sentence=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $sentence" >&2
        [ ! -s said ] || sed 's/^/    said: /' said >&2
    fi
}
