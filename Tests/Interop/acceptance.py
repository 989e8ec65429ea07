#!/usr/bin/env python3
"""Long acceptance tests of uploads (uploads §15).

    acceptance.py --binary .build/release/parley [--megabytes 2147] [--cuts 50] [--uploads 10] [--only C]

A file is uploaded in each of the protocols A to D; the connection is closed or reset at random points. Only
unacknowledged bytes are sent twice, and the download equals the file. Then several files are uploaded at the same
time, within the memory limit.
"""

import argparse
import hashlib
import pathlib
import random
import socket
import struct
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "Crash"))

from matrix import VERSIONS, Client, Draft
from peer import Peer
from server import serving
from tus import Tus, content_of, expect, upload_path

# The most memory of the server during all concurrent uploads, in KiB.
MEMORY = 64 << 10


class Ranges(Client):
    """A client of protocol A, `PUT` with `Content-Range`."""

    def begin(self, size):
        return self.start(("X-Upload-Content-Length", size))

    def request(self, path, start, size):
        return f"PUT {path}", (("Content-Range", f"bytes {start}-{size - 1}/{size}"),)

    def query_offset(self, path):
        answer = self.put(path, b"", "*/*")
        expect(answer.status == 308, answer)
        return int((answer["Range"] or "bytes=0--1")[len("bytes=0-"):]) + 1


class Plain(Ranges):
    """A client of protocol D, `PUT` without a range: each request sends the file from its beginning."""

    def request(self, path, start, size):
        return f"PUT {path}", ()


class Patches(Tus):
    """A client of protocol B, tus 1.0.0."""

    def begin(self, size):
        return self.create(("Upload-Length", size))

    def request(self, path, start, size):
        return f"PATCH {path}", (
            ("Tus-Resumable", "1.0.0"), ("Content-Type", "application/offset+octet-stream"), ("Upload-Offset", start))

    def query_offset(self, path):
        return int(self.head(path)["Upload-Offset"])


class Drafts(Draft):
    """A client of protocol C, the IETF protocol, with a random version for each request."""

    def __init__(self, server, generator):
        super().__init__(server, None)
        self.generator = generator

    def begin(self, size):
        return self.create(b"", False, ("Upload-Length", size))

    def request(self, path, start, size):
        self.version = self.generator.choice(VERSIONS)
        self.number = () if self.version is None else (("Upload-Draft-Interop-Version", self.version),)
        return f"PATCH {path}", self.number + (
            ("Content-Type", "application/partial-upload"), ("Upload-Offset", start), self.completeness(True))

    def query_offset(self, path):
        # Always with a version, because a query without one does not interrupt the cut request (3.8): the late bytes
        # of that request would be stored after the answer, and the next request would have a wrong offset.
        self.number = (("Upload-Draft-Interop-Version", self.version or 8),)
        return int(self.status(path)["Upload-Offset"])


def upload_with_cuts(client, film, size, cuts, generator):
    """Uploads the file with cuts at random points, and compares the download.

    Returns how many bytes were sent before a cut but not acknowledged, and so had to be sent again.
    """
    answer = client.begin(size)
    path, content = upload_path(answer), content_of(answer)
    offset = repeated = 0
    for point in sorted(generator.randrange(1, size) for _ in range(cuts)):
        start = 0 if isinstance(client, Plain) else offset
        end = max(point, offset + 1)
        peer = send_head(client, path, start, size)
        peer.socket.sendfile(film, start, end - start)
        if generator.random() < 0.5:
            peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer.close()
        before, offset = offset, client.query_offset(path)
        expect(before <= offset <= end, f"the offset is {offset} after {before}, and {end} bytes were sent")
        repeated += end - offset
    start = 0 if isinstance(client, Plain) else offset
    peer = send_head(client, path, start, size)
    peer.socket.sendfile(film, start)
    while (answer := peer.read_answer()).status < 200:
        pass
    expect(answer.status in (200, 201, 204), answer)
    film.seek(0)
    expect(digest_of(client, content) == hashlib.file_digest(film, "sha256").hexdigest(), "the content differs from the file")
    return repeated


