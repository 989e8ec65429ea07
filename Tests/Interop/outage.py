#!/usr/bin/env python3
"""The object store goes away while uploads and downloads need it, and comes back.

    outage.py --binary .build/debug/parley [--database postgres] [--only refuses]

It refuses connections, or accepts them and does not answer. Meanwhile the server answers 503 with
`Retry-After` wherever the same request may succeed later, and nothing that was acknowledged is lost; afterwards
service resumes by itself. With a PostgreSQL server several processes may share the bucket, so that every
acknowledged byte lies there and none can be acknowledged meanwhile; without one they wait on the local disk.
"""

import argparse
import contextlib
import pathlib
import random
import socket
import sys
import threading
import time
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
# Behind this folder: each has a tus.py.
sys.path += [str(HERE.parent / "Crash"), str(HERE.parent / "Support")]

from matrix import Client, error
from postgres import Postgres
from server import serving
from store import ObjectStore
from tus import content_of, expect, path

FIRST, SIZE, LONG = 10_000_000, 20_000_000, 60_000_000
BYTES = random.Random(1).randbytes(SIZE)
# Seconds that nothing here may take.
PATIENCE = 300


class StoreProxy:
    """A proxy to a store, which can be closed (connections are refused) or stopped (no answer)."""

    def __init__(self, endpoint):
        target = urllib.parse.urlsplit(endpoint)
        self.target = (target.hostname, target.port)
        self.flows = threading.Event()
        self.ends, self.listener, self.port = [], None, 0
        self.open()

    def open(self):
        self.flows.set()
        if self.listener is None:
            self.listener = socket.create_server(("127.0.0.1", self.port), backlog=64)
            self.port = self.listener.getsockname()[1]
            threading.Thread(target=self.listen, args=(self.listener,), daemon=True).start()

    def stop(self):
        self.flows.clear()

    def close(self):
        # A thread that waits in `accept` would keep the port.
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.listener = None
        for end in self.ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self.ends.clear()

    def listen(self, listener):
        with contextlib.suppress(OSError):
            while True:
                client = listener.accept()[0]
                store = socket.create_connection(self.target)
                self.ends += [client, store]
                for one, other in ((client, store), (store, client)):
                    threading.Thread(target=self.pass_on, args=(one, other), daemon=True).start()

    def pass_on(self, one, other):
        with contextlib.suppress(OSError):
            while data := one.recv(256 << 10):
                self.flows.wait()
                other.sendall(data)
        with contextlib.suppress(OSError):
            other.shutdown(socket.SHUT_RDWR)


class RetryingClient(Client):
    """Waits for answers without a time limit."""

    def ask(self, *request, **manner):
        self.peer.socket.settimeout(PATIENCE)
        return super().ask(*request, **manner)

    def fetch(self, content):
        return self.ask("GET /" + self.download(content).split("/", 3)[3])

    def until(self, ask, is_it):
        deadline = time.monotonic() + PATIENCE
        while not is_it(answer := ask()):
            expect(time.monotonic() < deadline, f"it went on like this: {answer}")
            time.sleep(0.2)
        return answer

    def until_granted(self, ask):
        """Whatever is said meanwhile leaves hope."""
        return self.until(ask, lambda answer: answer.status == 200 or later(answer))

    def complete(self, place, data):
        """What is not held yet, until all is, and is a content."""
        size = len(data)

        def ask():
            held = int(self.held(place))
            # A body that is not needed would be refused while it is sent.
            if held == size:
                return self.put(place, b"", f"*/{size}")
            return self.put(place, data[held:], span(held, size, size))

        self.until_granted(ask)


def later(answer):
    """An answer after which a client tries again."""
    expect(answer.status == 503 and int(answer["Retry-After"]) > 0, answer)


def span(start, end, size):
    return f"{start}-{end - 1}/{size}"


def begun(client):
    """A content of which nothing came yet: its place, and its name."""
    answer = client.start(("X-Upload-Content-Length", SIZE))
    expect(answer.status == 200, answer)
    return path(answer), content_of(answer)


