"""Uploads and downloads of a large file, plain and over TLS, against nginx, which does not sync uploads.

Also CPU time, peak memory during concurrent uploads, and the cost of MD5.
"""

import contextlib
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "Support"))

from store import ObjectStore

from messages import HEADERS, post
from processes import APPLICATION, certify, free_port, nginx, parley

LOCATIONS = "location / { dav_methods PUT DELETE; create_full_put_path on; }"
MANY = 50


def measure(options, folder, table):
    file = make(folder / "file", options.bytes)
    certificate = certify(folder)
    secured = free_port()
    tls = {
        "PARLEY_TLS_LISTEN": f"127.0.0.1:{secured}", "PARLEY_TLS_CERTIFICATES": str(certificate[0]),
        "PARLEY_TLS_KEYS": str(certificate[1]),
    }
    with parley(options, folder, **tls) as ours:
        with nginx(folder, LOCATIONS) as theirs:
            rounds(options, folder, table, file, ours, theirs, "")
        ours.tls_url = f"https://127.0.0.1:{secured}"
        with nginx(folder, LOCATIONS, certificate=certificate) as theirs:
            rounds(options, folder, table, file, ours, theirs, ", TLS")
    digests(options, folder, table, file)
    for count in (1, MANY):
        many_at_once(options, folder, table, count)
    with contextlib.closing(ObjectStore()) as store:
        for count in (1, MANY) if store.settings else ():
            many_at_once(options, folder, table, count, f", to {store.name}", **store.settings)


def make(path, size):
    """Creates an incompressible file."""
    with open(path, "wb") as file:
        for _ in range(-(-size // (1 << 20))):
            file.write(RANDOM)
        file.truncate(size)
    return path


class Uploader:
    """Creates contents in one conversation."""

    def __init__(self, server):
        self.server = server
        draft = {"participants": ["ana"], "distinct": False}
        conversation = post(server, f"/apps/{APPLICATION}/conversations", draft)["id"].rsplit("/", 1)[1]
        self.path = f"/apps/{APPLICATION}/conversations/{conversation}/content"

    def announce(self, size):
        """Creates a content without its bytes."""
        headers = HEADERS | {"Upload-Content-Type": "video/mp4", "Upload-Content-Length": str(size)}
        return json.loads(self.server.request("POST", self.path, "{}", headers)[1])

    def download_url(self, content):
        path = f"{self.path}/{content['id'].rsplit('/', 1)[1]}"
        return json.loads(self.server.request("GET", path, headers=HEADERS)[1])["download_url"]

    def for_scheme(self, url):
        """The URL with the TLS address, if TLS is measured."""
        return url.replace(self.server.url, getattr(self.server, "tls_url", self.server.url), 1)


class Direction:
    """Transfers of one kind by both servers (Parley is 0), with the seconds and CPU seconds of each."""

    def __init__(self, name):
        self.name = name
        self.seconds, self.cpu = ([], []), ([], [])

    def run(self, index, server, *arguments):
        os.sync()
        before = server.cpu_seconds()
        self.seconds[index].append(self.transfer(*arguments))
        self.cpu[index].append(server.cpu_seconds() - before)

    def transfer(self, *arguments):
        return curl(*arguments)

    def add_rows(self, table, size, kind):
        speeds = [[size / 1e6 / second for second in server] for server in self.seconds]
        ratio = statistics.median(a / b for a, b in zip(*speeds))
        table.add_text(
            f"{size / 1e6:,.0f} MB {self.name}{kind}",
            *(f"{statistics.median(speed):,.0f} MB/s" for speed in speeds), f"**{ratio:.2f}**")
        costs = [statistics.median(cpu) / (size / 1e9) for cpu in self.cpu]
        table.add_text(
            f"CPU time of that, {self.name}{kind}", *(f"{cost:.2f} s/GB" for cost in costs),
            f"**{costs[0] / max(costs[1], 1e-9):.2f}**")


def rounds(options, folder, table, file, ours, theirs, kind):
    uploader = Uploader(ours)
    up, cold, warm = Direction("up"), Direction("down from the disk"), Direction("down from memory")
    for number in range(options.rounds):
        content = uploader.announce(options.bytes)
        # The order alternates, because the disk is busier during the second run.
        turns = [
            (0, ours, uploader.for_scheme(content["upload_url"])), (1, theirs, f"{theirs.url}/file-{number}")]
        for index, server, url in turns[:: 1 if number % 2 == 0 else -1]:
            up.run(index, server, "-T", file, url)
        # nginx leaves stored files in the page cache and Parley does not, so both are measured without and with it.
        evict(folder)
        for down in (cold, warm):
            down.run(0, ours, uploader.for_scheme(uploader.download_url(content)))
            down.run(1, theirs, f"{theirs.url}/file-{number}")
        theirs.request("DELETE", f"/file-{number}")
    for direction in (up, cold, warm):
        direction.add_rows(table, options.bytes, kind)


def digests(options, folder, table, file):
    """The cost of MD5, which the server computes in addition when a request has `Content-Range`."""
    path = folder / "digests"
    path.mkdir()
    with parley(options, path) as server:
        uploader = Uploader(server)
        plain, md5 = Direction("plain"), Direction("with MD5")
        for _ in range(options.rounds):
            for direction, fields in (
                (plain, []), (md5, ["-H", f"Content-Range: bytes 0-{options.bytes - 1}/{options.bytes}"])):
                content = uploader.announce(options.bytes)
                direction.run(0, server, "-T", file, *fields, content["upload_url"])
        gigabytes = options.bytes / 1e9
        texts = [
            f"{gigabytes * 1000 / statistics.median(direction.seconds[0]):,.0f} MB/s, "
            f"{statistics.median(direction.cpu[0]) / gigabytes:.2f} s/GB" for direction in (md5, plain)]
        ratio = statistics.median(a / b for a, b in zip(plain.seconds[0], md5.seconds[0]))
        table.add_text("Up with MD5, against without", *texts, f"**{ratio:.2f}**")


def many_at_once(options, folder, table, count, kind="", **settings):
    """The peak memory of a server during many concurrent uploads."""
    size = options.bytes // count
    file = make(folder / f"file-{count}", size)
    path = folder / f"many_at_once-{count}{kind}"
    path.mkdir()
    with parley(options, path, PARLEY_UPLOADS_MAX_OPEN_UPLOADS_PER_OWNER="1000", **settings) as server:
        uploader = Uploader(server)
        idle = server.memory("VmHWM")
        urls = [uploader.announce(size)["upload_url"] for _ in range(count)]
        clients = [
            subprocess.Popen(["curl", "-sS", "--fail", "-o", "/dev/null", "-T", str(file), url]) for url in urls]
        if any(client.wait() != 0 for client in clients):
            raise RuntimeError("an upload failed")
        peak = server.memory("VmHWM")
        uploads = "upload" if count == 1 else "uploads"
        table.add_text(
            f"Peak memory with {count} {uploads} in flight{kind}", f"{peak / 1024:.0f} MiB",
            f"idle {idle / 1024:.0f} MiB")


def evict(folder):
    """Writes back and drops the page cache of the files below a folder."""
    for file in folder.rglob("*"):
        if file.is_file():
            descriptor = os.open(file, os.O_RDONLY)
            os.fsync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


def curl(*arguments):
    """The duration of one transfer in seconds; raises if it fails."""
    # The certificates are self-signed and not verified.
    command = ["curl", "-skS", "--fail", "-o", "/dev/null", "-w", "%{time_total}", *map(str, arguments)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


RANDOM = random.Random(1).randbytes(1 << 20)
