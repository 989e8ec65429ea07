#!/usr/bin/env python3
"""Slow senders lose no byte that the server has received (ruling 33).

    received.py --binary .build/debug/parley [--s3 | --processes 2]

Each sender has a connection of its own and pauses in the middle of a body. Meanwhile other connections ask how
many bytes are held, and go on; then fifty of them send 1 KB/s until SIGTERM, and the server starts again.
With --s3 complete contents lie in an object store. With --processes 2 two servers share a database and an object
store: one receives, and the other is asked and goes on; the one that receives is killed, or stands still.
"""

import argparse
import contextlib
import pathlib
import random
import signal
import sys
import time
from functools import partial

HERE = pathlib.Path(__file__).resolve().parent
# Behind this folder: each has a tus.py.
sys.path += [str(HERE.parent / "Crash"), str(HERE.parent / "Support")]

from checklist import Score
from matrix import Client
from peer import Peer
from postgres import Postgres
from server import serving
from store import ObjectStore
from tus import DATA, VERSION, content_of, expect, path

SIZE = 30_000
BYTES = random.Random(33).randbytes(SIZE)
DRAFT = (("Upload-Draft-Interop-Version", 8),)
WRITERS = 50
# Seconds that another process waits for the one that receives, which may be dead, and what the answer itself takes.
PATIENCE = 2 + 1.5


def put(offset):
    return "PUT", ()


def ranged(offset):
    return "PUT", (("Content-Range", f"bytes {offset}-{SIZE - 1}/{SIZE}"),)


def tus(offset):
    return "PATCH", (VERSION, DATA, ("Upload-Offset", offset))


def draft(offset):
    return "PATCH", DRAFT + (
        ("Content-Type", "application/partial-upload"), ("Upload-Offset", offset), ("Upload-Complete", "?1"))


def from_range(answer):
    return int((answer["Range"] or "bytes=0--1")[len("bytes=0-"):]) + 1


# How each protocol sends, and how it asks for the offset, which ends what is under way.
PROTOCOLS = {
    "plain": (put, lambda client, place: from_range(client.put(place, b"", "*/*"))),
    "Content-Range": (ranged, lambda client, place: from_range(client.put(place, b"", f"*/{SIZE}"))),
    "tus": (tus, lambda client, place: int(client.head(place)["Upload-Offset"])),
    "draft 8": (draft, lambda client, place: int(client.ask(f"HEAD {place}", DRAFT)["Upload-Offset"])),
}


class Sender:
    """A request whose body is sent piece by piece."""

    def __init__(self, client, place, request, offset=0, chunked=False):
        self.peer, self.sent, self.chunked = Peer(client.server.port), offset, chunked
        method, fields = request(offset)
        framing = ("Transfer-Encoding", "chunked") if chunked else ("Content-Length", SIZE - offset)
        self.peer.say(f"{method} {place}", fields + (framing,))

    def send(self, count):
        piece = BYTES[self.sent:self.sent + count]
        self.peer.send(f"{len(piece):x}\r\n".encode() + piece + b"\r\n" if self.chunked else piece)
        self.sent += len(piece)


def begun(client):
    """A new upload and its content."""
    answer = client.start(("X-Upload-Content-Length", SIZE))
    return path(answer), content_of(answer)


def finish(client, place, content, request, offset):
    # A plain request cannot begin in the middle.
    sender = Sender(client, place, ranged if request is put else request, offset)
    sender.send(SIZE)
    expect(sender.peer.hear(to_head=True).status in (200, 204), "the rest is taken")
    expect(client.content(content) == BYTES, "the content is not what was sent")


def every_byte_counts_for_a_status_query(name, chunked, client):
    request, ask = PROTOCOLS[name]
    place, content = begun(client)
    sender = Sender(client, place, request, chunked=chunked)
    for count in (5_250, 4_750, 1):
        sender.send(count)
        time.sleep(0.1)
        held = client.held(place)
        expect(held == str(sender.sent), f"{held} of {sender.sent} bytes are shown by HEAD")
    sender.send(2_000)
    held = ask(client, place)
    expect(held == sender.sent, f"{held} of {sender.sent} bytes are shown by a status query")
    expect(sender.peer.has_ended(), "the connection of the first sender is closed")
    finish(client, place, content, request, held)


