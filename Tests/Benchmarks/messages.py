"""Real messages: read one, send many."""

import json
import pathlib
import re

from load import wrk
from processes import APPLICATION, TOKEN, nginx, parley

SEND = pathlib.Path(__file__).with_name("send.lua")
HEADERS = {
    "Accept": "application/vnd.layer+json; version=3.0",
    "Authorization": f"Bearer {TOKEN}",
    "Content-Type": "application/json",
}


def measure(options, folder, table):
    reads(options, folder / "reads", table)
    sends(options, folder / "sends", table)


def reads(options, folder, table):
    folder.mkdir()
    with parley(options, folder) as ours:
        chat = converse(ours)
        path = f"{chat}/{post(ours, chat, MESSAGE)['id'].rsplit('/', 1)[1]}"
        body = ours.request("GET", path, headers=HEADERS)[1].decode()
        quoted = body.replace("'", "\\'").replace("$", "")
        with nginx(folder, f"location / {{ return 200 '{quoted}'; }}", 2) as theirs:
            runs = ([], [])
            for _ in range(options.rounds):
                runs[0].append(wrk(ours, path, 64, options.seconds, headers=HEADERS))
                runs[1].append(wrk(theirs, path, 64, options.seconds, headers=HEADERS))
    table.compare(f"GET a message, {len(body.encode())} B, 64 connections", *runs)


def sends(options, folder, table):
    folder.mkdir()
    with parley(options, folder) as ours:
        chat = converse(ours)
        runs = [wrk(ours, chat, 64, options.seconds, SEND, HEADERS) for _ in range(options.rounds)]
    # Said once at the end, by the writer of the database.
    said = ours.output.read_text()
    commits, mutations = (
        int(re.search(rf'"{name}":"?(\d+)', said)[1]) for name in ("commits", "mutations"))
    table.alone(
        "POST a message, durable, 64 connections", runs,
        f", {mutations / max(commits, 1):.1f} messages per commit")


def converse(server):
    draft = {"participants": ["ana", "bo"], "distinct": False}
    made = post(server, f"/apps/{APPLICATION}/conversations", draft)
    return f"/apps/{APPLICATION}/conversations/{made['id'].rsplit('/', 1)[1]}/messages"


def post(server, path, value):
    status, body = server.request("POST", path, json.dumps(value), HEADERS)
    if status != 201:
        raise RuntimeError(f"POST {path} answered {status}: {body[:500]!r}")
    return json.loads(body)


MESSAGE = {
    "sender_id": "layer:///identities/ana",
    "parts": [
        {"mime_type": "text/plain", "body": "The keys are under the mat, the mat is behind the door."},
        {"mime_type": "application/json", "body": "{\"place\": [52.5, 13.4]}"},
    ],
}
