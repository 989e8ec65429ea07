"""Runs the guides of ParleyServer.docc against the binary: every shell block, in order, in one shell.

usage: guides.py BINARY [GUIDE…]

Without GUIDE, such as `messages`, it runs all of RUNS. First it fails if any article or the README has a shell block
that neither RUNS nor NOT_RUN names.
"""

import contextlib
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import typing

tests = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(tests / "Crash"), str(tests / "Support")]
from postgres import Postgres
from server import APPLICATION, PATIENCE, TOKEN, fixed_port, serving

ROOT = tests.parent
GUIDES = ROOT / "Sources" / "ParleyServer" / "ParleyServer.docc"
# The database server in the guides, which the tests replace by their own.
DATABASE = "postgres://parley:PASSWORD@db.internal/parley"
# Long times, so that deliveries which a guide shows as successful do not fail on a slow machine, and one that it shows as
# pending is not sent again meanwhile.
SETTINGS = {"PARLEY_WEBHOOKS_ALLOW_HTTP": "true", "PARLEY_WEBHOOKS_ALLOWED_NETWORKS": "127.0.0.0/8",
            "PARLEY_WEBHOOKS_ANSWER_TIMEOUT": "60s", "PARLEY_WEBHOOKS_VERIFY_TIMEOUT": "60s",
            "PARLEY_WEBHOOKS_RETRY_SCHEDULE": "10m,10m"}
# How much longer than a guide says its limits are here, because the machine is busy with other tests.
SLOWER = 6
# For each guide what its lines `sleep` wait for, in their order: a command that succeeds then.
WAITS = {
    "Messages": ["api \"$URL/$C/messages?page_size=3\" | grep 'In a moment'"],
    "Operations": ["grep '\"message\":\"certificates reloaded\"' server.log", "grep '\"client\":\"203' server.log"],
    # When a request is held cannot be seen.
    "Realtime": ["sleep 1", "grep '^event: ready' stream.txt"],
    "Security": [
        "curl -s -o /dev/null -w '%{http_code}' \"$URL/conversations\" -H \"Authorization: Bearer $READ\" | grep 401"],
    "Settings": ["grep '\"setting\":\"log.level\"' server.log && grep '\"message\":\"settings reloaded\"' server.log"],
    "WebhookGuide": [
        ": < /dev/tcp/127.0.0.1/9000",
        "[ \"$(webhooks \"$hook\" | member status)\" = active ]",
        ": < /dev/tcp/127.0.0.1/9001",
        "[ \"$(webhooks \"$BASE/apps/$APP/webhooks\" | grep -o '\"status\":\"[a-z]*\"' | sort -u)\" = '\"status\":\"active\"' ]",
        "grep webhook.test python.log && grep Message.created python.log && grep message.sent node.log",
        "! : < /dev/tcp/127.0.0.1/9000",
        "webhooks \"$hook/deliveries?state=pending\" | grep '\"attempts\":[1-9]'",
        ": < /dev/tcp/127.0.0.1/9000",
        "[ \"$(webhooks \"$hook/deliveries?state=pending\")\" = '[]' ]",
        "[ \"$(webhooks \"$hook/deliveries?state=pending\")\" = '[]' ]",
    ],
}
# Repeats a command, without its output, until it succeeds.
WAIT = """
wait_until() {
    for _ in $(seq 1200); do (eval "$1") > /dev/null 2>&1 && return; sleep 0.1; done
    echo "not within two minutes: $1"; exit 1
}
"""
# (article, how a shell block begins, why this script does not run the block)
NOT_RUN = [
    ("README.md", "make run ", "builds a release"),
    ("README.md", "URL=", "tour.sh runs it"),
    ("Quickstart.md", "make run\n", "builds a release"),
    ("Quickstart.md", "(\n", "tour.sh runs it"),
    ("Quickstart.md", "docker compose ", "needs Docker; compose.py checks the file"),
    ("Console.md", ".build/release/parley console password", "asks for a password; commands.sh runs it"),
    ("Contributing.md", "make test ", "runs this script"),
    ("Contributing.md", "swift build --build-tests\n", "builds what is being tested"),
    ("Contributing.md", "PARLEY_TEST_SEED=", "takes minutes"),
    ("Contributing.md", "swift build -c release ", "builds a release"),
]