def pushed(client, place):
    """A long body in one request, which cannot be taken; the answer comes while it is still being sent."""
    client.peer.socket.settimeout(PATIENCE)
    client.peer.say(f"PUT {place}", (
        ("Content-Range", f"bytes {span(0, LONG, LONG)}"), ("Content-Length", LONG)))

    def send(peer):
        with contextlib.suppress(OSError):
            for _ in range(LONG // len(BYTES)):
                peer.send(BYTES)

    sender = threading.Thread(target=send, args=(client.peer,))
    sender.start()
    answer = client.peer.hear()
    sender.join()
    client.peer.close()
    return answer


def alone(server, gate, goes_away):
    """Contents are staged on the local disk: as much as may wait there is acknowledged."""
    client = RetryingClient(server)
    (place, content), (other, kept) = begun(client), begun(client)
    client.complete(other, BYTES)
    goes_away()
    expect(client.put(place, BYTES[:FIRST], span(0, FIRST, SIZE)).status == 308, "a first part")
    answer = client.put(place, BYTES[FIRST:], span(FIRST, SIZE, SIZE))
    error(answer, 503, "locked")
    later(answer)
    expect(client.held(place) == str(SIZE), "all is held")
    long = path(client.start(("X-Upload-Content-Length", LONG)))
    answer = pushed(client, long)
    error(answer, 503, "stalled")
    later(answer)
    client = RetryingClient(server)
    held = int(client.held(long))
    expect(SIZE < held < LONG, f"{held} bytes are held")
    if gate.listener is None:
        later(client.fetch(kept))
    expect(client.ask("GET /health/live").status == 200, "the server itself is well")
    gate.open()
    # No request finishes it.
    client.until(lambda: client.ask(f"HEAD {place}"), lambda answer: answer["Upload-Complete"] == "?1")
    expect(client.put(place, b"", f"*/{SIZE}").status == 200, "the answer that was lost")
    client.complete(long, BYTES * (LONG // SIZE))
    for name in (content, kept):
        expect(client.until_granted(lambda: client.fetch(name)).content == BYTES, "not what was sent")


def shared(server, gate, goes_away):
    """Bytes are held once they are in the bucket: meanwhile none are taken."""
    client = RetryingClient(server)
    (place, content), (other, kept) = begun(client), begun(client)
    client.complete(other, BYTES)
    expect(client.put(place, BYTES[:1000], span(0, 1000, SIZE)).status == 308, "a first part")
    goes_away()
    answer = client.put(place, BYTES[1000:FIRST], span(1000, FIRST, SIZE))
    error(answer, 503, "backendError")
    later(answer)
    expect(client.held(place) == "1000", "what was acknowledged is held, and no more")
    if gate.listener is None:
        later(client.fetch(kept))
    expect(client.ask("GET /health/live").status == 200, "the server itself is well")
    gate.open()
    client.complete(place, BYTES)
    for name in (content, kept):
        expect(client.until_granted(lambda: client.fetch(name)).content == BYTES, "not what was sent")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", required=True)
    parser.add_argument("--database", choices=["file", "postgres"], default="file")
    parser.add_argument("--only", choices=["refuses", "is-silent"], help="how it goes away; each in turn unless said")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        store = stack.enter_context(contextlib.closing(ObjectStore()))
        if not store.settings:
            return print("outage of the object store: left out")
        postgres = None
        if options.database == "postgres":
            postgres = stack.enter_context(contextlib.closing(Postgres()))
        gate = StoreProxy(store.settings["PARLEY_S3_ENDPOINT"])
        server = stack.enter_context(serving(options.binary, postgres and postgres.schema(), store.settings | {
            "PARLEY_S3_ENDPOINT": f"http://127.0.0.1:{gate.port}",
            "PARLEY_UPLOADS_FINALIZE_WAIT": "2s", "PARLEY_UPLOADS_BODY_IDLE_TIMEOUT": "2s"}))
        server.start()
        course = shared if postgres else alone
        ways = {"refuses": gate.close, "is-silent": gate.stop}
        for name in [options.only] if options.only else ways:
            began = time.monotonic()
            course(server, gate, ways[name])
            print(f"  a store that {name.replace('-', ' ')}: {time.monotonic() - began:.1f} s", flush=True)
        expect(server.stop() == 0, "SIGTERM did not end the server with exit code 0")
    print(f"{1 if options.only else 2} passed, 0 failed")


if __name__ == "__main__":
    main()
