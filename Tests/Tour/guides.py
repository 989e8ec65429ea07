"""Runs the guides of ParleyServer.docc against the binary: every shell block, in order, in one shell.

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
# A long timeout, so that deliveries which a guide shows as successful do not fail on a slow machine.
SETTINGS = {"PARLEY_WEBHOOKS_ALLOW_HTTP": "true", "PARLEY_WEBHOOKS_ALLOWED_NETWORKS": "127.0.0.0/8",
            "PARLEY_WEBHOOKS_ANSWER_TIMEOUT": "10s"}


def run_guide(name, server, folder, replacements=()):
    """Runs the shell blocks of a guide; returns their output."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", (GUIDES / name).read_text(), re.M | re.S)
    assert blocks, f"{name} has no shell block"
    script = "set -uo pipefail\ntrap 'echo \"failed: $BASH_COMMAND\" >&2; exit 1' ERR\nset -E\n" + "echo\n".join(blocks)
    for old, new in (("127.0.0.1:8080", f"127.0.0.1:{server.port}"), *replacements):
        assert old in script, f"{name} does not name {old}"
        script = script.replace(old, new)
    environment = os.environ | {
        "APP": APPLICATION, "TOKEN": TOKEN, "XDG_CACHE_HOME": str(folder), "PARLEY_DATA_FOLDER": server.data}
    # In its own process group, so that receivers which the guide has started are ended as well.
    shell = subprocess.Popen(
        ["bash", "-c", script], cwd=folder, env=environment, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        output, _ = shell.communicate(timeout=120)
    finally:
        try:
            os.killpg(shell.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    assert shell.returncode == 0, f"{name}:\n{output}"
    return output


def uploads(server, folder):
    program = (".build/release/parley", server.binary)
    server_option = ("--app $APP", f"--app $APP --server http://127.0.0.1:{server.port}")
    output = run_guide("UploadGuide.md", server, folder, [program, server_option])
    video = (folder / "film.mp4").read_bytes()
    assert (folder / "copy.mp4").read_bytes() == video
    # The final answers of a plain request, of two resumed ones, and of the one with digests.
    assert re.findall(r'"etag":"(\w+)"', output) == [hashlib.sha256(video).hexdigest()] * 4, output
    assert output.count("\ncut\n") == 3, output
    assert re.search(r"^CONTENT=layer:///content/", output, re.M), output
    # The final offset of the upload with tus, whose answers have no JSON, and the size of a downloaded range.
    assert re.search(rf"^{len(video)}$", output, re.M) and re.search(r"^ *1000$", output, re.M), output
    assert output.rstrip().endswith("499"), output


def webhooks(server, folder):
    ports = [(str(port), str(fixed_port())) for port in (9000, 9001)]
    output = run_guide("WebhookGuide.md", server, folder, ports)
    python, node = ((folder / name).read_text() for name in ("python.log", "node.log"))
    states = [line for line in output.splitlines() if re.fullmatch(r"[a-z]+|\[\]", line)]
    assert states == ["active", "active", "unverified", "pending", "[]", "[]", "active", "inactive"], output
    assert python.count("'type': 'Message.created'") >= 2 and "'type': 'webhook.test'" in python, python
    assert node.count('"type":"message.sent"') >= 1, node
    assert " 401 " not in python, python


def events(server, folder):
    output = run_guide("Events.md", server, folder)
    assert '"next":' in output and "closed" in output and "id: 1\n" in output, output
    *_, now, past = output.rstrip().splitlines()
    assert '"body":"Hello, Bo"' in now and past == "[]", output


def concepts(server, folder):
    output = run_guide("Concepts.md", server, folder)
    assert '"unread_message_count":1' in output and '"type":"message.sent"' in output, output


def conversations(server, folder):
    output = run_guide("Conversations.md", server, folder)
    first, *_ = re.findall(r'"id":"(layer:///conversations/[0-9a-f-]+)"', output)
    assert output.count(f'"id":"{first}"') >= 4, output
    assert refused(output) == [409, 410, 412], output
    assert re.search(r"^\[\]$", output, re.M), output
    assert re.findall(r"^(refused|gone|changed)$", output, re.M) == ["refused", "gone", "changed"], output


def messages(server, folder):
    output = run_guide("Messages.md", server, folder)
    once = re.findall(r'"id":"(layer:///messages/[0-9a-f-]+)".*"body":"Once only"', output)
    assert len(once) >= 2 and len(set(once)) == 1, output
    assert refused(output) == [422, 404, 404], output
    assert re.search(r'"body":"In a moment".*"body":"Two".*"body":"One"', output), output
    assert "Are you there?" not in output and '"body":"Closed on Monday"' in output, output


def rich_content(server, folder):
    output = run_guide("RichContent.md", server, folder)
    assert (folder / "photo.jpg").read_bytes() == (folder / "copy.jpg").read_bytes()
    assert int(re.search(r"^ *(\d+)$", output, re.M)[1]) > 400_000, output
    assert '"transfer_status":"awaiting_upload","bytes_received":0' in output, output
    assert re.search(r'"transfer":\{"bytes":(\d+),"bytes_received":\1,"fraction":1\.0\}', output), output
    *_, parts = output.rstrip().splitlines()
    assert re.findall(r'"body":"([^"]*)"', parts)[0] == "A small red dot" and '"body":"Found it"' in parts, parts
    assert "lat" not in parts, parts


def metadata(server, folder):
    output = run_guide("Metadata.md", server, folder)
    shown = [json.loads(found) for found in re.findall(r'^"metadata":(\{.*\})\}$', output, re.M)]
    assert shown == [
        {"flat": {"floor": "3"}, "topic": "rent"},
        {"color": "blue", "flat": {"side": "left", "floor": "3"}, "topic": "rent"},
        {"color": "blue", "flat": {"side": "left"}, "topic": "rent"},
        {"color": "blue", "flat": {"building": "12"}, "topic": "rent"},
        {"topic": "rent"}, {}, {"ana": "yes", "bo": "no"}, {"shift": "early", "team": "north"},
    ], output
    assert refused(output) == [422], output


def receipts(server, folder):
    output = run_guide("Receipts.md", server, folder)
    assert re.findall(r'"layer:///identities/bo":"(\w+)"', output) == ["delivered", "read"], output
    unread = re.findall(r'^"unread_message_count":(\d+)$', output, re.M)
    assert unread == ["2", "1", "0"], output
    assert re.findall(r'^"body":"(.*)"$', output, re.M) == ["Bye", "Call me", "How are you?", "Hello"], output
    assert '"external_unread_count":3,"unread_conversation_count":1,"unread_message_count":4' in output, output
    assert '"type":"message.delivered"' in output and '"type":"message.read"' in output, output


def errors(server, folder):
    output = run_guide("Errors.md", server, folder)
    assert re.findall(r'"code":(\d+)', output) == ["104", "105", "102", "107", "4", "105"], output
    assert re.findall(r"^(\d{3})$", output, re.M) == ["422", "422", "404", "406", "422"], output
    assert "X-Request-Id: " in output, output


def limits(server, folder):
    output = run_guide("Limits.md", server, folder)
    assert "RateLimit-Policy: " in output and "is 2,049 bytes" in output, output
    assert output.rstrip().endswith("422"), output


def security(server, folder):
    output = run_guide("Security.md", server, folder, [(".build/release/parley", server.binary)])
    assert output.startswith("200\n") and '"id":"access_denied"' in output, output
    assert '"id":"authentication_required"' in output and "DNS:localhost" in output, output


def troubleshooting(server, folder):
    output = run_guide("Troubleshooting.md", server, folder, [(".build/release/parley", server.binary)])
    assert "settings are valid\n0\n" in output and '{"status":"ok"}200\n' in output, output
    assert " created application " in output, output
    request = re.search(r"(?i)^x-request-id: (\S+)", output, re.M)[1]
    # Log lines are written by a separate thread.
    deadline = time.monotonic() + 10
    while f'"id":"{request}"' not in server.log.read_text():
        assert time.monotonic() < deadline, f"the log has no line of {request}"
        time.sleep(0.05)


def compatibility(server, folder):
    output = run_guide("Compatibility.md", server, folder)
    assert "Parley-Version: 1.1" in output and '"participants":["ana","bo"]' in output, output
    assert json.loads((folder / "openapi-1.1.json").read_text())["openapi"].startswith("3.1"), output


def refused(output):
    """The statuses of the requests that a guide shows as failing, in order."""
    return [int(status) for status in re.findall(r"^curl: \(22\) .* error: (\d+)$", output, re.M)]


RUNS = {
    "uploads": uploads, "webhooks": webhooks, "events": events, "concepts": concepts, "conversations": conversations,
    "messages": messages, "rich content": rich_content, "metadata": metadata, "receipts": receipts, "errors": errors,
    "limits": limits, "security": security, "troubleshooting": troubleshooting, "compatibility": compatibility,
}
# Additional settings of some guides.
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
        print(f"guides: the blocks of the guide to {name} succeed", flush=True)


if __name__ == "__main__":
    main()
