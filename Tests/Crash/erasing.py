#!/usr/bin/env python3
"""Kills the server while it erases a user, and checks that it continues.

Each round imports a conversation of ana and bo, requests the erasure of ana while a client of bo sends, and kills the server
with SIGKILL a few times. The server starts again and must then, without another request, complete the erasure:

- no row names ana, as the proof says and as the database file shows;
- all messages stand at their positions: those of ana without parts, those of bo as they were, and each acknowledged one of
  the client, once.
"""

import argparse
import contextlib
import pathlib
import random
import sqlite3
import sys
import time
import uuid

from clients import BASE, HEADERS, Client, Sender
from server import PATIENCE, serving
from sorting import get, import_lines, lines

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Support"))
from postgres import Postgres

# The name of the user in the files of a round, which occurs nowhere else.
USER = "ana-kronstadt-19"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--database", choices=["file", "postgres"], default="file")
    return parser.parse_args()


class StayingSender(Sender):
    """Sends as the user that stays."""

    def prepare(self):
        self.attempted, self.acknowledged = set(), {}
        self.sender, self.conversation = "bo", f"layer:///conversations/{uuid.UUID(int=1)}"


def messages(server):
    found, path = [], f"/conversations/{uuid.UUID(int=1)}/messages?page_size=100"
    page = get(server, path)
    while page:
        found += page
        page = get(server, f"{path}&from_id={page[-1]['id']}")
    return found[::-1]


def ended(server, path):
    deadline = time.monotonic() + PATIENCE
    while (answer := get(server, path))["state"] == "running":
        assert time.monotonic() < deadline, answer
        time.sleep(0.05)
    return answer


def run(options, database, number):
    chance = random.Random(number)
    with serving(options.binary, database) as server:
        server.start()
        import_lines(server, lines(0, False).replace(b'"ana"', f'"{USER}"'.encode()))
        before = messages(server)
        sender = StayingSender(server, random.Random(number))
        sender.start()
        answer, body = Client(server, None).request("DELETE", f"{BASE}/users/{USER}?mode=erase", None, HEADERS)
        assert answer.status == 202, body[:500]
        path = body.decode().split('"url":"')[1].split('"')[0].split(BASE)[1]
        for _ in range(number + 1):
            time.sleep(chance.random() * 1.5)
            server.kill()
            sender.join()
            server.start()
        assert sender.error is None, sender.error
        done = ended(server, path)
        assert done["state"] == "completed" and done["remaining"] == 0, done
        after = messages(server)
        assert [one["id"] for one in after[:len(before)]] == [one["id"] for one in before], "messages are missing or moved"
        for old, new in zip(before, after):
            assert old["position"] == new["position"]
            if old["sender"]["user_id"] == USER:
                assert new["parts"] == [] and new["sender"]["user_id"] == "erased-1", new
            else:
                assert new["parts"] == old["parts"] and new["sender"]["user_id"] == "bo", new
        sent = [one["parts"][0]["body"] for one in after[len(before):]]
        missing = set(sender.acknowledged) - set(sent)
        assert len(sent) == len(set(sent)) and not missing, f"{len(missing)} acknowledged messages are missing"
        if not database:
            expect_nowhere(server)
        return f"killed {number + 1} times; {len(before)} messages, {len(sender.acknowledged)} acknowledged ones kept"


def expect_nowhere(server):
    """Reads all rows of the database file without the help of the server."""
    server.kill()
    with contextlib.closing(sqlite3.connect(pathlib.Path(server.data) / "parley.sqlite")) as connection:
        for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for row in connection.execute(f'SELECT * FROM "{table}"'):
                for value in row:
                    data = value if isinstance(value, bytes) else str(value).encode()
                    assert USER.encode() not in data, f"{table}: {row}"
    server.start()


def main():
    options = arguments()
    with contextlib.ExitStack() as stack:
        postgres = stack.enter_context(contextlib.closing(Postgres())) if options.database == "postgres" else None
        for number in range(options.rounds):
            print(f"round {number}: {run(options, postgres and postgres.schema(), number)}", flush=True)
    print(f"{options.rounds} passed, 0 failed")


if __name__ == "__main__":
    main()
