"""The receiver in WebhookGuide.md that uses standardwebhooks, run unchanged: it verifies deliveries of a server.

usage: receiver.py BINARY

Where PyPI's standardwebhooks is not installed, a replacement with its interface computes the HMAC.
"""

import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

tests = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(tests / "Support"), str(tests / "Crash")]
from clients import BASE, HEADERS, Client
from receiver import standardwebhooks
from server import PATIENCE, fixed_port, serving

REPLACEMENT = '''
import base64, hashlib, hmac
class Webhook:
    def __init__(self, secret): self.key = base64.b64decode(secret)
    def verify(self, body, headers):
        fields = {name.lower(): value for name, value in headers.items()}
        signed = f"{fields['webhook-id']}.{fields['webhook-timestamp']}.".encode() + body
        code = "v1," + base64.b64encode(hmac.new(self.key, signed, hashlib.sha256).digest()).decode()
        if code not in fields["webhook-signature"].split(" "): raise ValueError("wrong signature")
'''


def main():
    guide = (tests.parent / "Sources/ParleyServer/ParleyServer.docc/WebhookGuide.md").read_text()
    program = re.search(r"<!-- receiver -->\n```python\n(.*?)```", guide, re.S)[1]
    port = fixed_port()
    program = program.replace("9000", str(port))
    settings = {"PARLEY_WEBHOOKS_ALLOWED_NETWORKS": "127.0.0.1", "PARLEY_WEBHOOKS_ALLOW_HTTP": "true",
                "PARLEY_WEBHOOKS_ANSWER_TIMEOUT": "60s", "PARLEY_WEBHOOKS_VERIFY_TIMEOUT": "60s"}
    with tempfile.TemporaryDirectory() as folder, serving(sys.argv[1], settings=settings) as server:
        verifier = "PyPI's standardwebhooks" if standardwebhooks() else "the replacement"
        if not standardwebhooks():
            print("receiver: PyPI's standardwebhooks is not installed: a replacement computes the HMAC")
            pathlib.Path(folder, "standardwebhooks.py").write_text(REPLACEMENT)
        receiver = subprocess.Popen(
            [sys.executable, "-u", "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env=os.environ | {"PYTHONPATH": folder})
        try:
            server.start()
            client, fields = Client(server, None), HEADERS | {"Accept": "application/vnd.layer.webhooks+json; version=2.0"}
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=PATIENCE).close()
                    break
                except OSError:
                    time.sleep(0.05)
            draft = {"version": "2.0", "target_url": f"http://127.0.0.1:{port}/in", "events": ["Message.created"],
                     "secret": "s3cret"}
            answer, body = client.request("POST", BASE + "/webhooks", json.dumps(draft), fields)
            assert answer.status == 201, body
            path = BASE + "/webhooks/" + json.loads(body)["id"].rsplit("/", 1)[1]
            end = time.monotonic() + PATIENCE
            while json.loads(client.request("GET", path, None, fields)[1])["status"] != "active":
                assert time.monotonic() < end, "the receiver of the guide does not answer the challenge"
                time.sleep(0.05)
            conversation = client.post("/conversations", {"participants": ["ana", "bo"]}, {201})["id"].rsplit("/", 1)[1]
            message = {"sender_id": "layer:///identities/ana", "parts": [{"mime_type": "text/plain", "body": "hello"}]}
            sent = client.post(f"/conversations/{conversation}/messages", message, {201})["id"].rsplit("/", 1)[1]
            line = receiver.stdout.readline()
            assert "Message.created" in line and sent in line, line
        finally:
            receiver.kill()
            receiver.wait()
        assert server.stop() == 0
    print(f"receiver: the guide's receiver verifies deliveries with {verifier}")


main()
