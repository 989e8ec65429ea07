"""The messaging servers that `peers` compares: how each is started, and which requests do the compared work.

Each of them stores in its own folder on the same disk. Those with PostgreSQL have a server each, with the same
settings, over TCP without TLS. In each of the conversations one user sends, and "bo" is the other participant.
"""

import http.client
import itertools
import json
import os
import pathlib
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.parse

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "Support"))
from postgres import Postgres

import chunks
from clients import head
from load import varied, wrk
from messages import CONVERSATIONS, HEADERS, numbered
from processes import APPLICATION, TOKEN, Process, free_port, parley
from transfers import Uploader, curl

# The number of conversations under load. One more has no other messages than those to a live receiver.
MANY = 64
LIVE = MANY
# The text of a message under load.
TEXT = "message {n}, of an average length"


class NoResult(Exception):
    """There is no number for a measurement; its cell has the text instead."""


class Database:
    """A PostgreSQL server in a folder, with one database for a messaging server."""

    def __init__(self, folder):
        self.server = Postgres(parent=folder)
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlparse(self.server.url).query))
        self.port, self.folder = int(query["port"]), pathlib.Path(query["host"])
        # Synapse requires the collation of this template; the others get the same.
        self.server.run("CREATE DATABASE messages TEMPLATE template0")
        self.url = f"postgres://keeper:sesame@127.0.0.1:{self.port}/messages?sslmode=disable"

    def run(self, statements):
        return subprocess.run(
            ["psql", "-qAtX", "-v", "ON_ERROR_STOP=1", "-d", self.url], input=statements,
            capture_output=True, check=True, text=True).stdout.strip()

    def bytes(self):
        self.run("VACUUM")
        return int(self.run("SELECT pg_database_size('messages')"))

    def pids(self):
        first = int((self.folder / "data/postmaster.pid").read_text().split()[0])
        children = pathlib.Path(f"/proc/{first}/task/{first}/children").read_text().split()
        return [first, *map(int, children)]

    def memory(self):
        """KiB of all processes of the server; what they share counts once."""
        fields = (
            line.split() for pid in self.pids()
            for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines())
        return sum(int(words[1]) for words in fields if words[0] == "Pss:")

    def pause(self, is_paused):
        for pid in self.pids(): os.kill(pid, signal.SIGSTOP if is_paused else signal.SIGCONT)


def installed(python, package):
    """The version of a package of PyPI."""
    command = [python, "-c", f"import importlib.metadata as all; print(all.version('{package}'))"]
    found = subprocess.run(command, capture_output=True, text=True) if python.exists() else None
    if found is None or found.returncode: raise NoResult("not installed")
    return found.stdout.strip()


class Messenger:
    """A measured server.

    `acknowledgement` is what it has done when it acknowledges a message, and `upload_answer` the same of an upload.
    A method that a subclass does not have raises `NoResult`.
    """

    name = version = acknowledgement = upload_answer = ""
    # How many times as long its runs are, where a request takes long.
    patience = 1
    database = server = None

    def __init__(self, options, folder):
        folder.mkdir()
        # PostgreSQL runs as another user below this folder.
        folder.chmod(0o755)
        self.options, self.folder, self.port = options, folder, free_port()
        self.runs = itertools.count(1)

    def start(self):
        """Starts the server; returns the seconds until it answers a request."""
        began = time.monotonic()
        self.server = self.launch()
        while not self.is_ready():
            if time.monotonic() > began + 120: raise NoResult("failed: not ready after two minutes")
            time.sleep(0.001)
        return time.monotonic() - began

    def stop(self):
        if self.server: self.server.stop()

    def crash(self):
        """Kills the server, and ends its database without a checkpoint, from which it has to recover."""
        self.server.process.kill()
        self.server.process.wait()
        if self.database: self.database.server.send("crash")

    def recover(self):
        if self.database: self.database.server.send("start")
        self.start()

    def close(self):
        self.stop()
        if self.database: self.database.server.close()

    def prepare(self):
        """Creates users and conversations on the started server."""

    def bytes(self):
        if self.database is None: raise NoResult("—")
        return self.database.bytes()

    def lacks(self, *_, **__): raise NoResult("—")

    send = create = list = client = receiver = stored = lacks


class HTTPMessenger(Messenger):
    """A messaging server whose requests wrk can send.

    A subclass has `headers`, the requests `sending(prefix)` and `creating(prefix)`, each a method, a path and a value
    with the placeholders of requests.lua, where {c} is a conversation; `list_path`; and `texts` and `next_page` of an
    answer to it.
    """

    health = None
    headers = {}

    def __init__(self, options, folder):
        super().__init__(options, folder)
        self.conversations, self.numbers = [], itertools.count()

    def is_ready(self):
        try:
            return self.server.request("GET", self.health)[0] == 200
        except OSError:
            return False

    def send(self, connections, seconds, conversations=MANY):
        return self.run(self.sending, connections, seconds, choices=" ".join(self.conversations[:conversations]))

    def create(self, connections, seconds):
        return self.run(self.creating, connections, seconds)

    def list(self, connections, seconds):
        path = self.list_path.replace("{c}", self.conversations[0])
        count = len(self.texts(self.call("GET", path)))
        if count != 100: raise NoResult(f"failed: {count} messages in a list instead of 100")
        return wrk(self.server, path, connections, seconds, headers=self.headers)

    def run(self, request, connections, seconds, **numbers):
        method, path, value = request(f"{next(self.runs):02x}")
        return varied(self.server, method, path, connections, seconds, self.headers, json.dumps(value), **numbers)

    def client(self, conversation):
        return HTTPClient(self, self.conversations[conversation])

    def call(self, method, path, value=None, connection=None, headers=None):
        """Sends a request; returns the decoded answer."""
        connection = connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, path, None if value is None else json.dumps(value), headers or self.headers)
        answer = connection.getresponse()
        content = answer.read()
        if answer.status >= 300: raise NoResult(f"failed: {method} {path}: {answer.status} {content[:200]!r}")
        return json.loads(content)

    def all_texts(self, conversation):
        """The texts of all messages of a conversation, page by page."""
        first = path = self.list_path.replace("{c}", self.conversations[conversation])
        found = []
        while path:
            page = self.call("GET", path)
            found += self.texts(page)
            following = self.next_page(page)
            path = following and f"{first}&{following}"
        return found


