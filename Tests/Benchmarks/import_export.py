"""The rate of import and export, and the delay of another client while two distinct conversations are merged.

A generated file of one line for each of 1,000 users, 400 conversations and a twentieth of the messages of `--size`
is imported into an empty server and exported again.

Both other servers hold a distinct conversation of the same two users with as many messages. The lines of one are
imported into the other, so both conversations are merged; meanwhile a client sends to another
conversation, one message after the other, and waits at most for the longest transaction. The same is measured with
two conversations whose messages alternate, when the imported one was created later and when it was created earlier:
then the messages that exist belong to another conversation after the merge.
"""

import base64
import contextlib
import functools
import hashlib
import http.client
import json
import pathlib
import shutil
import sys
import threading
import time
import uuid

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
    measure_file(options, folder / "file", table, folder.name, postgres)
    measure_merge(options, folder, table, postgres)
    for is_earlier in (False, True):
        measure_alternating(options, folder / f"alternating-{is_earlier}", table, folder.name, postgres, is_earlier)


def measure_file(options, folder, table, engine, postgres):
    with server(options, folder, postgres) as target:
        lines = folder / "lines"
        generate(lines, options.size // 20)
        began = time.monotonic()
        count = import_lines(target, lines)["lines"]
        imported = time.monotonic()
        export(target, folder / "again")
        exported = time.monotonic()
        # The server's application has another name.
        assert (folder / "again").read_bytes().split(b"\n", 1)[1] == lines.read_bytes().split(b"\n", 1)[1]
        table.add_text(f"Import of {count:,} lines, {engine}", f"{count / (imported - began):,.0f}/s, peak {peak(target)}")
        table.add_text(f"Export of {count:,} lines, {engine}", f"{count / (exported - imported):,.0f}/s")


def measure_merge(options, folder, table, postgres):
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
        add_waits(table, f"Waits of another sender meanwhile, {engine}", others)


def measure_alternating(options, folder, table, engine, postgres, is_earlier):
    size = options.size // 10
    with server(options, folder, postgres) as target:
        others = fill_distinct(target, ["carl", "dora"])
        for number in range(2):
            generate_distinct(folder / f"lines-{number}", number, size // 2, created=(5 if is_earlier and number else 9) + number)
        import_lines(target, folder / "lines-0")
        sender = Sender(target, others)
        began = time.monotonic()
        output = import_lines(target, folder / "lines-1")
        spent = time.monotonic() - began
        sender.stop()
        assert output["merged"] == 1, output
        check_order(target, uuid.UUID(int=1), size)
        what = f"{size:,} alternating messages, {engine}, imported conversation {'earlier' if is_earlier else 'later'}"
        table.add_text(f"Merge of {what}", f"{spent:,.1f} s with the import of a half")
        add_waits(table, f"Waits of another sender meanwhile, {what}", sender)


def add_waits(table, what, sender):
    waits = sorted(sender.waits)
    table.add_text(what, f"p99 {waits[len(waits) * 99 // 100] * 1e3:,.0f} ms, longest {waits[-1] * 1e3:,.0f} ms")


def check_order(server, conversation, size):
    """Checks that all messages are in the order of sending, newest first."""
    path, times = f"{CONVERSATIONS}/{conversation}/messages?page_size=100", []
    page = json.loads(server.request("GET", path, headers=HEADERS)[1])
    while page:
        times += [message["sent_at"] for message in page]
        page = json.loads(server.request("GET", f"{path}&from_id={page[-1]['id']}", headers=HEADERS)[1])
    assert len(times) == size and times == sorted(times, reverse=True), len(times)


def generate_distinct(path, number, size, created):
    """Writes an export of a distinct conversation of ana and bo, with every other one of twice as many messages."""
    conversation = str(uuid.UUID(int=number + 1))
    with open(path, "w") as file:
        def write(record, **members):
            file.write(json.dumps({"record": record, **members}, separators=(",", ":")) + "\n")

        write("application", format=1, id=APPLICATION, name="Generated", created_at=moment(0), suspended=False)
        write(
            "conversation", id=conversation, created_at=moment(created), distinct=True, announced=True, version=1,
            last_position=size, last_sent_at=moment(10 + 2 * size), metadata=[],
            participants=[
                {"user_id": user, "place": place, "joined_after": 0, "state": "shown", "cleared_to": 0,
                 "delivered": f"1-{size}", "read": f"1-{size // 2}"}
                for place, user in enumerate(["ana", "bo"])])
        for position in range(1, size + 1):
            place = 2 * position + number
            write(
                "message", id=str(uuid.UUID(int=1 << 64 | place)), conversation=conversation, position=position,
                sender={"user_id": ("ana", "bo")[position % 2]}, sent_at=moment(10 + place), version=1,
                parts=[{
                    "id": str(uuid.UUID(int=2 << 64 | place)), "index": 0, "mime_type": "text/plain",
                    "body": f"Message {place}"}])


def generate(path, size, users=1000, conversations=400, contents=40):
    """Writes an export as `GET /export` does: of conversations of 2, 10 and 25 participants, which have read half."""
    with open(path, "w") as file:
        def write(record, **members):
            file.write(json.dumps({"record": record, **members}, ensure_ascii=False, separators=(",", ":")) + "\n")

        write("application", format=1, id=APPLICATION, name="Generated", created_at=moment(0), suspended=False)
        for user in range(users):
            write(
                "user", user_id=f"user-{user:04}", standing="told", version=1, identity_type="user",
                display_name=f"User {user}", avatar_url=f"https://example.org/avatars/{user}.png", suspended=False,
                external_unread_count=0, created_at=moment(0))
        for number in range(conversations):
            participants = [f"user-{(number * 7 + index) % users:04}" for index in range((2, 10, 25)[number % 3])]
            messages = size // conversations
            conversation = str(uuid.UUID(int=number + 1))
            write(
                "conversation", id=conversation, created_at=moment(number), distinct=False, announced=True, version=1,
                last_position=messages, last_sent_at=moment(number + messages),
                metadata=[{"path": ["topic"], "at": moment(number), "value": f"Topic {number}"}],
                participants=[
                    {"user_id": user, "place": place, "joined_after": 0, "state": "shown", "cleared_to": 0}
                    | ({"delivered": f"1-{messages}", "read": f"1-{messages // 2}"} if place and messages > 1 else {})
                    for place, user in enumerate(participants)])
            for position in range(1, messages + 1):
                message, part = (uuid.uuid5(uuid.NAMESPACE_OID, f"{kind} {number} {position}") for kind in ("message", "part"))
                part = {"id": str(part), "index": 0, "mime_type": "text/plain"}
                more = {}
                if position == 1 and number < contents:
                    data = hashlib.sha512(message.bytes).digest() * 40
                    content = str(uuid.UUID(int=1 << 120 | number))
                    write("bytes", content=content, at=0, data=base64.b64encode(data).decode())
                    part |= {"content": content, "size": len(data)}
                    more["contents"] = [{
                        "id": content, "conversation": conversation, "mime_type": "text/plain", "size": len(data),
                        "sha256": base64.b64encode(hashlib.sha256(data).digest()).decode(), "crc32c": 0,
                        "completed_at": moment(number)}]
                else:
                    part["body"] = f"Message {position} of conversation {number}: " + "so it goes. " * (position % 8)
                write(
                    "message", id=str(message), conversation=conversation, position=position,
                    sender={"user_id": participants[position % len(participants)]},
                    sent_at=moment(number + position), version=1, parts=[part], **more)


@functools.cache
def moment(second):
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(1_760_000_000 + second))


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
