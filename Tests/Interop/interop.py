#!/usr/bin/env python3
"""Uploads 64 MB with common clients, cuts them, resumes, and compares what arrived.

    interop.py --binary .build/debug/parley [--megabytes 64]

Each upload protocol is used by curl with two cuts in the middle; afterwards the content is
downloaded by curl, cut as well and taken up again by `-C -`, and compared by SHA-256 with what was sent.
"""

import argparse
import hashlib
import json
import pathlib
import random
import shutil
import sys
import time
import uuid

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "Crash"))

from curl import Cut, curl, fields, held
from server import APPLICATION, TOKEN, serving

AUTHORITY = ["-H", f"Authorization: Bearer {TOKEN}", "-H", "Accept: application/vnd.layer+json; version=3.0",
             "-H", "Content-Type: application/json"]
CUTS = [1, 1.5]


class Place:
    """A server, a file to send, and where contents are made for a conversation."""

    def __init__(self, server, megabytes):
        self.base = f"http://127.0.0.1:{server.port}"
        self.folder = server.folder
        self.file = self.folder / "file"
        self.size = megabytes * 1_000_000
        self.file.write_bytes(random.Random(1).randbytes(self.size))
        self.digest = digest(self.file)
        made = self.ask("POST", "/conversations", {"participants": [f"user-{uuid.uuid4()}"]})
        self.contents = f"/conversations/{made['id'].rsplit('/', 1)[1]}/content"

    def ask(self, method, path, body=None, *more):
        words = ["-X", method, *AUTHORITY, *more] + (["-d", json.dumps(body)] if body is not None else [])
        answer = curl(*words, f"{self.base}/apps/{APPLICATION}{path}")
        expect(answer, 200, 201)
        return json.loads(answer.body)

    def content(self):
        """A content that waits for its bytes."""
        return self.ask("POST", self.contents, {}, *fields(
            Upload_Content_Type="application/octet-stream", Upload_Content_Length=self.size))

    def tail(self, offset):
        """A file with the bytes after an offset."""
        rest = self.folder / "rest"
        with open(self.file, "rb") as whole, open(rest, "wb") as part:
            whole.seek(offset)
            shutil.copyfileobj(whole, part)
        return rest


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def expect(answer, *statuses):
    if answer.status not in statuses:
        raise AssertionError(f"expected {statuses}, got {answer}")
    return answer


def cut(*words, after):
    """A transfer that must be cut before its end."""
    try:
        answer = curl(*words, cut_after=after)
    except Cut:
        return
    raise AssertionError(f"the transfer should have been cut: {answer}")


def plain(place, url):
    """`curl -T` repeatedly: stored bytes are not counted twice (dialect D)."""
    for after in CUTS:
        cut("-T", place.file, url, after=after)
    offset = int(expect(curl("-I", url), 200).fields["upload-offset"])
    assert 0 < offset < place.size, f"nothing was kept of a cut transfer: {offset}"
    expect(curl("-T", place.file, url), 200)
    # A client that did not receive the final answer retries.
    expect(curl("-C", "-", "-T", place.file, url), 200)


def streamed(place, url):
    """The same from a pipe, whose length is unknown."""
    cut("-T", place.file, url, after=CUTS[0])
    expect(curl("-T", "-", url, feed=place.file.read_bytes()), 200)


def ranges(place, url):
    """Asks how much is held, and sends the rest under `Content-Range` (dialect A)."""
    for after in CUTS:
        offset = held(expect(curl("-X", "PUT", *fields(Content_Range="bytes */*"), url), 308))
        span = f"bytes {offset}-{place.size - 1}/{place.size}"
        cut("-T", place.tail(offset), *fields(Content_Range=span), url, after=after)
    answer = expect(curl("-X", "PUT", *fields(Content_Range=f"bytes */{place.size}"), url), 308)
    assert held(answer) > 0, "nothing was kept of a cut transfer"
    span = f"bytes {held(answer)}-{place.size - 1}/{place.size}"
    answer = expect(curl("-T", place.tail(held(answer)), *fields(Content_Range=span), url), 200)
    assert json.loads(answer.body)["size"] == str(place.size)


def tus(place, url):
    """tus 1.0.0: `HEAD` for the offset, `PATCH` for the rest (dialect B)."""
    version = fields(Tus_Resumable="1.0.0")
    patch = ["-X", "PATCH", *version, *fields(Content_Type="application/offset+octet-stream")]
    for after in [*CUTS, None]:
        status = expect(curl("-I", *version, url), 200)
        assert status.fields["upload-length"] == str(place.size)
        offset = int(status.fields["upload-offset"])
        words = [*patch, *fields(Upload_Offset=offset), "-T", place.tail(offset), url]
        if after is None:
            assert offset > 0, "nothing was kept of a cut transfer"
            done = expect(curl(*words), 204)
            assert done.fields["upload-offset"] == str(place.size)
        else:
            cut(*words, after=after)


def interop(place, url):
    """Resumable Uploads for HTTP as URLSession speaks them: one request, then appends (dialect C)."""
    version = fields(Upload_Draft_Interop_Version=6)
    whole = fields(Upload_Complete="?1")
    cut("-X", "PUT", *version, *whole, *fields(Upload_Length=place.size), "-T", place.file, url, after=CUTS[0])
    for after in [CUTS[1], None]:
        offset = int(expect(curl("-I", *version, url), 204).fields["upload-offset"])
        words = ["-X", "PATCH", *version, *whole, "-T", place.tail(offset),
                 *fields(Upload_Offset=offset, Content_Type="application/partial-upload"), url]
        if after is None:
            assert offset > 0, "nothing was kept of a cut transfer"
            done = expect(curl(*words), 201)
            assert done.fields["upload-complete"] == "?1"
        else:
            cut(*words, after=after)


def mixed(place, url):
    """Started in one protocol, continued in others."""
    cut("-T", place.file, url, after=0.6)
    version = fields(Tus_Resumable="1.0.0")
    offset = int(expect(curl("-I", *version, url), 200).fields["upload-offset"])
    cut("-X", "PATCH", *version, *fields(Content_Type="application/offset+octet-stream", Upload_Offset=offset),
        "-T", place.tail(offset), url, after=0.6)
    ranges(place, url)


def download(place, content):
    """Fetches the content with a cut; `-C -` takes up what is there."""
    url = place.ask("GET", f"{place.contents}/{content['id'].rsplit('/', 1)[1]}")["download_url"]
    part = place.folder / "part"
    part.unlink(missing_ok=True)
    try:
        curl(url, save=part, cut_after=CUTS[0])
    except Cut:
        pass
    assert 0 < part.stat().st_size < place.size, "the download should have been cut"
    curl("-C", "-", url, save=part)
    return part


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", required=True)
    parser.add_argument("--megabytes", type=int, default=64)
    options = parser.parse_args()
    failed = 0
    ways = [plain, streamed, ranges, tus, interop, mixed]
    with serving(options.binary) as server:
        server.start()
        place = Place(server, options.megabytes)
        for way in ways:
            began = time.monotonic()
            try:
                content = place.content()
                way(place, content["upload_url"])
                arrived = digest(download(place, content))
                assert arrived == place.digest, "what arrived is not what was sent"
                print(f"  {way.__name__}: {time.monotonic() - began:.1f} s", flush=True)
            except (AssertionError, RuntimeError) as fault:
                failed += 1
                print(f"  BROKEN {way.__name__}: {fault}", flush=True)
    print(f"{len(ways) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
