# Shared by the tests of commands; sourced first, with the binary as first argument.
set -uo pipefail

binary=$(realpath "${1:?usage: ${0##*/} BINARY}")
tests=$(realpath "$(dirname "$0")")
folder=$(mktemp -d)
cd "$folder" || exit 1
server=
passed=0
failed=0
# Settings in the environment of the caller must not change the tests.
for name in $(compgen -e PARLEY_); do unset "$name"; done

finish() {
    # Ends only the process that was started here.
    [ -z "$server" ] || { kill -9 "$server" 2>/dev/null; wait "$server" 2>/dev/null; }
    cd / && rm -rf "$folder"
}
trap finish EXIT

# Prints an unused port, below those that the system gives to clients of other tests.
free_port() { (cd "$tests/../Crash" && python3 -B -c 'from server import fixed_port; print(fixed_port())'); }

# Repeats a command until it succeeds, for a minute at least.
eventually() {
    for _ in $(seq 600); do
        "$@" && return
        sleep 0.1
    done
    return 1
}

# Stops the server; returns its exit code.
stop() {
    kill -TERM "$server"
    wait "$server"
    code=$?
    server=
    return $code
}

# Runs a check: a description, and a command that must succeed.
check() {
    local description=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $description" >&2
        [ ! -s output ] || sed 's/^/    output: /' output >&2
    fi
}
