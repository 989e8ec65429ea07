"""Compares webhook deliveries with the description while the examples are sent."""

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
# The server may send to the receiver on loopback, and trusts the trace headers of clients on loopback.
SETTINGS = {
    "PARLEY_HTTP_TRUSTED_PROXIES": "127.0.0.1",
    "PARLEY_WEBHOOKS_ALLOWED_NETWORKS": "127.0.0.1", "PARLEY_WEBHOOKS_ALLOW_HTTP": "true",
    "PARLEY_WEBHOOKS_ANSWER_TIMEOUT": "60s", "PARLEY_WEBHOOKS_VERIFY_TIMEOUT": "60s",
    "PARLEY_API_DEV_LOGIN": "true"}


class Collector(Receiver):
    """Accepts each delivery with valid signatures."""

    def __init__(self):
        super().__init__(SECRET)
        self.received = []

    def answer_to(self, headers, body):
        verify(self.secret, headers, body)
        with self.lock:
            self.received.append((headers, json.loads(body)))
        return 204


def deliver(api, description, report):
    """Sends all examples of a version, and checks the deliveries to a webhook."""
    document = description.document
    operations = {
        type: item["post"] for type, item in document["webhooks"].items() if "parameters" in item["post"]}
    media = {next(iter(operation["requestBody"]["content"])) for operation in operations.values()}
    assert len(media) == 1, media
    media = media.pop()
    version = media.rsplit("=", 1)[1]
    application, token = api.application()
    trace = secrets.token_hex(16)
    traced = {"traceparent": f"00-{trace}-{secrets.token_hex(8)}-01"}
    fields = {"Authorization": f"Bearer {token}", "Accept": media, "Content-Type": "application/json"} | traced

    def send(method, path, json_=None):
        answer = api.send(method, f"/apps/{application}/webhooks{path}", json_ and json.dumps(json_).encode(), fields)
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {answer.body[:300]}")
        return answer, json.loads(answer.body)

    collector = Collector()
    try:
        _, webhook = send("POST", "", {
            "version": version, "target_url": collector.url, "secret": SECRET, "config": {"name": "audit"},
            "events": [type for type in operations if type != "webhook.test"]})
        path = "/" + webhook["id"].rsplit("/", 1)[1]
        wait_until(lambda: send("GET", path)[1]["status"] == "active", "the webhook is not active")
        for operation in description.operations:
            if "/export" in operation.path:
                # Exports cause no webhook event, and an application has one export at a time.
                continue
            if operation.name == "eraseUser" or "/erasures" in operation.path:
                # The other examples name the user.
                continue
            client = described.ExampleClient(description, application, token, traced)
            client.prepare(operation)
            client.send(operation)
        send_delivery_receipt(described.ExampleClient(description, application, token, traced))
        send("POST", path + "/test")
        pair = {"participants": ["dee", "eli"], "distinct": True}
        message = fields | {"Accept": f"application/vnd.layer+json; version={description.version}"}
        api.send("POST", f"/apps/{application}/conversations", json.dumps(pair).encode(), message)
        merge_conversations(api.server, application, pair["participants"])
        # The log is read in order: when its last event has arrived, all others have arrived or are pending.
        mark = str(uuid.uuid4())
        api.send(
            "POST", f"/apps/{application}/conversations",
            json.dumps({"participants": ["ana", "bo"], "distinct": False, "metadata": {"mark": mark}}).encode(),
            message)
        wait_until(lambda: any(mark in str(body) for _, body in collector.received), "the last event does not arrive")
        wait_until(lambda: send("GET", path + "/deliveries?state=pending")[0].fields["Layer-Count"] == "0", "deliveries are still pending")
        received = list(collector.received)
    finally:
        collector.shutdown()
        collector.server_close()
    for error in collector.errors:
        report(f"a delivery of {version}: {error}")
    for headers, body in received:
        type = body["event"]["type"]
        problem = violation(description, operations.get(type), media, headers, body)
        if problem:
            report(f"a delivery of {type} in {version}: {problem}: {str(body)[:500]}")
    for problem in trace_errors(received, trace):
        report(f"a delivery in {version}: {problem}")
    seen = {body["event"]["type"] for _, body in received}
    if not seen - {"webhook.test"}:
        report(f"nothing was delivered in {version}")
    print(f"  webhooks in {version}: {len(received)} deliveries of {len(seen)} types;"
          f" not caused by an example: {', '.join(sorted(operations.keys() - seen))}", flush=True)


def send_delivery_receipt(client):
    """Sends a delivery receipt; the example sends a read receipt, after which no delivery event follows."""
    operation = next(
        operation for operation in client.description.operations
        if operation.path.endswith("/users/{user}/messages/{message}/receipts"))
    client.prepare(operation)
    answer = client.send(operation, body=json.dumps(operation.body | {"type": "delivery"}).encode())
    assert answer.status < 300, answer.body


def merge_conversations(server, application, users):
    """Imports another distinct conversation of users who have one, so that the two are merged.

    The server is stopped meanwhile.
    """
    def run(*arguments):
        return subprocess.run(
            [server.binary, *arguments, "--data", server.data], cwd=server.folder, check=True, capture_output=True,
            text=True).stdout

    assert server.stop() == 0
    lines = []
    for line in map(json.loads, run("export", "--app", application).splitlines()):
        if line["record"] == "conversation":
            if [one["user_id"] for one in line["participants"]] != users:
                continue
            line["id"] = str(uuid.uuid4())
        if line["record"] in ("application", "conversation") or line["record"] == "user" and line["user_id"] in users:
            lines.append(json.dumps(line, separators=(",", ":")))
    file = server.folder / "pair.jsonl"
    file.write_text("\n".join(lines) + "\n")
    assert "merged" in run("import", str(file))
    server.start()


def trace_errors(received, trace):
    """Yields errors in the trace headers of deliveries, all of whose requests were part of one trace."""
    spans = []
    for headers, body in received:
        type, line = body["event"]["type"], headers["traceparent"]
        if type.lower() == "conversation.merged":
            # No request caused it.
            if line is not None:
                yield f"{type} is traced as {line}"
        elif line is None or not re.fullmatch(f"00-{trace}-[0-9a-f]{{16}}-01", line):
            yield f"{type} is traced as {line}"
        else:
            spans.append(line)
    if len(set(spans)) < len(spans):
        yield "two deliveries have the same span"


def violation(description, operation, media, headers, body):
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
        if problem := description.violation(value, parameter["schema"]):
            return f"{parameter['name']}: {problem}"
    return description.violation(body, operation["requestBody"]["content"][media]["schema"])


def wait_until(holds, message):
    end = time.monotonic() + 300
    while not holds():
        assert time.monotonic() < end, message
        time.sleep(0.05)
