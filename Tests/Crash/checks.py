"""Compares what clients recorded with the data of a restarted server."""

import collections
import json
import sys
import time

from clients import (
    BASE, HEADERS, Client, Creator, KeyedSender, Scheduler, Sender, Unexpected, Uploader)
from server import PATIENCE
from tus import TusUploader


class Checks:
    """Collects the differences between what clients recorded and what the server answers."""

    def __init__(self, server):
        self.server = server
        self.failures = []
        self.all_clients = []

    def fail(self, text):
        self.failures.append(text)

    def stop_on_failure(self, seed):
        if self.failures:
            for failure in self.failures[:20]:
                print(f"FAILED: {failure}", file=sys.stderr)
            sys.exit(f"0 passed, {len(self.failures)} failed (seed {seed})")

    def check_round(self, clients):
        self.all_clients += clients
        for client in clients:
            if client.error:
                self.fail(client.error)
        return self.check(clients)

    def finish(self, clients):
        """Ends retrying clients of a running server, and checks all acknowledged data."""
        for client in clients:
            client.is_stopped = True
        for client in clients:
            client.join(timeout=PATIENCE)
            assert not client.is_alive(), "a client hangs"
        found = self.check_round(clients)
        self.stop_on_failure(0)
        return found

    def check_all(self):
        return self.check(self.all_clients)

    def check(self, clients):
        self.reader = Client(self.server, None)
        counts = collections.Counter()
        for client in clients:
            try:
                if isinstance(client, KeyedSender) and getattr(client, "conversation", None):
                    counts["repeats"] += self.repeats(client)
                if isinstance(client, Scheduler) and getattr(client, "conversation", None):
                    self.wait_for(client)
                    counts["messages sent later"] += self.messages(client)
                elif isinstance(client, Sender) and getattr(client, "conversation", None):
                    counts["messages"] += self.messages(client)
                elif isinstance(client, Creator) and hasattr(client, "acknowledged"):
                    counts["conversations"] += self.conversations(client)
                elif isinstance(client, Uploader) and hasattr(client, "uploads"):
                    counts["uploads"] += sum(self.upload(upload) for upload in client.uploads)
                elif isinstance(client, TusUploader) and hasattr(client, "uploads"):
                    counts[client.kind] += sum(self.tus(upload) for upload in client.uploads)
                    counts["concatenations"] += sum(self.joined(upload) for upload in client.joined)
            except Unexpected as error:
                self.fail(str(error))
        return ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())) or "nothing"

    def get(self, path):
        answer, body = self.reader.request("GET", BASE + path, headers=HEADERS)
        if answer.status != 200:
            raise Unexpected(f"GET {path} answered {answer.status}: {body[:300]!r}")
        return json.loads(body)

    def repeats(self, sender):
        """Sends all texts again, answered or not; repeated answers must have the same id. Returns their number."""
        for text in sender.attempted:
            identifier = sender.send(text, self.reader)
            if sender.acknowledged.setdefault(text, identifier) != identifier:
                self.fail(f"{text} was acknowledged as {sender.acknowledged[text]} and is {identifier}")
        return len(sender.attempted)

    def wait_for(self, scheduler):
        """Waits until all messages are due and the acknowledged ones are sent, at most `PATIENCE`.

        A count would be reached too early, because it includes messages that were accepted but not acknowledged.
        """
        time.sleep(max(0, scheduler.due - time.time()))
        deadline = time.monotonic() + PATIENCE
        for identifier in scheduler.acknowledged.values():
            while not self.is_sent(identifier, scheduler) and time.monotonic() < deadline:
                time.sleep(0.05)

    def is_sent(self, identifier, scheduler):
        path = f"/conversations/{scheduler.conversation.rsplit('/', 1)[1]}/messages/{identifier.rsplit('/', 1)[1]}"
        answer, body = self.reader.request("GET", BASE + path, headers=HEADERS)
        if answer.status not in (200, 404):
            raise Unexpected(f"GET {path} answered {answer.status}: {body[:300]!r}")
        return answer.status == 200

    def messages(self, sender):
        found, position = {}, None
        path = f"/conversations/{sender.conversation.rsplit('/', 1)[1]}/messages?page_size=100"
        page = self.get(path)
        while page:
            for message in page:
                text = message["parts"][0]["body"]
                if text in found:
                    self.fail(f"{text} exists twice")
                if text not in sender.attempted:
                    self.fail(f"{text} was never sent")
                if position is not None and message["position"] >= position:
                    self.fail(f"{message['id']} is out of order")
                found[text], position = message["id"], message["position"]
            page = self.get(f"{path}&from_id={page[-1]['id']}")
        for text, identifier in sender.acknowledged.items():
            if found.get(text) != identifier:
                self.fail(f"{text} was acknowledged as {identifier} and is {found.get(text)}")
        return len(sender.acknowledged)

    def conversations(self, creator):
        for users, identifier in creator.acknowledged:
            again = self.reader.post("/conversations", {"participants": users, "distinct": True}, {200})
            if again["id"] != identifier:
                self.fail(f"{identifier} was acknowledged and is {again['id']}")
        return len(creator.acknowledged)

    def upload(self, upload):
        was_complete = upload.is_complete
        acknowledged = upload.query_offset(self.reader)
        if upload.offset < acknowledged or was_complete and not upload.is_complete:
            self.fail(f"upload {upload.identifier} has offset {upload.offset}, after {acknowledged} was acknowledged")
        if not upload.is_complete:
            upload.send(self.reader, upload.size)
        if not upload.is_complete:
            self.fail(f"upload {upload.identifier} could not be finished")
            return 0
        self.content(f"{upload.contents_path.removeprefix(BASE)}/{upload.identifier}", upload.bytes)
        return 1

    def tus(self, upload):
        acknowledged = upload.query_offset(self.reader)
        if upload.offset < acknowledged:
            self.fail(f"{upload.path} has offset {upload.offset}, after {acknowledged} was acknowledged")
        # Also sent when no bytes are left: the answer waits until the content is finished.
        upload.send(self.reader, upload.size)
        if upload.content:
            self.content(f"/content/{upload.content}", upload.bytes)
        return 1

    def joined(self, upload):
        answer, _ = self.reader.request("HEAD", upload.path, None, {"Tus-Resumable": "1.0.0"})
        if answer.headers["Upload-Offset"] != str(len(upload.bytes)):
            self.fail(f"a concatenation was acknowledged and answers {answer.status}")
        self.content(f"/content/{upload.content}", upload.bytes)
        return 1

    def content(self, path, sent):
        """Compares the download with the bytes sent."""
        download_path = "/" + self.get(path)["download_url"].split("/", 3)[3]
        answer, body = self.reader.request("GET", download_path, headers={})
        if answer.status != 200 or body != sent:
            self.fail(f"{path} differs from what was sent ({answer.status})")
