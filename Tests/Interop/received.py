#!/usr/bin/env python3
"""No byte that the server received from a slow sender is lost (ruling 33).

    received.py --binary .build/debug/parley [--s3 | --processes 2]

Each sender has its own connection and pauses in the middle of a body. Meanwhile other connections query the
offset and continue the upload. Then fifty senders send 1 KB/s each until SIGTERM, and the server is started again.
With --s3 complete contents are in an object store, and only PARLEY_TEST_ROUNDS=all sends chunked bodies as well. With
--processes 2 two servers share a database and an object store: one receives and is killed or stopped, the other one is
queried and continues the upload.
"""

import argparse
import contextlib
import os
import pathlib
import random
import signal
import sys
import time
from functools import partial

HERE = pathlib.Path(__file__).resolve().parent
# After this folder, because both have a tus.py.
sys.path += [str(HERE.parent / "Crash"), str(HERE.parent / "Support")]

from checklist import Results
from matrix import Client
from peer import Peer
from postgres import Postgres
from server import PATIENCE, serving
from store import ObjectStore
from tus import DATA, VERSION, content_of, expect, upload_path

SIZE = 30_000
BYTES = random.Random(33).randbytes(SIZE)
DRAFT = (("Upload-Draft-Interop-Version", 8),)
WRITERS = 50
# Seconds: how long a process waits for a receiving one that does not reply.
REPLY = 2


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


# For each protocol: the method and fields of a request, and a query of the offset that ends a running request.
PROTOCOLS = {
    "plain": (put, lambda client, path: from_range(client.put(path, b"", "*/*"))),
    "Content-Range": (ranged, lambda client, path: from_range(client.put(path, b"", f"*/{SIZE}"))),
    "tus": (tus, lambda client, path: int(client.head(path)["Upload-Offset"])),
    "draft 8": (draft, lambda client, path: int(client.send(f"HEAD {path}", DRAFT)["Upload-Offset"])),
}


class Sender:
    """A request whose body is sent piece by piece."""

    def __init__(self, client, path, request, offset=0, chunked=False):
        self.peer, self.path, self.sent, self.chunked = Peer(client.server.port), path, offset, chunked
        method, fields = request(offset)
        framing = ("Transfer-Encoding", "chunked") if chunked else ("Content-Length", SIZE - offset)
        self.peer.send_request(f"{method} {path}", fields + (framing,))

    def begin(self, client):
        """Sends a first piece, and waits until the server has received it: then the request is running."""
        self.send(100)
        try:
            client.wait_for(self.path, self.sent)
        except AssertionError as failure:
            self.peer.socket.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                raise AssertionError(f"{failure}; the answer is {self.peer.socket.recv(10_000)}") from None
            raise

    def send(self, count):
        piece = BYTES[self.sent:self.sent + count]
        self.peer.send(f"{len(piece):x}\r\n".encode() + piece + b"\r\n" if self.chunked else piece)
        self.sent += len(piece)


def create_upload(client):
    """A new upload and its content."""
    answer = client.start(("X-Upload-Content-Length", SIZE))
    return upload_path(answer), content_of(answer)


def finish(client, path, content, request, offset):
    # A plain request cannot start at an offset.
    sender = Sender(client, path, ranged if request is put else request, offset)
    sender.send(SIZE)
    answer = sender.peer.read_answer(to_head=True)
    expect(answer.status in (200, 204), f"the rest is accepted: {answer}")
    expect(client.content(content) == BYTES, "the content differs from what was sent")


def a_status_query_reports_every_received_byte(name, chunked, client):
    request, query = PROTOCOLS[name]
    path, content = create_upload(client)
    sender = Sender(client, path, request, chunked=chunked)
    sender.begin(client)
    for count in (5_250, 4_750, 1):
        sender.send(count)
        sender.peer.wait_until_read()
        held = client.held(path)
        expect(held == str(sender.sent), f"{held} of {sender.sent} bytes are shown by HEAD")
    sender.send(2_000)
    held = query(client, path)
    expect(held == sender.sent, f"{held} of {sender.sent} bytes are shown by a status query")
    expect(sender.peer.has_ended(), "the connection of the first sender is closed")
    finish(client, path, content, request, held)


def an_append_continues_at_the_last_received_byte(name, chunked, client):
    request = PROTOCOLS[name][0]
    path, content = create_upload(client)
    sender = Sender(client, path, request, chunked=chunked)
    sender.begin(client)
    sender.send(10_000)
    sender.peer.wait_until_read()
    finish(client, path, content, request, sender.sent)
    expect(sender.peer.has_ended(), "the connection of the first sender is closed")