def the_next_append_begins_where_the_last_byte_came(name, chunked, client):
    request = PROTOCOLS[name][0]
    place, content = begun(client)
    sender = Sender(client, place, request, chunked=chunked)
    sender.send(10_000)
    time.sleep(0.1)
    finish(client, place, content, request, sender.sent)
    expect(sender.peer.has_ended(), "the connection of the first sender is closed")


def fifty_slow_senders_keep_their_bytes_over_a_restart(client):
    places = [begun(client) for _ in range(WRITERS)]
    requests = [PROTOCOLS[name][0] for name in PROTOCOLS]
    senders = [
        Sender(client, place, requests[number % len(requests)], chunked=number % 8 > 3)
        for number, (place, _) in enumerate(places)]
    for _ in range(30):
        for sender in senders:
            sender.send(100)
        time.sleep(0.1)
    for (place, _), sender in zip(places, senders):
        held = client.held(place)
        expect(held == str(sender.sent), f"{held} of {sender.sent} bytes are shown by HEAD")
    for number, sender in enumerate(senders):
        sender.send(500 + number)
    expect(client.server.stop() == 0, "SIGTERM did not end the server with exit code 0")
    for number, sender in enumerate(senders):
        if requests[number % len(requests)] is draft:
            expect(sender.peer.has_ended(), "a draft is told nothing, so that its client resumes")
        else:
            answer = sender.peer.hear()
            expect(answer.status == 503 and answer["Retry-After"] == "1", answer)
    client.server.start()
    client.peer = Peer(client.server.port)
    for number, ((place, content), sender) in enumerate(zip(places, senders)):
        held = client.held(place)
        expect(held == str(sender.sent), f"{held} of {sender.sent} bytes are held after the restart")
        finish(client, place, content, requests[number % len(requests)], sender.sent)


def timed(work):
    """What it returns, and how many seconds it took."""
    began = time.monotonic()
    return work(), time.monotonic() - began


def every_byte_counts_at_another_process(name, chunked, client, other):
    request, ask = PROTOCOLS[name]
    place, content = begun(client)
    sender = Sender(client, place, request, chunked=chunked)
    for count in (5_250, 4_750, 1):
        sender.send(count)
        time.sleep(0.1)
        held, took = timed(lambda: other.held(place))
        expect(held == str(sender.sent), f"{held} of {sender.sent} bytes are shown by HEAD at the other process")
        expect(took < PATIENCE, f"HEAD took {took:.2f} s")
    sender.send(2_000)
    time.sleep(0.1)
    held, took = timed(lambda: ask(other, place))
    expect(held == sender.sent, f"{held} of {sender.sent} bytes are shown by a status query at the other process")
    expect(took < PATIENCE, f"a status query took {took:.2f} s")
    expect(sender.peer.has_ended(), "the connection of the first sender is closed")
    finish(other, place, content, request, held)


def the_next_append_begins_at_another_process(name, chunked, client, other):
    request = PROTOCOLS[name][0]
    place, content = begun(client)
    sender = Sender(client, place, request, chunked=chunked)
    sender.send(10_000)
    time.sleep(0.1)
    finish(other, place, content, request, sender.sent)
    expect(sender.peer.has_ended(), "the connection of the first sender is closed")


def the_one_that_receives_is_killed(name, client, other):
    request, ask = PROTOCOLS[name]
    place, content = begun(client)
    sender = Sender(client, place, request)
    sender.send(10_000)
    time.sleep(0.1)
    shown = int(other.held(place))
    expect(shown == 10_000, f"{shown} of 10000 bytes are shown by HEAD")
    sender.send(2_000)
    client.server.kill()
    try:
        # Its last bytes are lost, and it is waited for once.
        held, took = timed(lambda: int(other.held(place)))
        expect(shown <= held <= sender.sent, f"{held} bytes are held, after {shown} were shown")
        expect(took < PATIENCE, f"HEAD took {took:.2f} s after the death")
        again, took = timed(lambda: int(other.held(place)))
        expect(again == held and took < 0.5, f"a second HEAD took {took:.2f} s")
        offset = ask(other, place)
        expect(offset == held, f"a status query shows {offset} of {held} bytes")
        finish(other, place, content, request, offset)
    finally:
        client.server.start()


