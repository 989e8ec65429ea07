"""Compares webhook deliveries during the examples with the description."""

import json
import pathlib
import re
import secrets
import subprocess
import sys
import time
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Support"))

import described
from receiver import Receiver, verify

SECRET = "s3cret"
# The server may call the receiver, and accepts trace headers from a proxy.
SETTINGS = {
    "PARLEY_HTTP_TRUSTED_PROXIES": "127.0.0.1",
    "PARLEY_WEBHOOKS_ALLOWED_NETWORKS": "127.0.0.1", "PARLEY_WEBHOOKS_ALLOW_HTTP": "true",
    "PARLEY_WEBHOOKS_ANSWER_TIMEOUT": "10s"}


class Collector(Receiver):
    """Accepts each delivery with valid signatures."""

    def __init__(self):
        super().__init__(SECRET)
        self.arrived = []

    def answer_to(self, headers, body):
        verify(self.secret, headers, body)
        with self.lock:
            self.arrived.append((headers, json.loads(body)))
        return 204


def deliver(peer, description, report):
    """Sends every example of a version, and checks all deliveries to its webhook."""
    document = description.document
    operations = {
        type: item["post"] for type, item in document["webhooks"].items() if "parameters" in item["post"]}
    media = {next(iter(operation["requestBody"]["content"])) for operation in operations.values()}
    assert len(media) == 1, media
    media = media.pop()
    version = media.rsplit("=", 1)[1]
    application, token = peer.application()
    trace = secrets.token_hex(16)
    traced = {"traceparent": f"00-{trace}-{secrets.token_hex(8)}-01"}
    fields = {"Authorization": f"Bearer {token}", "Accept": media, "Content-Type": "application/json"} | traced

    def ask(method, path, json_=None):
        answer = peer.ask(method, f"/apps/{application}/webhooks{path}", json_ and json.dumps(json_).encode(), fields)
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {answer.body[:300]}")
        return answer, json.loads(answer.body)

    collector = Collector()
    try:
        _, webhook = ask("POST", "", {
            "version": version, "target_url": collector.url, "secret": SECRET, "config": {"name": "audit"},
            "events": [type for type in operations if type != "webhook.test"]})
        path = "/" + webhook["id"].rsplit("/", 1)[1]
        until(lambda: ask("GET", path)[1]["status"] == "active", "the webhook is not active")
        for operation in description.operations:
            if "/export" in operation.path:
                # Webhooks are told nothing of it, and an application has one export at a time.
                continue
            play = described.Play(description, application, token, traced)
            play.prepare(operation)
            play.send(operation)
        receive(described.Play(description, application, token, traced))
        ask("POST", path + "/test")
        couple = {"participants": ["dee", "eli"], "distinct": True}
        message = fields | {"Accept": f"application/vnd.layer+json; version={description.version}"}
        peer.ask("POST", f"/apps/{application}/conversations", json.dumps(couple).encode(), message)
        meet(peer.server, application, couple["participants"])
        # The log is read in order: once its end has come, all of it waits or has come.
        mark = str(uuid.uuid4())
        peer.ask(
            "POST", f"/apps/{application}/conversations",
            json.dumps({"participants": ["ana", "bo"], "distinct": False, "metadata": {"mark": mark}}).encode(),
            message)
        until(lambda: any(mark in str(body) for _, body in collector.arrived), "the last event does not come")
        until(lambda: ask("GET", path + "/deliveries?state=pending")[0].fields["Layer-Count"] == "0", "deliveries wait")
        arrived = list(collector.arrived)
    finally:
        collector.shutdown()
        collector.server_close()
    for complaint in collector.complaints:
        report(f"a delivery of {version}: {complaint}")
    for headers, body in arrived:
        type = body["event"]["type"]
        problem = breach(description, operations.get(type), media, headers, body)
        if problem:
            report(f"a delivery of {type} in {version}: {problem}: {str(body)[:500]}")
    for problem in astray(arrived, trace):
        report(f"a delivery in {version}: {problem}")
    seen = {body["event"]["type"] for _, body in arrived}
    if not seen - {"webhook.test"}:
        report(f"nothing was delivered in {version}")
    print(f"  webhooks in {version}: {len(arrived)} deliveries of {len(seen)} types;"
          f" not caused by an example: {', '.join(sorted(operations.keys() - seen))}", flush=True)


def receive(play):
    """Records a delivery receipt: the example records a read receipt, after which no delivery event follows."""
    operation = next(
        operation for operation in play.description.operations
        if operation.path.endswith("/users/{user}/messages/{message}/receipts"))
    play.prepare(operation)
    answer = play.send(operation, body=json.dumps(operation.body | {"type": "delivery"}).encode())
    assert answer.status < 300, answer.body


def meet(server, application, users):
    """Imports another distinct conversation of users who have one: the two are merged.

    No process may serve the folder meanwhile.
    """
    def said(*words):
        return subprocess.run(
            [server.binary, *words, "--data", server.data], cwd=server.folder, check=True, capture_output=True,
            text=True).stdout

    assert server.stop() == 0
    lines = []
    for line in map(json.loads, said("export", "--app", application).splitlines()):
        if line["record"] == "conversation":
            if [one["user_id"] for one in line["participants"]] != users:
                continue
            line["id"] = str(uuid.uuid4())
        if line["record"] in ("application", "conversation") or line["record"] == "user" and line["user_id"] in users:
            lines.append(json.dumps(line, separators=(",", ":")))
    file = server.folder / "couple.jsonl"
    file.write_text("\n".join(lines) + "\n")
    assert "merged" in said("import", str(file))
    server.start()


def astray(arrived, trace):
    """Returns errors in the trace headers of deliveries, as all requests were part of one trace."""
    steps = []
    for headers, body in arrived:
        type, line = body["event"]["type"], headers["traceparent"]
        if type.lower() == "conversation.merged":
            # No request caused it.
            if line is not None:
                yield f"{type} is traced as {line}"
        elif line is None or not re.fullmatch(f"00-{trace}-[0-9a-f]{{16}}-01", line):
            yield f"{type} is traced as {line}"
        else:
            steps.append(line)
    if len(set(steps)) < len(steps):
        yield "two of them are one step of a trace"


def breach(description, operation, media, headers, body):
    """The first violation of the description in a delivery, or None."""
    if operation is None:
        return "the type is not described"
    if headers["content-type"] != media:
        return f"as {headers['content-type']}"
    for parameter in map(description.resolved, operation["parameters"]):
        value = headers[parameter["name"]]
        if value is None:
            if parameter["required"]:
                return f"without {parameter['name']}"
            continue
        if problem := description.breach(value, parameter["schema"]):
            return f"{parameter['name']}: {problem}"
    return description.breach(body, operation["requestBody"]["content"][media]["schema"])


def until(holds, words):
    end = time.monotonic() + 300
    while not holds():
        assert time.monotonic() < end, words
        time.sleep(0.05)
