"""The most frequent requests of a backend, at 64 connections."""

import dataclasses
import json
import re

import peer
import raw
from load import fill, varied, wrk
from processes import APPLICATION, TOKEN, nginx, parley

HEADERS = {
    "Accept": "application/vnd.layer+json; version=3.0",
    "Authorization": f"Bearer {TOKEN}",
    "Content-Type": "application/json",
}
PATCHING = HEADERS | {"Content-Type": "application/vnd.layer-patch+json"}
CONVERSATIONS = f"/apps/{APPLICATION}/conversations"
CONNECTIONS = 64


@dataclasses.dataclass
class Row:
    """A measured request and its label; `{n}` and `{x}` in path and body are a running number (see requests.lua)."""

    what: str
    method: str
    path: str
    body: str | None = None
    headers: dict = dataclasses.field(default_factory=lambda: HEADERS)


def measure(options, folder, table):
    reads(options, folder / "reads", table)
    writes(options, folder / "writes", table)


def reads(options, folder, table):
    folder.mkdir()
    with parley(options, folder) as ours:
        messages_path = create_conversation(ours)
        message = f"{messages_path}/{post(ours, messages_path, MESSAGE)['id'].rsplit('/', 1)[1]}"
        fill_messages(ours, messages_path, 150)
        for what, path in (("GET a message", message), ("GET a list of 100 messages", f"{messages_path}?page_size=100")):
            read(options, folder, table, ours, what, path)


def read(options, folder, table, ours, what, path):
    body = ours.request("GET", path, headers=HEADERS)[1].decode()
    what = f"{what}, {len(body.encode())} B, {CONNECTIONS} connections"
    compare_with_static_servers(options, folder, table, what, body, lambda server: static(options, server or ours, path))


def static(options, server, path):
    return wrk(server, path, CONNECTIONS, options.seconds, headers=HEADERS)


def compare_with_static_servers(options, folder, table, what, body, send_load):
    """Adds rows that compare Parley with servers that answer a plain `GET` with the same bytes from memory."""
    path = folder / f"page-{len(list(folder.iterdir()))}"
    path.mkdir()
    with nginx(path, served(path, body), 2) as theirs:
        table.add_comparison(what, *peer.alternately(options, send_load, theirs))
    # Hummingbird gets the body as an argument, which the system limits to 128 KiB.
    if len(body.encode()) < 1 << 17:
        peer.compare(options, path, table, what, body, send_load)


def served(path, body):
    """The nginx configuration that answers a body: inline, or from a file when the body is too long for that."""
    if len(body) < 3500:
        quoted = body.replace("'", "\\'").replace("$", "")
        return f"location / {{ return 200 '{quoted}'; }}"
    (path / "page.json").write_text(body)
    return f"location / {{ rewrite .* /page.json break; root {path}; open_file_cache max=10; }}"


def writes(options, folder, table):
    folder.mkdir()
    with parley(options, folder) as ours:
        messages_path = create_conversation(ours)
        conversation = messages_path.rsplit("/", 1)[0]
        rows = [
            Row("POST a conversation", "POST", CONVERSATIONS, '{"participants":["ana","u{n}"]}'),
            Row("POST a message", "POST", messages_path, numbered("a0")),
            Row("PATCH metadata", "PATCH", conversation,
                '[{"operation":"set","property":"metadata.topic","value":"{n}"}]', PATCHING),
        ]
        for row in rows: write(options, folder, table, ours, row)
        # Enough messages that each receipt is for another one.
        wanted = round(options.rounds * options.seconds * 30_000)
        fill_messages(ours, messages_path, wanted)
        write(options, folder, table, ours, Row(
            "POST a receipt", "POST", f"/apps/{APPLICATION}/users/bo/messages/{named('f0')}/receipts",
            '{"type":"read"}'))
    (folder / "sends").mkdir()
    measure_sending(options, folder / "sends", table)


def write(options, folder, table, ours, row):
    """Measures writes; the compared servers answer the same bytes to a plain `GET`, and store nothing."""
    answer = ours.request(row.method, first(row.path), first(row.body), row.headers)[1].decode() or "{}"
    used = 1

    def send_load(server):
        nonlocal used
        if server:
            return static(options, server, "/static")
        run = varied(
            ours, row.method, row.path, CONNECTIONS, options.seconds, row.headers, row.body, **{"from": used})
        # Unfinished requests have used numbers, too.
        used += run.requests + CONNECTIONS
        return run

    compare_with_static_servers(options, folder, table, f"{row.what}, durable, {CONNECTIONS} connections", answer, send_load)


def first(text):
    """A path or body with the number 0."""
    return text.replace("{n}", "0").replace("{x}", f"{0:012x}")


def measure_sending(options, folder, table):
    """Sends messages, compared with a bare group commit of their rows."""
    with parley(options, folder) as ours:
        messages_path = create_conversation(ours)
        runs = [
            varied(ours, "POST", messages_path, CONNECTIONS, options.seconds, HEADERS, numbered(f"b{number}"))
            for number in range(options.rounds)]
    # Logged once at the end by the writer of the database.
    output = ours.output.read_text()
    commits, mutations = (
        int(re.search(rf'"{name}":"?(\d+)', output)[1]) for name in ("commits", "mutations"))
    batch = max(1, round(mutations / max(commits, 1)))
    table.add_against_rates(
        f"POST a message, against a bare group commit of the same rows, {batch} messages a commit", runs,
        [raw.group_commit(folder / "data" / "parley.sqlite", folder, batch, options.seconds)
         for _ in range(options.rounds)])


# Test data

def named(prefix):
    """The UUID of a numbered message; a prefix of two hexadecimal digits distinguishes runs."""
    return f"{prefix}000000-0000-4000-8000-{{x}}"


def numbered(prefix):
    return json.dumps({
        "id": f"layer:///messages/{named(prefix)}", "sender_id": "layer:///identities/ana",
        "parts": [{"mime_type": "text/plain", "body": "message {n}, of an average length"}]})


def fill_messages(server, messages_path, count, first=0):
    return fill(server, messages_path, numbered("f0"), count, HEADERS, first)


def create_conversation(server):
    draft = {"participants": ["ana", "bo"], "distinct": False}
    return f"{CONVERSATIONS}/{post(server, CONVERSATIONS, draft)['id'].rsplit('/', 1)[1]}/messages"


def post(server, path, value):
    status, body = server.request("POST", path, json.dumps(value), HEADERS)
    if status != 201:
        raise RuntimeError(f"POST {path} answered {status}: {body[:500]!r}")
    return json.loads(body)


MESSAGE = {
    "sender_id": "layer:///identities/ana",
    "parts": [
        {"mime_type": "text/plain", "body": "The keys are under the mat, the mat is behind the gate."},
        {"mime_type": "application/json", "body": "{\"location\": [52.5, 13.4]}"},
    ],
}
