"""Runs the guides of ParleyServer.docc against the real binary: every shell block, in its order, in one shell.

usage: guides.py BINARY [GUIDE…]

Without GUIDE, such as `messages`, it runs all of RUNS.
"""

import hashlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

tests = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(tests / "Crash"))
from server import APPLICATION, TOKEN, fixed_port, serving

GUIDES = tests.parent / "Sources" / "ParleyServer" / "ParleyServer.docc"
# A slow machine must not make an attempt fail that the guide shows as a success.
SETTINGS = {"PARLEY_WEBHOOKS_ALLOW_HTTP": "true", "PARLEY_WEBHOOKS_ALLOWED_NETWORKS": "127.0.0.0/8",
            "PARLEY_WEBHOOKS_ANSWER_TIMEOUT": "10s"}


def paste(name, server, folder, replacements=()):
    """Runs the blocks of a guide; returns what they printed."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", (GUIDES / name).read_text(), re.M | re.S)
    assert blocks, f"{name} has no shell block"
    script = "set -uo pipefail\ntrap 'echo \"failed: $BASH_COMMAND\" >&2; exit 1' ERR\nset -E\n" + "echo\n".join(blocks)
    for old, new in (("127.0.0.1:8080", f"127.0.0.1:{server.port}"), *replacements):
        assert old in script, f"{name} does not name {old}"
        script = script.replace(old, new)
    environment = os.environ | {
        "APP": APPLICATION, "TOKEN": TOKEN, "XDG_CACHE_HOME": str(folder), "PARLEY_DATA_FOLDER": server.data}
    # A session of its own, so that receivers end with a guide that fails.
    shell = subprocess.Popen(
        ["bash", "-c", script], cwd=folder, env=environment, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        printed, _ = shell.communicate(timeout=120)
    finally:
        try:
            os.killpg(shell.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    assert shell.returncode == 0, f"{name}:\n{printed}"
    return printed


def uploads(server, folder):
    program = (".build/release/parley", server.binary)
    server_option = ("--app $APP", f"--app $APP --server http://127.0.0.1:{server.port}")
    printed = paste("UploadGuide.md", server, folder, [program, server_option])
    film = (folder / "film.mp4").read_bytes()
    assert (folder / "copy.mp4").read_bytes() == film
    # The final answers of one plain request, of two resumed ones, and of the one with digests.
    assert re.findall(r'"etag":"(\w+)"', printed) == [hashlib.sha256(film).hexdigest()] * 4, printed
    assert printed.count("\ncut\n") == 3, printed
    assert re.search(r"^CONTENT=layer:///content/", printed, re.M), printed
    # Of tus, which answers no JSON, and of the range.
    assert re.search(rf"^{len(film)}$", printed, re.M) and re.search(r"^ *1000$", printed, re.M), printed
    assert printed.rstrip().endswith("499"), printed


def webhooks(server, folder):
    ports = [(str(port), str(fixed_port())) for port in (9000, 9001)]
    printed = paste("WebhookGuide.md", server, folder, ports)
    python, node = ((folder / name).read_text() for name in ("python.log", "node.log"))
    states = [line for line in printed.splitlines() if re.fullmatch(r"[a-z]+|\[\]", line)]
    assert states == ["active", "active", "unverified", "pending", "[]", "[]", "active", "inactive"], printed
    assert python.count("'type': 'Message.created'") >= 2 and "'type': 'webhook.test'" in python, python
    assert node.count('"type":"message.sent"') >= 1, node
    assert " 401 " not in python, python


def events(server, folder):
    printed = paste("Events.md", server, folder)
    assert '"next":' in printed and "closed" in printed and "id: 1\n" in printed, printed
    *_, now, past = printed.rstrip().splitlines()
    assert '"body":"Hello, Bo"' in now and past == "[]", printed


def concepts(server, folder):
    printed = paste("Concepts.md", server, folder)
    assert '"unread_message_count":1' in printed and '"type":"message.sent"' in printed, printed


def conversations(server, folder):
    printed = paste("Conversations.md", server, folder)
    first, *_ = re.findall(r'"id":"(layer:///conversations/[0-9a-f-]+)"', printed)
    assert printed.count(f'"id":"{first}"') >= 4, printed
    assert refused(printed) == [409, 410, 412], printed
    assert re.search(r"^\[\]$", printed, re.M), printed
    assert re.findall(r"^(refused|gone|changed)$", printed, re.M) == ["refused", "gone", "changed"], printed


def messages(server, folder):
    printed = paste("Messages.md", server, folder)
    once = re.findall(r'"id":"(layer:///messages/[0-9a-f-]+)".*"body":"Once only"', printed)
    assert len(once) >= 2 and len(set(once)) == 1, printed
    assert refused(printed) == [422, 404, 404], printed
    assert re.search(r'"body":"In a moment".*"body":"Two".*"body":"One"', printed), printed
    assert "Are you there?" not in printed and '"body":"Closed on Monday"' in printed, printed


def rich_content(server, folder):
    printed = paste("RichContent.md", server, folder)
    assert (folder / "photo.jpg").read_bytes() == (folder / "copy.jpg").read_bytes()
    assert int(re.search(r"^ *(\d+)$", printed, re.M)[1]) > 400_000, printed
    assert '"transfer_status":"awaiting_upload","bytes_received":0' in printed, printed
    assert re.search(r'"transfer":\{"bytes":(\d+),"bytes_received":\1,"fraction":1\.0\}', printed), printed
    *_, parts = printed.rstrip().splitlines()
    assert re.findall(r'"body":"([^"]*)"', parts)[0] == "A small red dot" and '"body":"Found it"' in parts, parts
    assert "lat" not in parts, parts


def metadata(server, folder):
    printed = paste("Metadata.md", server, folder)
    shown = [json.loads(found) for found in re.findall(r'^"metadata":(\{.*\})\}$', printed, re.M)]
    assert shown == [
        {"flat": {"floor": "3"}, "topic": "rent"},
        {"color": "blue", "flat": {"door": "left", "floor": "3"}, "topic": "rent"},
        {"color": "blue", "flat": {"door": "left"}, "topic": "rent"},
        {"color": "blue", "flat": {"house": "12"}, "topic": "rent"},
        {"topic": "rent"}, {}, {"ana": "yes", "bo": "no"}, {"shift": "early", "team": "north"},
    ], printed
    assert refused(printed) == [422], printed


def receipts(server, folder):
    printed = paste("Receipts.md", server, folder)
    assert re.findall(r'"layer:///identities/bo":"(\w+)"', printed) == ["delivered", "read"], printed
    unread = re.findall(r'^"unread_message_count":(\d+)$', printed, re.M)
    assert unread == ["2", "1", "0"], printed
    assert re.findall(r'^"body":"(.*)"$', printed, re.M) == ["Bye", "Call me", "How are you?", "Hello"], printed
    assert '"external_unread_count":3,"unread_conversation_count":1,"unread_message_count":4' in printed, printed
    assert '"type":"message.delivered"' in printed and '"type":"message.read"' in printed, printed


def errors(server, folder):
    printed = paste("Errors.md", server, folder)
    assert re.findall(r'"code":(\d+)', printed) == ["104", "105", "102", "107", "4", "105"], printed
    assert re.findall(r"^(\d{3})$", printed, re.M) == ["422", "422", "404", "406", "422"], printed
    assert "X-Request-Id: " in printed, printed


def limits(server, folder):
    printed = paste("Limits.md", server, folder)
    assert "RateLimit-Policy: " in printed and "is 2,049 bytes" in printed, printed
    assert printed.rstrip().endswith("422"), printed


def security(server, folder):
    printed = paste("Security.md", server, folder, [(".build/release/parley", server.binary)])
    assert printed.startswith("200\n") and '"id":"access_denied"' in printed, printed
    assert '"id":"authentication_required"' in printed and "DNS:localhost" in printed, printed


def troubleshooting(server, folder):
    printed = paste("Troubleshooting.md", server, folder, [(".build/release/parley", server.binary)])
    assert "settings in order\n0\n" in printed and '{"status":"ok"}200\n' in printed, printed
    assert " created application " in printed, printed
    request = re.search(r"(?i)^x-request-id: (\S+)", printed, re.M)[1]
    # Log lines are written by a thread of their own.
    deadline = time.monotonic() + 10
    while f'"id":"{request}"' not in server.log.read_text():
        assert time.monotonic() < deadline, f"the log has no line of {request}"
        time.sleep(0.05)


def compatibility(server, folder):
    printed = paste("Compatibility.md", server, folder)
    assert "Parley-Version: 1.1" in printed and '"participants":["ana","bo"]' in printed, printed
    assert json.loads((folder / "openapi-1.1.json").read_text())["openapi"].startswith("3.1"), printed


def refused(printed):
    """The statuses of the requests that a guide shows as failing, in their order."""
    return [int(status) for status in re.findall(r"^curl: \(22\) .* error: (\d+)$", printed, re.M)]


RUNS = {
    "uploads": uploads, "webhooks": webhooks, "events": events, "concepts": concepts, "conversations": conversations,
    "messages": messages, "rich content": rich_content, "metadata": metadata, "receipts": receipts, "errors": errors,
    "limits": limits, "security": security, "troubleshooting": troubleshooting, "compatibility": compatibility,
}
# Settings of a guide that the other servers are started without.
OWN_SETTINGS = {
    "limits": {"PARLEY_API_RATE_LIMIT": "100"},
    "troubleshooting": {"PARLEY_LOG_REQUESTS": "true"},
}


def main():
    for name in sys.argv[2:] or RUNS:
        guide = RUNS[name]
        settings = SETTINGS | OWN_SETTINGS.get(name, {})
        with tempfile.TemporaryDirectory() as folder, serving(sys.argv[1], settings=settings) as server:
            server.start()
            guide(server, pathlib.Path(folder))
            assert server.stop() == 0
        print(f"guides: each block of the guide to {name} does what it says", flush=True)


if __name__ == "__main__":
    main()
