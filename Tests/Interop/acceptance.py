#!/usr/bin/env python3
"""Long acceptance tests of uploads (uploads §15).

    acceptance.py --binary .build/release/parley [--megabytes 2147] [--cuts 50] [--uploads 10] [--only C]

A file is uploaded in each protocol and cut at random points, by closing or resetting the connection; no
byte is sent twice except unacknowledged ones, and what is downloaded is what was sent. Then several
are uploaded at the same time, and the server needs no more memory for that than it may.
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
from tus import Tus, content_of, expect, path

# The memory limit of all uploads together (issue 5), in KiB.
MEMORY = 64 << 10


class Ranges(Client):
    """Protocol A."""

    def begin(self, size):
        return self.start(("X-Upload-Content-Length", size))

    def request(self, place, start, size):
        return f"PUT {place}", (("Content-Range", f"bytes {start}-{size - 1}/{size}"),)

    def ask_held(self, place):
        answer = self.put(place, b"", "*/*")
        expect(answer.status == 308, answer)
        return int((answer["Range"] or "bytes=0--1")[len("bytes=0-"):]) + 1


class Plain(Ranges):
    """Protocol D, in which everything is sent again."""

    def request(self, place, start, size):
        return f"PUT {place}", ()


class Patches(Tus):
    """Protocol B."""

    def begin(self, size):
        return self.create(("Upload-Length", size))

    def request(self, place, start, size):
        return f"PATCH {place}", (
            ("Tus-Resumable", "1.0.0"), ("Content-Type", "application/offset+octet-stream"), ("Upload-Offset", start))

    def ask_held(self, place):
        return int(self.head(place)["Upload-Offset"])


class Drafts(Draft):
    """Protocol C, in another version each time."""

    def __init__(self, server, chance):
        super().__init__(server, None)
        self.chance = chance

    def begin(self, size):
        return self.create(b"", False, ("Upload-Length", size))

    def request(self, place, start, size):
        self.version = self.chance.choice(VERSIONS)
        self.number = () if self.version is None else (("Upload-Draft-Interop-Version", self.version),)
        return f"PATCH {place}", self.number + (
            ("Content-Type", "application/partial-upload"), ("Upload-Offset", start), self.whole(True))

    def ask_held(self, place):
        # Without a version the query is neutral and takes nothing over (3.8): late bytes of a cut request would
        # count a moment later, and the next request would not fit.
        self.number = (("Upload-Draft-Interop-Version", self.version or 8),)
        return int(self.status(place)["Upload-Offset"])


def cut_often(way, film, size, cuts, chance):
    """Returns how many bytes were sent again; of those sent from the beginning each time, how many that is
    beyond what was acknowledged before."""
    answer = way.begin(size)
    place, content = path(answer), content_of(answer)
    held = again = 0
    for point in sorted(chance.randrange(1, size) for _ in range(cuts)):
        start = 0 if isinstance(way, Plain) else held
        end = max(point, held + 1)
        peer = begun(way, place, start, size)
        peer.socket.sendfile(film, start, end - start)
        if chance.random() < 0.5:
            peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer.close()
        before, held = held, way.ask_held(place)
        expect(before <= held <= end, f"{held} bytes are held after {before} and of {end}")
        again += end - held
    start = 0 if isinstance(way, Plain) else held
    peer = begun(way, place, start, size)
    peer.socket.sendfile(film, start)
    while (answer := peer.hear()).status < 200:
        pass
    expect(answer.status in (200, 201, 204), answer)
    film.seek(0)
    expect(digest_of(way, content) == hashlib.file_digest(film, "sha256").hexdigest(), "not what was sent")
    return again


def begun(way, place, start, size):
    """A request of which the header is sent."""
    line, fields = way.request(place, start, size)
    peer = Peer(way.server.port)
    peer.socket.settimeout(120)
    peer.say(line, fields + (("Content-Length", size - start),))
    return peer


def digest_of(way, content):
    """Of what is downloaded."""
    command = ["curl", "-sS", "--fail", way.download(content)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as curl:
        digest = hashlib.file_digest(curl.stdout, "sha256").hexdigest()
    expect(curl.returncode == 0, "the download failed")
    return digest


def at_once(server, film, size, count, digest):
    """Many files at the same time; returns the most memory the server had, in KiB, and the rate."""
    client = Client(server)
    places = [path(client.start(("X-Upload-Content-Length", size))) for _ in range(count)]
    peak, is_over = [0], threading.Event()
    watch = threading.Thread(target=watch_memory, args=(server.process.pid, peak, is_over))
    watch.start()
    began = time.monotonic()
    curls = [
        subprocess.Popen(
            ["curl", "-sS", "--fail", "-T", film.name, f"http://127.0.0.1:{server.port}{place}", "-D", "-", "-o",
             "/dev/null"], stdout=subprocess.PIPE, text=True) for place in places]
    heads = [curl.communicate()[0] for curl in curls]
    seconds = time.monotonic() - began
    is_over.set()
    watch.join()
    expect(all(curl.returncode == 0 for curl in curls), heads)
    expect(all(digest in head for head in heads), "an ETag is not the SHA-256 of what was sent")
    return peak[0], count * size / 1e6 / seconds


def watch_memory(process, peak, is_over):
    while not is_over.wait(0.2):
        for line in pathlib.Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                peak[0] = max(peak[0], int(line.split()[1]))


def make(place, size):
    """Creates a file without repeated blocks."""
    rest = random.Random(1).randbytes((1 << 20) - 8)
    with open(place, "wb") as film:
        for number in range(-(-size // (1 << 20))):
            film.write(number.to_bytes(8, "big") + rest)
        film.truncate(size)
    return open(place, "rb")


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
        for name, make_way in {
            "A": Ranges, "B": Patches, "C": lambda server: Drafts(server, random.Random(options.seed)), "D": Plain,
        }.items():
            if options.only not in (None, name):
                continue
            began = time.monotonic()
            chance = random.Random(f"{options.seed}/{name}")
            again = cut_often(make_way(server), film, size, options.cuts, chance)
            print(f"  {name}: cut {options.cuts} times, {again / 1e6:,.1f} MB unacknowledged, "
                  f"{time.monotonic() - began:.0f} s", flush=True)
        for count in (1, options.uploads) if options.only in (None, "uploads") else ():
            peak, rate = at_once(server, film, size, count, digest)
            print(f"  {count} at once: {peak / 1024:.0f} MiB at the most, {rate:,.0f} MB/s", flush=True)
            expect(peak < MEMORY, "that is too much memory")
        expect(server.stop() == 0, "SIGTERM did not end the server with exit code 0")


if __name__ == "__main__":
    main()
