"""A large file up and down, plain and by TLS: Parley, which syncs before it answers, against nginx, which
does not; what that costs in processor time, in memory, and in digests."""

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
    film = make(folder / "film", options.bytes)
    certificate = certify(folder)
    secured = free_port()
    tls = {
        "PARLEY_TLS_LISTEN": f"127.0.0.1:{secured}", "PARLEY_TLS_CERTIFICATES": str(certificate[0]),
        "PARLEY_TLS_KEYS": str(certificate[1]),
    }
    with parley(options, folder, **tls) as ours:
        with nginx(folder, LOCATIONS) as theirs:
            rounds(options, folder, table, film, ours, theirs, "")
        ours.also = f"https://127.0.0.1:{secured}"
        with nginx(folder, LOCATIONS, certificate=certificate) as theirs:
            rounds(options, folder, table, film, ours, theirs, ", TLS")
    digests(options, folder, table, film)
    for count in (1, MANY):
        many_at_once(options, folder, table, count)
    with contextlib.closing(ObjectStore()) as store:
        for count in (1, MANY) if store.settings else ():
            many_at_once(options, folder, table, count, f", to {store.name}", **store.settings)


def make(path, size):
    """A file that nothing can compress."""
    with open(path, "wb") as file:
        for _ in range(-(-size // (1 << 20))):
            file.write(RANDOM)
        file.truncate(size)
    return path


class Uploader:
    """A conversation whose contents are uploaded, one after the other."""

    def __init__(self, server):
        self.server = server
        draft = {"participants": ["ana"], "distinct": False}
        chat = post(server, f"/apps/{APPLICATION}/conversations", draft)["id"].rsplit("/", 1)[1]
        self.place = f"/apps/{APPLICATION}/conversations/{chat}/content"

    def announce(self, size):
        headers = HEADERS | {"Upload-Content-Type": "video/mp4", "Upload-Content-Length": str(size)}
        return json.loads(self.server.request("POST", self.place, "{}", headers)[1])

    def fresh(self, content):
        path = f"{self.place}/{content['id'].rsplit('/', 1)[1]}"
        return json.loads(self.server.request("GET", path, headers=HEADERS)[1])["download_url"]

    def over(self, url):
        """The same URL where TLS is spoken, if it is to be."""
        return url.replace(self.server.url, getattr(self.server, "also", self.server.url), 1)


class Direction:
    """The same transfer by both servers, in turn: seconds and processor seconds of each."""

    def __init__(self, name):
        self.name = name
        self.seconds, self.cpu = ([], []), ([], [])

    def run(self, place, server, *arguments):
        os.sync()
        before = server.cpu_seconds()
        self.seconds[place].append(self.transfer(*arguments))
        self.cpu[place].append(server.cpu_seconds() - before)

    def transfer(self, *arguments):
        return curl(*arguments)

    def say(self, table, size, kind):
        speeds = [[size / 1e6 / second for second in server] for server in self.seconds]
        ratio = statistics.median(a / b for a, b in zip(*speeds))
        table.say(
            f"{size / 1e6:,.0f} MB {self.name}{kind}",
            *(f"{statistics.median(speed):,.0f} MB/s" for speed in speeds), f"**{ratio:.2f}**")
        costs = [statistics.median(cpu) / (size / 1e9) for cpu in self.cpu]
        table.say(
            f"Processor time of that, {self.name}{kind}", *(f"{cost:.2f} s/GB" for cost in costs),
            f"**{costs[0] / max(costs[1], 1e-9):.2f}**")


def rounds(options, folder, table, film, ours, theirs, kind):
    uploader = Uploader(ours)
    up, cold, warm = Direction("up"), Direction("down from the disk"), Direction("down from memory")
    for number in range(options.rounds):
        content = uploader.announce(options.bytes)
        # The second run finds a busier disk, so the order alternates.
        turns = [
            (0, ours, uploader.over(content["upload_url"])), (1, theirs, f"{theirs.url}/film-{number}")]
        for place, server, url in turns[:: 1 if number % 2 == 0 else -1]:
            up.run(place, server, "-T", film, url)
        # nginx leaves stored files in the page cache and Parley does not, so both are measured both ways.
        evict(folder)
        for down in (cold, warm):
            down.run(0, ours, uploader.over(uploader.fresh(content)))
            down.run(1, theirs, f"{theirs.url}/film-{number}")
        theirs.request("DELETE", f"/film-{number}")
    for direction in (up, cold, warm):
        direction.say(table, options.bytes, kind)


def digests(options, folder, table, film):
    """The cost of MD5 in addition to the other digests."""
    place = folder / "digests"
    place.mkdir()
    with parley(options, place) as server:
        uploader = Uploader(server)
        plain, md5 = Direction("plain"), Direction("with MD5")
        for _ in range(options.rounds):
            for direction, fields in (
                (plain, []), (md5, ["-H", f"Content-Range: bytes 0-{options.bytes - 1}/{options.bytes}"])):
                content = uploader.announce(options.bytes)
                direction.run(0, server, "-T", film, *fields, content["upload_url"])
        gigabytes = options.bytes / 1e9
        texts = [
            f"{gigabytes * 1000 / statistics.median(way.seconds[0]):,.0f} MB/s, "
            f"{statistics.median(way.cpu[0]) / gigabytes:.2f} s/GB" for way in (md5, plain)]
        ratio = statistics.median(a / b for a, b in zip(plain.seconds[0], md5.seconds[0]))
        table.say("Up with MD5, against without", *texts, f"**{ratio:.2f}**")


def many_at_once(options, folder, table, count, kind="", **settings):
    """Peak memory of a server that receives many slow uploads at the same time."""
    size = options.bytes // count
    film = make(folder / f"film-{count}", size)
    place = folder / f"many_at_once-{count}{kind}"
    place.mkdir()
    with parley(options, place, PARLEY_UPLOADS_MAX_OPEN_UPLOADS_PER_OWNER="1000", **settings) as server:
        uploader = Uploader(server)
        rest = server.memory("VmHWM")
        urls = [uploader.announce(size)["upload_url"] for _ in range(count)]
        clients = [
            subprocess.Popen(["curl", "-sS", "--fail", "-o", "/dev/null", "-T", str(film), url]) for url in urls]
        if any(client.wait() != 0 for client in clients):
            raise RuntimeError("an upload failed")
        peak = server.memory("VmHWM")
        uploads = "upload" if count == 1 else "uploads"
        table.say(
            f"Peak memory with {count} {uploads} in flight{kind}", f"{peak / 1024:.0f} MiB",
            f"at rest {rest / 1024:.0f} MiB")


def evict(folder):
    """Writes back and drops the page cache of the files below a folder."""
    for file in folder.rglob("*"):
        if file.is_file():
            descriptor = os.open(file, os.O_RDONLY)
            os.fsync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


def curl(*arguments):
    """Seconds of one transfer; an answer that is no success stops the benchmark."""
    # The certificates are self-signed and not verified.
    command = ["curl", "-skS", "--fail", "-o", "/dev/null", "-w", "%{time_total}", *map(str, arguments)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


RANDOM = random.Random(1).randbytes(1 << 20)