def the_one_that_receives_stands_still(name, client, other):
    request, ask = PROTOCOLS[name]
    place, content = begun(client)
    sender = Sender(client, place, request)
    sender.send(10_000)
    time.sleep(0.1)
    expect(other.held(place) == "10000", "HEAD shows what is received")
    sender.send(2_000)
    client.server.process.send_signal(signal.SIGSTOP)
    try:
        held, took = timed(lambda: ask(other, place))
        expect(10_000 <= held <= sender.sent, f"{held} bytes are held")
        expect(took < PATIENCE, f"a status query took {took:.2f} s while the process stood still")
        half = Sender(other, place, ranged, held)
        half.send(5_000)
        time.sleep(0.1)
    finally:
        client.server.process.send_signal(signal.SIGCONT)
    # Late bytes on the old connection are discarded; they would be other bytes.
    try:
        sender.peer.send(bytes(5_000))
    except OSError:
        pass
    half.send(SIZE)
    expect(half.peer.hear().status == 200, "the rest is taken")
    expect(other.content(content) == BYTES, "the content is not what was sent")


def fifty_slow_senders_go_on_at_another_process(client, other):
    """As fifty_slow_senders_keep_their_bytes_over_a_restart, and another process goes on."""
    places = [begun(client) for _ in range(WRITERS)]
    requests = [PROTOCOLS[name][0] for name in PROTOCOLS]
    senders = [
        Sender(client, place, requests[number % len(requests)], chunked=number % 8 > 3)
        for number, (place, _) in enumerate(places)]
    for _ in range(30):
        for sender in senders:
            sender.send(100)
        time.sleep(0.1)
    for number, sender in enumerate(senders):
        sender.send(500 + number)
    expect(client.server.stop() == 0, "SIGTERM did not end the server with exit code 0")
    try:
        for number, ((place, content), sender) in enumerate(zip(places, senders)):
            held = other.held(place)
            expect(held == str(sender.sent), f"{held} of {sender.sent} bytes are held after SIGTERM")
            if number % 10 == 0:
                finish(other, place, content, requests[number % len(requests)], sender.sent)
    finally:
        client.server.start()


def with_two_processes(binary, score, stack):
    """Runs the checks of what other processes report about bytes that one process receives."""
    settings = stack.enter_context(contextlib.closing(ObjectStore())).settings
    if not settings:
        return print("received bytes with two processes: left out")
    schema = stack.enter_context(contextlib.closing(Postgres())).schema()
    servers = [stack.enter_context(serving(binary, schema, settings=settings)) for _ in range(2)]
    for server in servers:
        server.start()

    def try_out(fact, *arguments):
        def of(client):
            fact(*arguments, client, Client(servers[1]))
        of.__name__ = fact.__name__
        score.try_out(of, Client(servers[0]), f", {arguments}")

    for name in PROTOCOLS:
        for chunked in (False, True):
            try_out(every_byte_counts_at_another_process, name, chunked)
            try_out(the_next_append_begins_at_another_process, name, chunked)
        try_out(the_one_that_receives_is_killed, name)
        try_out(the_one_that_receives_stands_still, name)
    try_out(fifty_slow_senders_go_on_at_another_process)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", required=True)
    parser.add_argument("--s3", action="store_true", help="complete contents lie in an object store")
    parser.add_argument("--processes", type=int, choices=(1, 2), default=1, help="2 share everything")
    options = parser.parse_args()
    score = Score()
    with contextlib.ExitStack() as stack:
        if options.processes == 2:
            with_two_processes(options.binary, score, stack)
            print(f"{score.passed} passed, {score.failed} failed")
            sys.exit(1 if score.failed else 0)
        settings = None
        if options.s3:
            settings = stack.enter_context(contextlib.closing(ObjectStore())).settings
            if not settings:
                return print("received bytes with an object store: left out")
        server = stack.enter_context(serving(options.binary, settings=settings))
        server.start()
        for name in PROTOCOLS:
            for chunked in (False, True):
                for fact in (every_byte_counts_for_a_status_query, the_next_append_begins_where_the_last_byte_came):
                    score.try_out(partial(fact, name, chunked), Client(server), f", {name}, chunked: {chunked}")
        score.try_out(fifty_slow_senders_keep_their_bytes_over_a_restart, Client(server))
    print(f"{score.passed} passed, {score.failed} failed")
    sys.exit(1 if score.failed else 0)


if __name__ == "__main__":
    main()
