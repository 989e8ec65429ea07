#!/usr/bin/env python3
"""The object store becomes unavailable while uploads and downloads need it, and available again.

    outage.py --binary .build/debug/parley [--database postgres] [--only refuses]

It refuses connections, or accepts them and does not answer. Meanwhile the server answers 503 with `Retry-After`
to requests that may succeed later, and no acknowledged data is lost; afterwards service resumes by itself. With
a PostgreSQL database bytes are acknowledged once they are in the shared bucket, so none are meanwhile; with an
embedded database they wait on the local disk.
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
# After this folder, because both have a tus.py.
sys.path += [str(HERE.parent / "Crash"), str(HERE.parent / "Support")]

from matrix import Client, expect_error
from postgres import Postgres
from server import serving
from store import ObjectStore
from tus import content_of, expect, upload_path

FIRST, SIZE, LONG = 10_000_000, 20_000_000, 60_000_000
BYTES = random.Random(1).randbytes(SIZE)
# Seconds: the longest wait for an answer or a state.
TIMEOUT = 300


class StoreProxy:
    """A proxy to a store, which can be closed (connections are refused) or stopped (no answer)."""

    def __init__(self, endpoint):
        target = urllib.parse.urlsplit(endpoint)
        self.target = (target.hostname, target.port)
        self.is_open = threading.Event()
        self.ends, self.listener, self.port = [], None, 0
        self.open()

    def open(self):
        self.is_open.set()
        if self.listener is None:
            self.listener = socket.create_server(("127.0.0.1", self.port), backlog=64)
            self.port = self.listener.getsockname()[1]
            threading.Thread(target=self.listen, args=(self.listener,), daemon=True).start()

    def stop(self):
        self.is_open.clear()

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
                for source, target in ((client, store), (store, client)):
                    threading.Thread(target=self.forward, args=(source, target), daemon=True).start()

    def forward(self, source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(256 << 10):
                self.is_open.wait()
                target.sendall(data)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)


class RetryingClient(Client):
    """A client that waits long for answers and repeats requests."""

    def send(self, *request, **options):
        self.peer.socket.settimeout(TIMEOUT)
        return super().send(*request, **options)

    def fetch(self, content):
        return self.send("GET /" + self.download(content).split("/", 3)[3])

    def until(self, request, is_expected):
        """Repeats a request until its answer is as expected; returns that answer."""
        deadline = time.monotonic() + TIMEOUT
        while not is_expected(answer := request()):
            expect(time.monotonic() < deadline, f"the last answer was {answer}")
            time.sleep(0.2)
        return answer

    def until_granted(self, request):
        """Repeats a request until it succeeds; expects that each failure is a 503 with `Retry-After`."""
        return self.until(request, lambda answer: answer.status == 200 or expect_later(answer))

    def complete(self, path, data):
        """Sends the missing bytes until the content is complete."""
        size = len(data)

        def request():
            held = int(self.held(path))
            # Without missing bytes there is no range to send, only a query.
            if held == size:
                return self.put(path, b"", f"*/{size}")
            return self.put(path, data[held:], span(held, size, size))

        self.until_granted(request)


def expect_later(answer):
    """Expects a 503 with `Retry-After`."""
    expect(answer.status == 503 and int(answer["Retry-After"]) > 0, answer)


def span(start, end, size):
    return f"{start}-{end - 1}/{size}"


def create_content(client):
    """Creates a content without bytes; returns its path and its id."""
    answer = client.start(("X-Upload-Content-Length", SIZE))
    expect(answer.status == 200, answer)
    return upload_path(answer), content_of(answer)


def send_long_body(client, path):
    """Sends a long body that cannot be stored; the answer arrives while it is being sent."""
    client.peer.socket.settimeout(TIMEOUT)
    client.peer.send_request(f"PUT {path}", (
        ("Content-Range", f"bytes {span(0, LONG, LONG)}"), ("Content-Length", LONG)))

    def send(peer):
        with contextlib.suppress(OSError):
            for _ in range(LONG // len(BYTES)):
                peer.send(BYTES)

    sender = threading.Thread(target=send, args=(client.peer,))
    sender.start()
    answer = client.peer.read_answer()
    sender.join()
    client.peer.close()
    return answer


def with_local_disk(server, proxy, interrupt):
    """Contents are staged on the local disk: bytes are acknowledged up to the limit of what may wait there."""
    client = RetryingClient(server)
    (path, content), (second_path, second_content) = create_content(client), create_content(client)
    client.complete(second_path, BYTES)
    interrupt()
    expect(client.put(path, BYTES[:FIRST], span(0, FIRST, SIZE)).status == 308, "a first part")
    answer = client.put(path, BYTES[FIRST:], span(FIRST, SIZE, SIZE))
    expect_error(answer, 503, "locked")
    expect_later(answer)
    expect(client.held(path) == str(SIZE), "all bytes are stored")
    long = upload_path(client.start(("X-Upload-Content-Length", LONG)))
    answer = send_long_body(client, long)
    expect_error(answer, 503, "stalled")
    expect_later(answer)
    client = RetryingClient(server)
    held = int(client.held(long))
    expect(SIZE < held < LONG, f"{held} bytes are stored")
    if proxy.listener is None:
        expect_later(client.fetch(second_content))
    expect(client.send("GET /health/live").status == 200, "the server is live")
    proxy.open()
    # The server finishes the upload by itself.
    client.until(lambda: client.send(f"HEAD {path}"), lambda answer: answer["Upload-Complete"] == "?1")
    expect(client.put(path, b"", f"*/{SIZE}").status == 200, "the final answer is repeated")
    client.complete(long, BYTES * (LONG // SIZE))
    for name in (content, second_content):
        expect(client.until_granted(lambda: client.fetch(name)).content == BYTES, "the content differs from what was sent")


def with_shared_bucket(server, proxy, interrupt):
    """Bytes are acknowledged once they are in the bucket: none are while it is unavailable."""
    client = RetryingClient(server)
    (path, content), (second_path, second_content) = create_content(client), create_content(client)
    client.complete(second_path, BYTES)
    expect(client.put(path, BYTES[:1000], span(0, 1000, SIZE)).status == 308, "a first part")
    interrupt()
    answer = client.put(path, BYTES[1000:FIRST], span(1000, FIRST, SIZE))
    expect_error(answer, 503, "backendError")
    expect_later(answer)
    expect(client.held(path) == "1000", "only acknowledged bytes are stored")
    if proxy.listener is None:
        expect_later(client.fetch(second_content))
    expect(client.send("GET /health/live").status == 200, "the server is live")
    proxy.open()
    client.complete(path, BYTES)
    for name in (content, second_content):
        expect(client.until_granted(lambda: client.fetch(name)).content == BYTES, "the content differs from what was sent")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", required=True)
    parser.add_argument("--database", choices=["file", "postgres"], default="file")
    parser.add_argument("--only", choices=["refuses", "is-silent"], help="how the store becomes unavailable; both by default")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        store = stack.enter_context(contextlib.closing(ObjectStore()))
        if not store.settings:
            return print("outage of the object store: skipped: there is no object store")
        postgres = None
        if options.database == "postgres":
            postgres = stack.enter_context(contextlib.closing(Postgres()))
        proxy = StoreProxy(store.settings["PARLEY_S3_ENDPOINT"])
        server = stack.enter_context(serving(options.binary, postgres and postgres.schema(), store.settings | {
            "PARLEY_S3_ENDPOINT": f"http://127.0.0.1:{proxy.port}",
            "PARLEY_UPLOADS_FINALIZE_WAIT": "2s", "PARLEY_UPLOADS_BODY_IDLE_TIMEOUT": "15s"}))
        server.start()
        scenario = with_shared_bucket if postgres else with_local_disk
        interruptions = {"refuses": proxy.close, "is-silent": proxy.stop}
        for name in [options.only] if options.only else interruptions:
            began = time.monotonic()
            scenario(server, proxy, interruptions[name])
            print(f"  a store that {name.replace('-', ' ')}: {time.monotonic() - began:.1f} s", flush=True)
        expect(server.stop() == 0, "SIGTERM did not end the server with exit code 0")
    print(f"{1 if options.only else 2} passed, 0 failed")


if __name__ == "__main__":
    main()
