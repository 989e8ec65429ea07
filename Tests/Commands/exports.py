"""Exports: an interrupted export starts again, and an export needs little memory.

usage: exports.py BINARY
"""

import base64
import io
import json
import pathlib
import subprocess
import sys
import tarfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Crash"))
from server import APPLICATION, PATIENCE, TOKEN, serving

# Requests, and messages in each of them; with TEXT the messages are 10 MB.
BATCHES, BATCH = 838, 12
TEXT = "x" * 1000
# The most bytes by which memory may grow: less than half the size of the export.
GROWTH = 5 << 20


class Caller:
    """Sends requests with the token of one application."""

    def __init__(self, server, application, token):
        self.server, self.application, self.token = server, application, token

    def send(self, method, path, body=None, status=200, connection=None):
        connection = connection or self.server.connection()
        connection.request(
            method, f"/apps/{self.application}{path}", None if body is None else json.dumps(body),
            {"Authorization": f"Bearer {self.token}", "Accept": "application/vnd.layer+json; version=2.0"})
        answer = connection.getresponse()
        content = answer.read()
        assert answer.status == status, (method, path, answer.status, content[:300])
        return json.loads(content) if content else None

    def fill(self):
        """Sends messages and reads the latest 5,000 of them; returns the texts of all."""
        connection = self.server.connection()
        send = lambda *request: self.send(*request, connection=connection)
        conversation = send("POST", "/conversations", {"participants": ["ana", "bo"]}, 201)["id"].split("/")[-1]
        send("POST", "/users/ana/identity", {"display_name": "Ana"}, 201)
        messages = f"/conversations/{conversation}/messages"
        for number in range(BATCHES):
            batch = [
                {"sender_id": "ana", "parts": [{"mime_type": "text/plain", "body": f"{number}-{index}-{TEXT}"}]}
                for index in range(BATCH)
            ]
            send("POST", messages, batch, 202)
        last = ""
        for _ in range(50):
            last = "&from_id=" + send("GET", f"{messages}?page_size=100{last}")[-1]["id"].split("/")[-1]
        return {f"{number}-{index}-{TEXT}" for number in range(BATCHES) for index in range(BATCH)}

    def request_export(self, key):
        """Requests an export that is encrypted for a key; returns its id."""
        self.send("PUT", "/export_security", {"public_key": openssl("pkey", "-in", str(key), "-pubout").decode()})
        return self.send("POST", "/exports", status=202)["id"].split("/")[-1]

    def listed(self, export, connection):
        """The JSON of an export."""
        return next(one for one in self.send("GET", "/exports", connection=connection) if one["id"].endswith(export))

    def completed(self, export):
        """Waits until an export is completed; returns its JSON."""
        deadline = time.monotonic() + 300
        connection = self.server.connection()
        while time.monotonic() < deadline:
            export_status = self.listed(export, connection)
            if export_status["status"] == "completed":
                return export_status
            time.sleep(0.05)
        raise RuntimeError("the export is not completed within five minutes")

    def expect_exported(self, export_status, key, sent):
        """Downloads and decrypts an export; expects that it has exactly the sent texts."""
        connection = self.server.connection()
        connection.request("GET", export_status["download_url"].split(str(self.server.port), 1)[1])
        archive = connection.getresponse().read()
        secret = openssl("pkeyutl", "-decrypt", "-inkey", str(key), given=base64.b64decode(export_status["encrypted_aes_key"]))
        vector = base64.b64decode(export_status["aes_iv"]).hex()
        plain = openssl("enc", "-d", "-aes-256-cbc", "-K", secret.hex(), "-iv", vector, given=archive)
        with tarfile.open(fileobj=io.BytesIO(plain), mode="r:gz") as tar:
            document = json.load(tar.extractfile("export.json"))
        found = [message["parts"][0]["body"] for message in document["messages"]]
        assert len(found) == len(sent) and set(found) == sent, (len(found), len(sent))


def openssl(*arguments, given=None):
    return subprocess.run(["openssl", *arguments], input=given, capture_output=True, check=True).stdout


def staged(server, name):
    """The size in bytes of a file that an export is writing; `None` if it does not exist."""
    for file in (server.folder / "data").rglob(name):
        try:
            return file.stat().st_size
        except FileNotFoundError:
            return None
    return None


def kill_when(caller, key, export, suffix, size):
    """Kills the server once a file of an export has reached a size.

    Returns the id of the export: another one was requested if it was completed before.
    """
    deadline = time.monotonic() + PATIENCE
    connection = caller.server.connection()
    while (staged(caller.server, export + suffix) or 0) < size:
        assert time.monotonic() < deadline, f"{export}{suffix} did not reach {size} bytes"
        if caller.listed(export, connection)["status"] == "completed":
            export = caller.request_export(key)
        time.sleep(0.002)
    caller.server.kill()
    return export


def memory(process, field):
    """A figure of `/proc/PID/status` in bytes."""
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) << 10
    raise RuntimeError(f"no {field}")


def another_application(server):
    """Creates an application by command; returns a caller with its token."""
    def output(name, *command):
        lines = subprocess.run(
            [server.binary, *command, "--data", server.data],
            env={"PARLEY_DATABASE_URL": server.database or ""},
            capture_output=True, check=True, text=True).stdout.splitlines()
        return next(line.split("=", 1)[1] for line in lines if line.startswith(f"{name}="))

    application = output("APP", "app", "create", "another")
    return Caller(server, application, output("TOKEN", "token", "create", "--app", application))


def kills(server, key):
    """Kills the server when the JSON is started, half written, and being encrypted: the export starts again each time."""
    caller = Caller(server, APPLICATION, TOKEN)
    server.start()
    sent = caller.fill()
    export = caller.request_export(key)
    for suffix, size in (("-json", 1), ("-json", 5 << 20), ("", 1)):
        export = kill_when(caller, key, export, suffix, size)
        server.start()
    caller.expect_exported(caller.completed(export), key, sent)
    left = [str(file) for file in (server.folder / "data").rglob("*-json")]
    assert not left, left
    assert server.stop() == 0
    print(f"exports: {len(sent)} messages after three kills")


def growth(server, key):
    """Memory grows by less than GROWTH during an export, after the same messages were stored and read."""
    server.start()
    caller = another_application(server)
    sent = caller.fill()
    # RssAnon, because the system can reclaim the pages of the mapped database. It is sampled, because the
    # system records no peak of it.
    resting = memory(server.process, "RssAnon")
    export = caller.request_export(key)
    samples, is_stopped = [], threading.Event()

    def watch():
        while not is_stopped.wait(0.002):
            samples.append(memory(server.process, "RssAnon"))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        export_status = caller.completed(export)
    finally:
        is_stopped.set()
        watcher.join()
    grown = max(samples) - resting
    caller.expect_exported(export_status, key, sent)
    assert grown < GROWTH, f"memory grew by {grown} bytes"
    assert server.stop() == 0
    print(f"exports: memory grew by {grown >> 10} KiB for {len(sent)} messages")


def main():
    with serving(sys.argv[1]) as server:
        key = server.folder / "key.pem"
        key.write_bytes(openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"))
        kills(server, key)
        growth(server, key)


if __name__ == "__main__":
    main()
