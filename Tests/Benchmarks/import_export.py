"""The rate of export and import, and the delay of another client while two distinct conversations are merged.

Both servers hold a distinct conversation of the same two users with as many messages. The lines of one are
imported into the other, so both conversations are merged at the end; meanwhile a client sends to another
conversation, one message after the other, and waits at most for the longest transaction.
"""

import contextlib
import http.client
import json
import pathlib
import shutil
import sys
import threading
import time

from load import fill
from messages import CONVERSATIONS, HEADERS, numbered, post
from processes import APPLICATION, parley

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "Support"))
from postgres import Postgres


def measure(options, folder, table):
    measure_engine(options, folder / "SQLite", table)
    with contextlib.closing(Postgres()) as postgres:
        measure_engine(options, folder / "PostgreSQL", table, postgres)


def measure_engine(options, folder, table, postgres=None):
    size, engine = options.size // 10, folder.name
    lines = folder / "lines"
    with server(options, folder / "source", postgres) as source:
        fill_distinct(source, ["ana", "bo"], size, "a0")
        began = time.monotonic()
        export(source, lines)
        table.add_text(
            f"Export of {size:,} messages, {engine}",
            f"{size / (time.monotonic() - began):,.0f}/s, {lines.stat().st_size >> 20} MiB, peak {peak(source)}")
    with server(options, folder / "target", postgres) as target:
        messages_path = fill_distinct(target, ["ana", "bo"], size, "b0")
        others = Sender(target, fill_distinct(target, ["carl", "dora"]))
        began = time.monotonic()
        output = import_lines(target, lines)
        spent = time.monotonic() - began
        others.stop()
        assert output["merged"] == 1, output
        assert json.loads(target.request("GET", messages_path, headers=HEADERS)[1])["id"].rsplit("/", 1)[1] not in messages_path
        table.add_text(
            f"Import of {size:,} messages, {engine}, merged with as many",
            f"{size / spent:,.0f}/s, peak {peak(target)}")
        waits = sorted(others.waits)
        table.add_text(
            f"Waits of another sender meanwhile, {engine}",
            f"p99 {waits[len(waits) * 99 // 100] * 1e3:,.0f} ms, longest {waits[-1] * 1e3:,.0f} ms")


def server(options, folder, postgres):
    folder.mkdir(parents=True)
    return parley(options, folder, **({"PARLEY_DATABASE_URL": postgres.schema()} if postgres else {}))


def fill_distinct(server, users, size=0, prefix=""):
    """Creates a distinct conversation with messages; returns its path."""
    made = post(server, CONVERSATIONS, {"participants": users, "distinct": True})
    path = f"{CONVERSATIONS}/{made['id'].rsplit('/', 1)[1]}"
    if size: fill(server, f"{path}/messages", numbered(prefix), size, HEADERS)
    return path


def export(server, lines):
    with request(server, "GET", "export") as answer, open(lines, "wb") as file:
        shutil.copyfileobj(answer, file, 1 << 20)


def import_lines(server, lines):
    fields = {"Content-Type": "application/jsonl", "Content-Length": str(lines.stat().st_size)}
    with open(lines, "rb") as file, request(server, "POST", "import", file, fields) as answer:
        return json.load(answer)


@contextlib.contextmanager
def request(server, method, name, body=None, fields={}):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=3600)
    connection.request(method, f"/apps/{APPLICATION}/{name}", body, HEADERS | fields)
    answer = connection.getresponse()
    assert answer.status == 200, answer.read()
    yield answer
    connection.close()


def peak(server):
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return f"{int(status.split('VmHWM:')[1].split()[0]) >> 10} MiB"


class Sender:
    """Sends one message after the other, and records the time of each."""

    def __init__(self, server, messages_path):
        self.server, self.path, self.waits, self.is_stopped = server, f"{messages_path}/messages", [], False
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.is_stopped:
            began = time.monotonic()
            post(self.server, self.path, {
                "sender_id": "layer:///identities/carl", "parts": [{"mime_type": "text/plain", "body": "elsewhere"}]})
            self.waits.append(time.monotonic() - began)
            time.sleep(0.01)

    def stop(self):
        self.is_stopped = True
        self.thread.join()