def blocks_of(article):
    """The shell blocks of an article that are to be run, and the others as their entries of NOT_RUN with the block."""
    run, not_run = [], []
    for block in re.findall(r"^```(?:sh|bash|shell)\n(.*?)^```$", article.read_text(), re.M | re.S):
        entries = [entry for entry in NOT_RUN if entry[0] == article.name and block.startswith(entry[1])]
        not_run += [(entry, block) for entry in entries]
        run += [] if entries else [block]
    return run, not_run


def check_coverage():
    """Every shell block is run or excepted, and what excepted blocks name exists."""
    guides = {guide.article for guide in RUNS.values()}
    used, targets = [], re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M)
    for article in [ROOT / "README.md", *sorted((ROOT / "Sources").rglob("*.md"))]:
        run, not_run = blocks_of(article)
        is_guide = article.parent == GUIDES and article.stem in guides
        assert is_guide or not run, f"{article.name}: no test runs the block {run[0]!r}; see NOT_RUN"
        for entry, block in not_run:
            used.append(entry)
            for target in re.findall(r"^make ([a-z-]+)", block, re.M):
                assert target in targets, f"{article.name}: the Makefile has no target {target}"
            for path in re.findall(r"\b(?:Tests|docker)/[\w./]+", block):
                assert (ROOT / path).exists(), f"{article.name}: there is no {path}"
    assert sorted(used) == sorted(NOT_RUN), "an entry of NOT_RUN names no block, or several"