def send_head(client, path, start, size):
    """Sends the head of a request; returns its connection."""
    line, fields = client.request(path, start, size)
    peer = Peer(client.server.port)
    peer.socket.settimeout(120)
    peer.send_request(line, fields + (("Content-Length", size - start),))
    return peer


def digest_of(client, content):
    """The SHA-256 of the downloaded content, in hexadecimal."""
    command = ["curl", "-sS", "--fail", client.download(content)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as curl:
        digest = hashlib.file_digest(curl.stdout, "sha256").hexdigest()
    expect(curl.returncode == 0, "the download failed")
    return digest


def upload_concurrently(server, film, size, count, digest):
    """Uploads the file `count` times concurrently; returns the peak memory of the server in KiB, and MB/s."""
    client = Client(server)
    paths = [upload_path(client.start(("X-Upload-Content-Length", size))) for _ in range(count)]
    peak, is_stopped = [0], threading.Event()
    watch = threading.Thread(target=watch_memory, args=(server.process.pid, peak, is_stopped))
    watch.start()
    began = time.monotonic()
    curls = [
        subprocess.Popen(
            ["curl", "-sS", "--fail", "-T", film.name, f"http://127.0.0.1:{server.port}{path}", "-D", "-", "-o",
             "/dev/null"], stdout=subprocess.PIPE, text=True) for path in paths]
    heads = [curl.communicate()[0] for curl in curls]
    seconds = time.monotonic() - began
    is_stopped.set()
    watch.join()
    expect(all(curl.returncode == 0 for curl in curls), heads)
    expect(all(digest in head for head in heads), "an ETag is not the SHA-256 of what was sent")
    return peak[0], count * size / 1e6 / seconds


def watch_memory(process, peak, is_stopped):
    """Stores the largest resident size of a process in `peak[0]`, in KiB, until it is stopped."""
    while not is_stopped.wait(0.2):
        for line in pathlib.Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                peak[0] = max(peak[0], int(line.split()[1]))


def make(path, size):
    """Creates a file in which every MiB differs; returns it open for reading."""
    rest = random.Random(1).randbytes((1 << 20) - 8)
    with open(path, "wb") as film:
        for number in range(-(-size // (1 << 20))):
            film.write(number.to_bytes(8, "big") + rest)
        film.truncate(size)
    return open(path, "rb")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", required=True)
    parser.add_argument("--megabytes", type=int, default=2147)
    parser.add_argument("--cuts", type=int, default=50)
    parser.add_argument("--uploads", type=int, default=10)
    parser.add_argument("--only", choices=["A", "B", "C", "D", "uploads"])
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    size = options.megabytes * 1_000_000
    print(f"acceptance: {size / 1e6:,.0f} MB, seed {options.seed}", flush=True)
    with serving(options.binary) as server:
        server.start()
        film = make(server.folder / "film", size)
        digest = hashlib.file_digest(film, "sha256").hexdigest()
        for name, make_client in {
            "A": Ranges, "B": Patches, "C": lambda server: Drafts(server, random.Random(options.seed)), "D": Plain,
        }.items():
            if options.only not in (None, name):
                continue
            began = time.monotonic()
            generator = random.Random(f"{options.seed}/{name}")
            repeated = upload_with_cuts(make_client(server), film, size, options.cuts, generator)
            print(f"  {name}: cut {options.cuts} times, {repeated / 1e6:,.1f} MB unacknowledged, "
                  f"{time.monotonic() - began:.0f} s", flush=True)
        for count in (1, options.uploads) if options.only in (None, "uploads") else ():
            peak, rate = upload_concurrently(server, film, size, count, digest)
            print(f"  {count} concurrent: peak {peak / 1024:.0f} MiB, {rate:,.0f} MB/s", flush=True)
            expect(peak < MEMORY, "the memory limit is exceeded")
        expect(server.stop() == 0, "SIGTERM did not end the server with exit code 0")


if __name__ == "__main__":
    main()