class HTTPClient:
    """A connection that sends messages one at a time."""

    def __init__(self, messenger, conversation):
        self.messenger, self.conversation = messenger, conversation
        self.connection = http.client.HTTPConnection("127.0.0.1", messenger.port, timeout=60)

    def send(self, text):
        """Sends a message; returns when it is acknowledged."""
        method, path, value = self.messenger.sending("ff")
        request = json.dumps([path, value])
        for placeholder, filling in (
                (TEXT, text), ("{c}", self.conversation), ("{x}", f"{next(self.messenger.numbers):012x}")):
            request = request.replace(placeholder, filling)
        self.messenger.call(method, *json.loads(request), connection=self.connection)

    def close(self):
        self.connection.close()


class Parley(HTTPMessenger):
    name, health, headers = "Parley, SQLite", "/health/ready", HEADERS
    acknowledgement = "committed in SQLite and synced; all changes that wait share one sync"
    upload_answer = "synced, SHA-256 computed"
    list_path = f"{CONVERSATIONS}/{{c}}/messages?page_size=100"

    def __init__(self, options, folder):
        super().__init__(options, folder)
        shown = subprocess.run([options.build / "parley", "--version"], capture_output=True, text=True)
        self.version = f"Parley {shown.stdout.strip()}"

    def launch(self):
        settings = {"PARLEY_DATABASE_URL": self.database.url} if self.database else {}
        return parley(self.options, self.folder, port=self.port, **settings)

    def prepare(self):
        for _ in range(MANY + 1):
            made = self.call("POST", CONVERSATIONS, {"participants": ["ana", "bo"], "distinct": False})
            self.conversations.append(made["id"].rsplit("/", 1)[1])

    def sending(self, prefix):
        return "POST", f"{CONVERSATIONS}/{{c}}/messages", json.loads(numbered(prefix))

    def creating(self, prefix):
        return "POST", CONVERSATIONS, {"participants": ["ana", "bo"], "distinct": False}

    def texts(self, page):
        return [message["parts"][0]["body"] for message in page]

    def next_page(self, page):
        return f"from_id={urllib.parse.quote(page[-1]['id'], safe='')}" if len(page) == 100 else None

    def receiver(self, conversation):
        """Reads an event stream of the application; returns a function that blocks until bytes arrive."""
        client = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        client.sendall(head(
            f"GET /apps/{APPLICATION}/events?after=now&types=message.sent HTTP/1.1", f"Authorization: Bearer {TOKEN}",
            "Accept: text/event-stream"))
        received = b""
        while b"retry:" not in received: received += client.recv(65536)
        return lambda: client.recv(65536)

    def upload(self, file):
        url = Uploader(self.server).announce(file.stat().st_size)["upload_url"]
        return curl("-H", "Expect:", "-T", file, url)

    def bytes(self):
        if self.database: return self.database.bytes()
        # The file takes the rows of the write-ahead log when the server stops.
        self.stop()
        self.start()
        return sum(path.stat().st_size for path in (self.folder / "data").glob("parley.sqlite*"))

    def stored(self):
        statement = "SELECT count(*) FROM messages"
        if self.database: return int(self.database.run(statement))
        with sqlite3.connect(f"file:{self.folder}/data/parley.sqlite?mode=ro", uri=True) as database:
            return database.execute(statement).fetchone()[0]


class ParleyPostgres(Parley):
    name = "Parley, PostgreSQL"
    acknowledgement = "committed in PostgreSQL, log synced; all changes that wait share one commit"

    def __init__(self, options, folder):
        super().__init__(options, folder)
        self.database = Database(folder)


class Tus(Messenger):
    """A tus server, which has no messages."""

    name, upload_answer = "tuspyserver", "written, not synced"
    acknowledgement = "—"

    def __init__(self, options, folder):
        super().__init__(options, folder)
        self.version = "tuspyserver " + installed(chunks.PYTHON, "tuspyserver")

    def launch(self):
        files = self.folder / "files"
        files.mkdir(exist_ok=True)
        return Process([chunks.PYTHON, chunks.PEER, "serve", self.port, files], self.folder, self.port)

    def is_ready(self):
        # Any answer will do: there is no request for the state.
        return self.server.request("OPTIONS", "/files")[0] > 0

    def upload(self, file):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        version = {"Tus-Resumable": "1.0.0"}
        connection.request("POST", "/files", headers=version | {"Upload-Length": str(file.stat().st_size)})
        answer = connection.getresponse()
        if answer.status != 201: raise NoResult(f"failed: POST /files: {answer.status}")
        return curl(
            "-H", "Expect:", "-X", "PATCH", "-H", "Tus-Resumable: 1.0.0", "-H", "Upload-Offset: 0", "-H",
            "Content-Type: application/offset+octet-stream", "-T", file, answer.headers["Location"])
