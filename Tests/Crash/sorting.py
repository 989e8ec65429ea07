#!/usr/bin/env python3
"""Kills the server while it sorts the messages of merged conversations, and checks that it continues.

Each round imports two distinct conversations of the same users whose messages alternate, while a client sends to the
first one, and kills the server with SIGKILL after another number of steps of the sort. The server starts again and must
then hold, without another request:

- all messages in the order of sending: those of both conversations, and each acknowledged one of the client, once;
- one conversation, of which the other id is an alias.

Importing the second conversation again changes nothing.
"""

import argparse
import contextlib
import http.client
import json
import pathlib
import random
import sys
import threading
import time
import uuid

from clients import BASE, HEADERS, Client, Sender
from server import APPLICATION, PATIENCE, serving

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Support"))
from postgres import Postgres

# Each conversation: more than a step of a sort moves.
SIZE = 2500


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--database", choices=["file", "postgres"], default="file")
    return parser.parse_args()


def lines(number, is_earlier):
    """An export of a distinct conversation of ana and bo, with every other one of twice as many messages."""
    conversation = str(uuid.UUID(int=number + 1))
    records = [
        {"record": "application", "format": 1, "id": APPLICATION, "name": "Sorted", "created_at": moment(0), "suspended": False},
        {"record": "conversation", "id": conversation, "created_at": moment(1 if is_earlier else 5 + number),
         "distinct": True, "announced": True, "version": 1, "last_position": SIZE, "last_sent_at": moment(10 + 2 * SIZE),
         "metadata": [], "participants": [
            {"user_id": user, "place": place, "joined_after": 0, "state": "shown", "cleared_to": 0, "read": f"1-{SIZE // 2}"}
            for place, user in enumerate(["ana", "bo"])]},
    ]
    for position in range(1, SIZE + 1):
        place = 2 * position + number
        records.append({
            "record": "message", "id": str(uuid.UUID(int=1 << 64 | place)), "conversation": conversation,
            "position": position, "sender": {"user_id": ("ana", "bo")[position % 2]}, "sent_at": moment(10 + place),
            "version": 1, "parts": [{
                "id": str(uuid.UUID(int=2 << 64 | place)), "index": 0, "mime_type": "text/plain", "body": f"{place:06}"}]})
    return "\n".join(json.dumps(record) for record in records).encode()


def moment(second):
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(1_760_000_000 + second))


def import_lines(server, body):
    answer, read = Client(server, None).request("POST", f"{BASE}/import", body, HEADERS | {"Content-Type": "application/jsonl"})
    assert answer.status == 200, read[:500]
    return json.loads(read)


def get(server, path):
    connection = server.connection()
    connection.request("GET", BASE + path, headers=HEADERS)
    answer = connection.getresponse()
    body = answer.read()
    assert answer.status == 200, body[:500]
    return json.loads(body)


def steps(server):
    """The number of events of merges, of which the first joins the conversations."""
    return len(get(server, "/events?types=conversation.merged&limit=1000")["events"]) - 1


class MergingSender(Sender):
    """Sends to the first conversation."""

    def prepare(self):
        self.attempted, self.acknowledged = set(), {}
        self.sender, self.conversation = "ana", f"layer:///conversations/{uuid.UUID(int=1)}"


def texts(server, conversation):
    found, path = [], f"/conversations/{conversation}/messages?page_size=100"
    page = get(server, path)
    while page:
        found += [message["parts"][0]["body"] for message in page]
        page = get(server, f"{path}&from_id={page[-1]['id']}")
    return found[::-1]


def check(server, sender):
    """Waits until the messages are in order, and checks that none is missing."""
    imported = [f"{place:06}" for place in range(2, 2 * SIZE + 2)]
    deadline = time.monotonic() + PATIENCE
    found = texts(server, uuid.UUID(int=2))
    while found[:len(imported)] != imported and time.monotonic() < deadline:
        time.sleep(0.2)
        found = texts(server, uuid.UUID(int=2))
    assert found[:len(imported)] == imported, "the imported messages are not in order"
    sent = found[len(imported):]
    assert len(sent) == len(set(sent)) and set(sent) <= set(sender.attempted), "a message exists twice or was not sent"
    missing = set(sender.acknowledged) - set(sent)
    assert not missing, f"{len(missing)} acknowledged messages are missing"
    ids = {get(server, f"/conversations/{uuid.UUID(int=number)}")["id"] for number in (1, 2)}
    assert len(ids) == 1, ids
    return len(sender.acknowledged)


def run(options, database, number):
    is_earlier = number % 2 == 1
    with serving(options.binary, database) as server:
        server.start()
        import_lines(server, lines(0, False))
        sender = MergingSender(server, random.Random(number))
        sender.start()
        second = lines(1, is_earlier)

        def import_until_killed():
            with contextlib.suppress(OSError, http.client.HTTPException):
                import_lines(server, second)

        importing = threading.Thread(target=import_until_killed)
        importing.start()
        while (done := steps(server)) < number + 1 and importing.is_alive():
            time.sleep(0.001)
        server.kill()
        importing.join()
        sender.join()
        assert sender.error is None, sender.error
        server.start()
        kept = check(server, sender)
        again = import_lines(server, second)
        assert again["merged"] == 0, again
        check(server, sender)
        return f"killed after {done} steps; {kept} acknowledged messages kept"


def main():
    options = arguments()
    with contextlib.ExitStack() as stack:
        postgres = stack.enter_context(contextlib.closing(Postgres())) if options.database == "postgres" else None
        for number in range(options.rounds):
            print(f"round {number}: {run(options, postgres and postgres.schema(), number)}", flush=True)
    print(f"{options.rounds} passed, 0 failed")


if __name__ == "__main__":
    main()
