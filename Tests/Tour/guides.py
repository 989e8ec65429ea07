"""Runs the guides of ParleyServer.docc against the real binary: every shell block, in its order, in one shell.

usage: guides.py BINARY
"""

import hashlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

tests = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(tests / "Crash"))
from server import APPLICATION, TOKEN, kept_port, serving

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
    environment = os.environ | {"APP": APPLICATION, "TOKEN": TOKEN, "XDG_CACHE_HOME": str(folder)}
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
    ports = [(str(port), str(kept_port())) for port in (9000, 9001)]
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


def main():
    for name, guide in (("uploads", uploads), ("webhooks", webhooks), ("events", events)):
        with tempfile.TemporaryDirectory() as folder, serving(sys.argv[1], settings=SETTINGS) as server:
            server.start()
            guide(server, pathlib.Path(folder))
            assert server.stop() == 0
        print(f"guides: each block of the guide to {name} does what it says")


if __name__ == "__main__":
    main()