def run_guide(name, server, folder, replacements=()):
    """Runs the shell blocks of a guide; returns their output.

    In a guide that starts its servers itself, `server` is not running.
    """
    blocks, _ = blocks_of(GUIDES / f"{name}.md")
    assert blocks, f"{name} has no shell block"
    script = "set -uo pipefail\ntrap 'echo \"failed: $BASH_COMMAND\" >&2; exit 1' ERR\nset -E\n" + WAIT + "echo\n".join(blocks)
    conditions = iter(WAITS.get(name, []))
    script = re.sub(r"^sleep \d+$", lambda _: f"wait_until {shlex.quote(next(conditions))}", script, flags=re.M)
    assert next(conditions, None) is None, f"{name} has fewer lines `sleep` than WAITS"
    for old, new in replacements:
        assert old in script, f"{name} does not name {old}"
        script = script.replace(old, new)
    script = re.sub(r"--max-time (\d+)", lambda found: f"--max-time {SLOWER * int(found[1])}", script)
    # As many bytes in the longer time.
    script = re.sub(r"--limit-rate (\d+)M", lambda found: f"--limit-rate {int(found[1]) * 1024 // SLOWER}K", script)
    script = script.replace("--retry 30 ", "--retry 120 ")
    script = script.replace(".build/release/parley", server.binary)
    script = script.replace("127.0.0.1:8080", f"127.0.0.1:{server.port}")
    environment = os.environ | {"XDG_CACHE_HOME": str(folder), "SWIFT_BACKTRACE": "enable=no"}
    if server.process is None:
        environment |= {"PARLEY_HTTP_LISTEN": f"127.0.0.1:{server.port}"}
    else:
        environment |= {"APP": APPLICATION, "TOKEN": TOKEN, "PARLEY_DATA_FOLDER": server.data}
    # In its own process group, so that receivers and servers which the guide has started are ended as well. They may
    # hold the output open, so it is a file.
    with open(folder / "output", "w+") as output:
        shell = subprocess.Popen(
            ["bash", "-c", script], cwd=folder, env=environment, text=True,
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            shell.wait(timeout=600)
        finally:
            try:
                os.killpg(shell.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        output.seek(0)
        text = output.read()
    logs = [f"{log.name}:\n{log.read_text()}" for log in folder.glob("*.log")] if shell.returncode else []
    assert shell.returncode == 0, "\n".join([f"{name}:", text, *logs])
    return text


def uploads(run, server, folder):
    output = run([("--app $APP", f"--app $APP --server http://127.0.0.1:{server.port}")])
    video = (folder / "film.mp4").read_bytes()
    assert (folder / "copy.mp4").read_bytes() == video
    # The final answers of a plain request, of two resumed ones, and of the one with digests.
    assert re.findall(r'"etag":"(\w+)"', output) == [hashlib.sha256(video).hexdigest()] * 4, output
    assert output.count("\ncut\n") == 3, output
    assert re.search(r"^CONTENT=layer:///content/", output, re.M), output
    # The final offset of the upload with tus, whose answers have no JSON, and the size of a downloaded range.
    assert re.search(rf"^{len(video)}$", output, re.M) and re.search(r"^ *1000$", output, re.M), output
    assert output.rstrip().endswith("499"), output


def webhooks(run, server, folder):
    ports = [(str(port), str(fixed_port())) for port in (9000, 9001)]
    output = run(ports)
    python, node = ((folder / name).read_text() for name in ("python.log", "node.log"))
    states = [line for line in output.splitlines() if re.fullmatch(r"[a-z]+|\[\]", line)]
    assert states == ["active", "active", "unverified", "pending", "[]", "[]", "active", "inactive"], output
    assert python.count("'type': 'Message.created'") >= 2 and "'type': 'webhook.test'" in python, python
    assert node.count('"type":"message.sent"') >= 1, node
    assert " 401 " not in python, python


def events(run, server, folder):
    output = run()
    assert '"next":' in output and "closed" in output and "id: 1\n" in output, output
    *_, now, past = output.rstrip().splitlines()
    assert '"body":"Hello, Bo"' in now and past == "[]", output


def concepts(run, server, folder):
    output = run()
    assert '"unread_message_count":1' in output and '"type":"message.sent"' in output, output


def conversations(run, server, folder):
    output = run()
    first, *_ = re.findall(r'"id":"(layer:///conversations/[0-9a-f-]+)"', output)
    assert output.count(f'"id":"{first}"') >= 4, output
    assert refused(output) == [409, 410, 412], output
    assert re.search(r"^\[\]$", output, re.M), output
    assert re.findall(r"^(refused|gone|changed)$", output, re.M) == ["refused", "gone", "changed"], output


def messages(run, server, folder):
    output = run()
    once = re.findall(r'"id":"(layer:///messages/[0-9a-f-]+)".*"body":"Once only"', output)
    assert len(once) >= 2 and len(set(once)) == 1, output
    assert refused(output) == [422, 404, 404], output
    assert re.search(r'"body":"In a moment".*"body":"Two".*"body":"One"', output), output
    assert "Are you there?" not in output and '"body":"Closed on Monday"' in output, output


def rich_content(run, server, folder):
    output = run()
    assert (folder / "photo.jpg").read_bytes() == (folder / "copy.jpg").read_bytes()
    assert int(re.search(r"^ *(\d+)$", output, re.M)[1]) > 400_000, output
    assert '"transfer_status":"awaiting_upload","bytes_received":0' in output, output
    assert re.search(r'"transfer":\{"bytes":(\d+),"bytes_received":\1,"fraction":1\.0\}', output), output
    *_, parts = output.rstrip().splitlines()
    assert re.findall(r'"body":"([^"]*)"', parts)[0] == "A small red dot" and '"body":"Found it"' in parts, parts
    assert "lat" not in parts, parts


def metadata(run, server, folder):
    output = run()
    shown = [json.loads(found) for found in re.findall(r'^"metadata":(\{.*\})\}$', output, re.M)]
    assert shown == [
        {"flat": {"floor": "3"}, "topic": "rent"},
        {"color": "blue", "flat": {"side": "left", "floor": "3"}, "topic": "rent"},
        {"color": "blue", "flat": {"side": "left"}, "topic": "rent"},
        {"color": "blue", "flat": {"building": "12"}, "topic": "rent"},
        {"topic": "rent"}, {}, {"ana": "yes", "bo": "no"}, {"shift": "early", "team": "north"},
    ], output
    assert refused(output) == [422], output


def receipts(run, server, folder):
    output = run()
    assert re.findall(r'"layer:///identities/bo":"(\w+)"', output) == ["delivered", "read"], output
    unread = re.findall(r'^"unread_message_count":(\d+)$', output, re.M)
    assert unread == ["2", "1", "0"], output
    assert re.findall(r'^"body":"(.*)"$', output, re.M) == ["Bye", "Call me", "How are you?", "Hello"], output
    assert '"external_unread_count":3,"unread_conversation_count":1,"unread_message_count":4' in output, output
    assert '"type":"message.delivered"' in output and '"type":"message.read"' in output, output


def errors(run, server, folder):
    output = run()
    assert re.findall(r'"code":(\d+)', output) == ["104", "105", "102", "107", "4", "105"], output
    assert re.findall(r"^(\d{3})$", output, re.M) == ["422", "422", "404", "406", "422"], output
    assert "X-Request-Id: " in output, output


def limits(run, server, folder):
    output = run()
    assert "RateLimit-Policy: " in output and "is 2,049 bytes" in output, output
    assert output.rstrip().endswith("422"), output


def security(run, server, folder):
    output = run()
    assert output.startswith("200\n") and '"id":"access_denied"' in output, output
    assert '"id":"authentication_required"' in output and "DNS:localhost" in output, output
    assert '"erased_user":"layer:///identities/erased-1"' in output and '"remaining":0' in output, output


def troubleshooting(run, server, folder):
    output = run()
    assert "settings are valid\n0\n" in output and '{"status":"ok"}200\n' in output, output
    assert " created application " in output, output
    request = re.search(r"(?i)^x-request-id: (\S+)", output, re.M)[1]
    # Log lines are written by a separate thread.
    deadline = time.monotonic() + PATIENCE
    while f'"id":"{request}"' not in server.log.read_text():
        assert time.monotonic() < deadline, f"the log has no line of {request}"
        time.sleep(0.05)


def compatibility(run, server, folder):
    output = run()
    assert "Parley-Version: 1.1" in output and '"participants":["ana","bo"]' in output, output
    assert json.loads((folder / "openapi-1.1.json").read_text())["openapi"].startswith("3.1"), output


def quick_start(run, server, folder):
    with database() as url:
        port = fixed_port()
        output = run([("127.0.0.1:8443", f"127.0.0.1:{port}"), ("localhost:8443", f"localhost:{port}"),
                      (f"{DATABASE}?sslmode=verify-full", url)])
    assert output.count('{"status":"ok"}') == 2 and output.count("This is the first start") == 2, output
    assert '"engine":"postgresql"' in (folder / "server.log").read_text()


def operations(run, server, folder):
    tls, redirect, metrics, second = (fixed_port() for _ in range(4))
    with database() as url:
        output = run([
            ("127.0.0.1:8443", f"127.0.0.1:{tls}"), ("localhost:8443", f"localhost:{tls}"),
            ("127.0.0.1:8082", f"127.0.0.1:{redirect}"), ("127.0.0.1:9090", f"127.0.0.1:{metrics}"),
            ("127.0.0.1:8081", f"127.0.0.1:{second}"), (DATABASE, url)])
    conversations = re.findall(r'"id":"(layer:///conversations/[0-9a-f-]+)"', output)
    # Created, and listed after the restore, the upgrade, the migration, and by the second process.
    assert len(conversations) == 5 and len(set(conversations)) == 1, output
    assert "Strict-Transport-Security: max-age=86400" in output, output
    assert f"Location: https://localhost:{tls}/health/ready" in output, output
    assert re.search(r'^parley_certificate_expiry_timestamp_seconds\{file="pair/cert.pem"\} \d+$', output, re.M), output
    assert '"message":"certificates reloaded"' in output and "DNS:chat.example.com" in output, output
    assert '"self":"https://chat.example.com/"' in output and '"client":"203.0.113.9"' in output, output


def import_and_export(run, server, folder):
    output = run([("127.0.0.1:8081", f"127.0.0.1:{fixed_port()}")])
    assert re.search(r"^applications\s+1 imported\s+0 already present$", output, re.M), output
    assert output.count("all records are durable") == 1 and '"changed":true' in output, output
    assert output.count("TOKEN=") == 1 and '"body":"Hello, Bo"' in output, output


def metrics(run, server, folder):
    output = run([("127.0.0.1:9090", f"127.0.0.1:{fixed_port()}")])
    assert len(re.findall(r'^parley_build_info\{version="[\w.-]+"\} 1$', output, re.M)) == 2, output


def settings(run, server, folder):
    output = run()
    assert re.search(r"^\d+ settings are valid$", output, re.M), output
    assert "parley: setting log.level = loud: must be one of" in output, output
    assert '"setting":"log.level"' in output and '"setting":"api.rate_limit"' not in output, output
    assert '"message":"settings reloaded"' in output, output


def commands(run, server, folder):
    output = run()
    assert "SUBCOMMANDS:" in output and "USAGE: parley token create" in output, output


def console(run, server, folder):
    output = run()
    assert re.search(r"^http://127\.0\.0\.1:\d+/console/login#once=[\w-]{43}$", output, re.M), output


def endpoints(run, server, folder):
    output = run()
    assert json.loads((folder / "openapi.json").read_text())["openapi"].startswith("3.1")
    assert '"id":"layer:///conversations/' in output, output


def architecture(run, server, folder):
    for name in ("Sources", "Tests", "Package.swift"):
        (folder / name).symlink_to(ROOT / name)
    output = run()
    assert "MessagingStoreTests\n" in output, output
    # The rows of the diagram contain every module once, and no module imports one of its own row or above.
    diagram = (GUIDES / "Architecture.md").read_text().split("<!-- layers -->")[1].split("```")[1]
    rows = re.findall(r"^│ ([\w ]+)│", diagram, re.M)
    layers = {module: number for number, row in enumerate(rows) for module in row.split()}
    modules = re.findall(r'module\(\s*"(\w+)"(?:,\s*\[([^\]]*)\])?', output)
    assert sorted([module for module, _ in modules] + ["parley"]) == sorted(" ".join(rows).split()), (modules, rows)
    for module, imports in modules:
        for imported in re.findall(r'"(\w+)"', imports):
            assert layers[module] < layers.get(imported, len(rows)), f"{module} imports {imported}"


@contextlib.contextmanager
def database():
    """The URL of an empty schema on a new PostgreSQL server."""
    postgres = Postgres()
    try:
        yield postgres.schema()
    finally:
        postgres.close()


def refused(output):
    """The statuses of the requests that a guide shows as failing, in order."""
    return [int(status) for status in re.findall(r"^curl: \(22\) .* error: (\d+)$", output, re.M)]


class Guide(typing.NamedTuple):
    article: str
    """The name of the file, without `.md`."""
    check: typing.Callable
    """Runs the blocks by calling its first argument, and checks their output."""
    settings: dict = {}
    """Settings of the server, beside SETTINGS."""
    starts_servers: bool = False
    """Whether the blocks start their servers; otherwise one is running."""


def authentication(run, server, folder):
    output = run()
    assert '"type":"user"' in output and '"display_name":"Ana"' in output, output
    assert '"reason":"eit_nonce_not_found"' in output and '"user_agent":"curl/' in output, output
    assert output.rstrip().endswith('"code":4'), output


def client_api(run, server, folder):
    output = run()
    assert '"topic":"rent"' in output and '"body":"Hello"' in output, output
    assert '"layer:///identities/bo":"read"' in output and "Parley-Cursor: " in output, output
    assert "addPart" in output, output


def realtime(run, server, folder):
    output = run()
    assert '"reset":true' in output and '"items":[]' in output and '"type":"message"' in output, output
    assert '"body":"Now"' in output, output
    assert "event: reset" in output and "event: item" in output and "event: ready" in output, output


RUNS = {
    "quick start": Guide("Quickstart", quick_start, starts_servers=True),
    "uploads": Guide("UploadGuide", uploads),
    "webhooks": Guide("WebhookGuide", webhooks),
    "events": Guide("Events", events),
    "concepts": Guide("Concepts", concepts),
    "conversations": Guide("Conversations", conversations),
    "messages": Guide("Messages", messages),
    "rich content": Guide("RichContent", rich_content),
    "metadata": Guide("Metadata", metadata),
    "receipts": Guide("Receipts", receipts),
    "authentication": Guide("Authentication", authentication),
    "client API": Guide("ClientAPI", client_api),
    "realtime": Guide("Realtime", realtime),
    "errors": Guide("Errors", errors),
    "limits": Guide("Limits", limits, {"PARLEY_API_RATE_LIMIT": "100"}),
    "security": Guide("Security", security),
    "troubleshooting": Guide("Troubleshooting", troubleshooting, {"PARLEY_LOG_REQUESTS": "true"}),
    "compatibility": Guide("Compatibility", compatibility),
    "import and export": Guide("ImportExport", import_and_export, starts_servers=True),
    "operations": Guide("Operations", operations, starts_servers=True),
    "metrics": Guide("Metrics", metrics, starts_servers=True),
    "settings": Guide("Settings", settings, starts_servers=True),
    "commands": Guide("Commands", commands),
    "console": Guide("Console", console),
    "endpoints": Guide("Endpoints", endpoints),
    "architecture": Guide("Architecture", architecture),
}


def main():
    check_coverage()
    for name in sys.argv[2:] or RUNS:
        guide = RUNS[name]
        settings = SETTINGS | guide.settings
        with tempfile.TemporaryDirectory() as folder, serving(sys.argv[1], settings=settings) as server:
            folder = pathlib.Path(folder)
            if not guide.starts_servers:
                server.start()
            guide.check(functools.partial(run_guide, guide.article, server, folder), server, folder)
            assert guide.starts_servers or server.stop() == 0
        print(f"guides: the blocks of the guide to {name} succeed", flush=True)


if __name__ == "__main__":
    main()
