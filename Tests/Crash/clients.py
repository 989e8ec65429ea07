"""Clients that write until the server is killed, and record what it acknowledged."""

import http.client
import json
import threading
import time
import uuid

from server import APPLICATION, TOKEN

BASE = f"/apps/{APPLICATION}"
HEADERS = {
    "Accept": "application/vnd.layer+json; version=3.0",
    "Authorization": f"Bearer {TOKEN}",
    "Content-Type": "application/json",
}


class Unexpected(Exception):
    """An answer that the server must not give; a missing answer raises another error."""


class Client(threading.Thread):
    """A thread with one connection that repeats `work` until the connection breaks."""

    def __init__(self, server, generator):
        super().__init__(daemon=True)
        self.generator = generator
        self.server = server
        self.connection = server.connection()
        self.error = None

    def run(self):
        try:
            self.prepare()
            while True:
                self.work()
        except Unexpected as error:
            self.error = str(error)
        except (OSError, http.client.HTTPException):
            pass  # The server was killed, as intended.

    def prepare(self):
        pass

    def request(self, method, path, body=None, headers=HEADERS):
        self.connection.request(method, path, body=body, headers=headers)
        answer = self.connection.getresponse()
        return answer, answer.read()

    def post(self, path, value, expected, headers={}):
        answer, body = self.request("POST", BASE + path, json.dumps(value), HEADERS | headers)
        if answer.status not in expected:
            raise Unexpected(f"POST {path} answered {answer.status}: {body[:300]!r}")
        return json.loads(body)

    def name(self, kind):
        return f"{kind}-{self.generator.getrandbits(64):016x}"


class Sender(Client):
    """Sends messages with unique texts."""

    def prepare(self):
        self.conversation = None
        self.attempted, self.acknowledged = set(), {}
        users = [self.name("user") for _ in range(3)]
        self.sender = users[0]
        self.conversation = self.post("/conversations", {"participants": users}, {201})["id"]

    def work(self):
        text = self.name("text")
        self.attempted.add(text)
        self.acknowledged[text] = self.send(text, self)

    def send(self, text, client, headers={}):
        message = {"sender_id": f"layer:///identities/{self.sender}",
                   "parts": [{"mime_type": "text/plain", "body": text}]}
        path = f"/conversations/{self.conversation.rsplit('/', 1)[1]}/messages"
        return client.post(path, message, {201}, headers)["id"]


class KeyedSender(Sender):
    """Sends messages with an Idempotency-Key, so that each may be sent again (X2)."""

    def send(self, text, client, headers={}):
        return super().send(text, client, {"Idempotency-Key": f"key-{text}"})


class Scheduler(Sender):
    """Schedules messages, each with its own id; `due` is the time of the latest one."""

    due = 0

    def work(self):
        text = self.name("text")
        self.attempted.add(text)
        delay = self.generator.uniform(1, 1.5)
        identifier = f"layer:///messages/{uuid.UUID(int=self.generator.getrandbits(128))}"
        message = {"id": identifier, "sender_id": f"layer:///identities/{self.sender}",
                   "parts": [{"mime_type": "text/plain", "body": text}],
                   "schedule": {"delay_in_seconds": delay}}
        path = f"{BASE}/conversations/{self.conversation.rsplit('/', 1)[1]}/messages"
        answer, body = self.request("POST", path, json.dumps(message))
        if answer.status != 202 or body:
            raise Unexpected(f"a scheduled message was answered {answer.status}: {body[:300]!r}")
        self.acknowledged[text] = identifier
        self.due = max(self.due, time.time() + delay)


class Creator(Client):
    """Creates distinct conversations, each at least twice."""

    def prepare(self):
        self.acknowledged = []

    def work(self):
        users = [self.name("user"), self.name("user")]
        draft = {"participants": users, "distinct": True, "metadata": {"made": "by crash test"}}
        made = self.post("/conversations", draft, {201})["id"]
        self.acknowledged.append((users, made))
        again = self.post("/conversations", {"participants": users[::-1], "distinct": True}, {200})["id"]
        if again != made:
            raise Unexpected(f"a distinct conversation exists twice: {made} and {again}")


class Uploader(Client):
    """Uploads contents in chunks of random sizes, or as a whole."""

    def prepare(self):
        self.uploads = []
        users = [self.name("user")]
        made = self.post("/conversations", {"participants": users}, {201})["id"]
        self.conversation = made.rsplit("/", 1)[1]

    def work(self):
        upload = Upload(self)
        self.uploads.append(upload)
        while not upload.is_complete:
            count = upload.size if upload.is_plain else self.generator.randint(1, upload.chunk)
            upload.send(self, min(upload.offset + count, upload.size))


class Upload:
    """An unfinished upload and its highest acknowledged offset."""

    sizes = [1, 1000, 262_144, 1_000_000, 3_000_003]

    def __init__(self, client):
        self.size = client.generator.choice(self.sizes)
        self.chunk = max(700_000, self.size // 2)
        self.seed = client.generator.getrandbits(32)
        self.offset = 0
        self.is_complete = False
        # Sent in one request without ranges, as often as necessary.
        self.is_plain = client.generator.random() < 0.3
        headers = HEADERS | {"Upload-Content-Type": "application/octet-stream",
                             "Upload-Content-Length": str(self.size)}
        self.contents_path = f"{BASE}/conversations/{client.conversation}/content"
        answer, body = client.request("POST", self.contents_path, "{}", headers)
        if answer.status != 201:
            raise Unexpected(f"POST content answered {answer.status}: {body[:300]!r}")
        content = json.loads(body)
        self.identifier = content["id"].rsplit("/", 1)[1]
        self.path = "/" + content["upload_url"].split("/", 3)[3]

    @property
    def bytes(self):
        import random
        return random.Random(self.seed).randbytes(self.size)

    def send(self, client, end):
        """Sends all bytes up to `end` and records what the answer acknowledges."""
        if self.is_plain:
            return self.note(*client.request("PUT", self.path, self.bytes, {}))
        headers = {"Content-Range": f"bytes {self.offset}-{end - 1}/{self.size}"}
        self.note(*client.request("PUT", self.path, self.bytes[self.offset:end], headers))

    def query_offset(self, client):
        """Queries the offset, and retries after `Retry-After`; returns the offset known before."""
        previous_offset, fields = self.offset, {"Content-Range": f"bytes */{self.size}"}
        for _ in range(30):
            answer, body = client.request("PUT", self.path, b"", fields)
            pause = answer.headers.get("Retry-After")
            if answer.status != 503 or pause is None:
                break
            time.sleep(int(pause))
        self.note(answer, body)
        return previous_offset

    def note(self, answer, body):
        """Records the offset or the completion that an answer acknowledges."""
        if answer.status == 200:
            self.offset, self.is_complete = self.size, True
        elif answer.status == 308:
            held = answer.headers.get("Range", "bytes=0--1")
            self.offset = int(held[len("bytes=0-"):]) + 1
        else:
            raise Unexpected(f"an upload answered {answer.status}: {body[:300]!r}")