def bytes_of_fifty_slow_senders_survive_a_restart(client):
    paths = [create_upload(client) for _ in range(WRITERS)]
    requests = [PROTOCOLS[name][0] for name in PROTOCOLS]
    senders = [
        Sender(client, path, requests[number % len(requests)], chunked=number % 8 > 3)
        for number, (path, _) in enumerate(paths)]
    for _ in range(30):
        for sender in senders:
            sender.send(100)
        time.sleep(0.1)
    for (path, _), sender in zip(paths, senders):
        client.wait_for(path, sender.sent)
    for number, sender in enumerate(senders):
        sender.send(500 + number)
    expect(client.server.stop() == 0, "SIGTERM did not end the server with exit code 0")
    for number, sender in enumerate(senders):
        if requests[number % len(requests)] is draft:
            expect(sender.peer.has_ended(), "the connection of a draft closes without an answer, so that the client resumes")
        else:
            answer = sender.peer.read_answer()
            expect(answer.status == 503 and answer["Retry-After"] == "1", answer)
    client.server.start()
    client.peer = Peer(client.server.port)
    for number, ((path, content), sender) in enumerate(zip(paths, senders)):
        held = client.held(path)
        expect(held == str(sender.sent), f"{held} of {sender.sent} bytes are held after the restart")
        finish(client, path, content, requests[number % len(requests)], sender.sent)


def measure_time(action):
    """The result of an action, and its duration in seconds."""
    began = time.monotonic()
    return action(), time.monotonic() - began


def with_reply(check):
    """Runs a check of what one process knows from another one; repeats it if that one did not reply in time."""
    end = None
    while True:
        began = time.monotonic()
        try:
            return check()
        except AssertionError:
            if end is None and time.monotonic() - began >= REPLY:
                # From then on the last commit counts, until the receiving process commits again.
                end = time.monotonic() + PATIENCE
            if end is None or time.monotonic() > end:
                raise
            time.sleep(0.2)


def expect_shown(client, path, sent):
    held = client.held(path)
    expect(held == str(sent), f"{held} of {sent} bytes are shown by HEAD at the other process")


def another_process_reports_every_received_byte(name, chunked, client, other):
    request, query = PROTOCOLS[name]
    path, content = create_upload(client)
    sender = Sender(client, path, request, chunked=chunked)
    sender.begin(client)
    for count in (5_250, 4_750, 1):
        sender.send(count)
        sender.peer.wait_until_read()
        with_reply(lambda: expect_shown(other, path, sender.sent))
    shown = sender.sent
    sender.send(2_000)
    sender.peer.wait_until_read()
    held, took = measure_time(lambda: query(other, path))
    # Without a reply the last commit counts.
    is_late = took >= REPLY and shown <= held <= sender.sent
    expect(held == sender.sent or is_late, f"{held} of {sender.sent} bytes are shown by a status query at the other process")
    expect(is_late or sender.peer.has_ended(), "the connection of the first sender is closed")
    finish(other, path, content, request, held)


def an_append_continues_at_another_process(name, chunked, client, other):
    request = PROTOCOLS[name][0]
    path, content = create_upload(client)
    sender = Sender(client, path, request, chunked=chunked)
    sender.begin(client)
    sender.send(10_000)
    sender.peer.wait_until_read()
    with_reply(lambda: finish(other, path, content, request, sender.sent))
    expect(sender.peer.has_ended(), "the connection of the first sender is closed")


def another_process_continues_after_the_receiving_one_is_killed(name, client, other):
    request, query = PROTOCOLS[name]
    path, content = create_upload(client)
    sender = Sender(client, path, request)
    sender.begin(client)
    sender.send(9_900)
    client.wait_for(path, sender.sent)
    shown = int(other.held(path))
    expect(shown == 10_000, f"{shown} of 10000 bytes are shown by HEAD")
    sender.send(2_000)
    client.server.kill()
    try:
        # The last bytes are lost; the other process waits for the killed one only the first time.
        held = int(other.held(path))
        expect(shown <= held <= sender.sent, f"{held} bytes are held, after {shown} were shown")
        again = [measure_time(lambda: int(other.held(path))) for _ in range(5)]
        expect({found for found, _ in again} == {held}, again)
        expect(min(took for _, took in again) < REPLY / 2, f"the next HEADs took {again}")
        offset = query(other, path)
        expect(offset == held, f"a status query shows {offset} of {held} bytes")
        finish(other, path, content, request, offset)
    finally:
        client.server.start()


def another_process_continues_while_the_receiving_one_is_stopped(name, client, other):
    request, query = PROTOCOLS[name]
    path, content = create_upload(client)
    sender = Sender(client, path, request)
    sender.begin(client)
    sender.send(9_900)
    client.wait_for(path, sender.sent)
    expect(other.held(path) == "10000", "HEAD shows what is received")
    sender.send(2_000)
    client.server.process.send_signal(signal.SIGSTOP)
    try:
        # Waiting for the stopped process would never end.
        held = query(other, path)
        expect(10_000 <= held <= sender.sent, f"{held} bytes are held")
        half = Sender(other, path, ranged, held)
        half.send(5_000)
        time.sleep(0.1)
    finally:
        client.server.process.send_signal(signal.SIGCONT)
    # Late bytes on the old connection are discarded; they differ from those of the upload.
    try:
        sender.peer.send(bytes(5_000))
    except OSError:
        pass
    half.send(SIZE)
    expect(half.peer.read_answer().status == 200, "the rest is accepted")
    expect(other.content(content) == BYTES, "the content differs from what was sent")


def fifty_slow_senders_continue_at_another_process(client, other):
    """As bytes_of_fifty_slow_senders_survive_a_restart, but another process continues."""
    paths = [create_upload(client) for _ in range(WRITERS)]
    requests = [PROTOCOLS[name][0] for name in PROTOCOLS]
    senders = [
        Sender(client, path, requests[number % len(requests)], chunked=number % 8 > 3)
        for number, (path, _) in enumerate(paths)]
    for _ in range(30):
        for sender in senders:
            sender.send(100)
        time.sleep(0.1)
    for sender in senders:
        client.wait_for(sender.path, sender.sent)
    for number, sender in enumerate(senders):
        sender.send(500 + number)
    expect(client.server.stop() == 0, "SIGTERM did not end the server with exit code 0")
    try:
        for number, ((path, content), sender) in enumerate(zip(paths, senders)):
            held = other.held(path)
            expect(held == str(sender.sent), f"{held} of {sender.sent} bytes are held after SIGTERM")
            if number % 10 == 0:
                finish(other, path, content, requests[number % len(requests)], sender.sent)
    finally:
        client.server.start()


def with_two_processes(binary, results, stack):
    """Runs the checks of what other processes report about bytes that one process receives."""
    settings = stack.enter_context(contextlib.closing(ObjectStore())).settings
    if not settings:
        return print("received bytes with two processes: skipped: there is no object store")
    schema = stack.enter_context(contextlib.closing(Postgres())).schema()
    servers = [stack.enter_context(serving(binary, schema, settings=settings)) for _ in range(2)]
    for server in servers:
        server.start()

    def run(check, *arguments):
        def with_both(client):
            check(*arguments, client, Client(servers[1]))
        with_both.__name__ = check.__name__
        results.run(with_both, Client(servers[0]), f", {arguments}")

    for name in PROTOCOLS:
        for chunked in (False, True):
            run(another_process_reports_every_received_byte, name, chunked)
            run(an_append_continues_at_another_process, name, chunked)
        run(another_process_continues_after_the_receiving_one_is_killed, name)
        run(another_process_continues_while_the_receiving_one_is_stopped, name)
    run(fifty_slow_senders_continue_at_another_process)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", required=True)
    parser.add_argument("--s3", action="store_true", help="store complete contents in an object store")
    parser.add_argument("--processes", type=int, choices=(1, 2), default=1, help="2 share database and object store")
    options = parser.parse_args()
    results = Results()
    with contextlib.ExitStack() as stack:
        if options.processes == 2:
            with_two_processes(options.binary, results, stack)
            print(f"{results.passed} passed, {results.failed} failed")
            sys.exit(1 if results.failed else 0)
        settings = None
        if options.s3:
            settings = stack.enter_context(contextlib.closing(ObjectStore())).settings
            if not settings:
                return print("received bytes with an object store: skipped: there is none")
        server = stack.enter_context(serving(options.binary, settings=settings))
        server.start()
        # The storage of complete contents does not depend on the framing of a request.
        every = not options.s3 or os.environ.get("PARLEY_TEST_ROUNDS") == "all"
        for name in PROTOCOLS:
            for chunked in (False, True) if every else (False,):
                for check in (a_status_query_reports_every_received_byte, an_append_continues_at_the_last_received_byte):
                    results.run(partial(check, name, chunked), Client(server), f", {name}, chunked: {chunked}")
        results.run(bytes_of_fifty_slow_senders_survive_a_restart, Client(server))
    print(f"{results.passed} passed, {results.failed} failed")
    sys.exit(1 if results.failed else 0)


if __name__ == "__main__":
    main()
