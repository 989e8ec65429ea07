#!/usr/bin/env python3
"""Uploads 64 MB by curl with interruptions in each upload protocol, and compares the download.

    interop.py --binary .build/debug/parley [--megabytes 64]

Each upload is interrupted twice and resumed. Then the content is downloaded by curl, interrupted and
resumed with `-C -`, and its SHA-256 is compared with that of the file.
"""

import argparse
import contextlib
import hashlib
import http.client
import json
import pathlib
import random
import shutil
import sys
import time
import urllib.parse
import uuid

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "Crash"))

from curl import Cut, curl, fields, held
from server import APPLICATION, PATIENCE, TOKEN, serving

AUTHORIZED = ["-H", f"Authorization: Bearer {TOKEN}", "-H", "Accept: application/vnd.layer+json; version=3.0",
              "-H", "Content-Type: application/json"]
# Bytes of a transfer after which it is interrupted.
CUTS = [4_000_000, 6_000_000]


class Fixture:
    """A server, a file to upload, and a conversation with contents."""

    def __init__(self, server, megabytes):
        self.base = f"http://127.0.0.1:{server.port}"
        self.folder = server.folder
        self.file = self.folder / "file"
        self.size = megabytes * 1_000_000
        self.file.write_bytes(random.Random(1).randbytes(self.size))
        self.digest = digest(self.file)
        made = self.send("POST", "/conversations", {"participants": [f"user-{uuid.uuid4()}"]})
        self.contents = f"/conversations/{made['id'].rsplit('/', 1)[1]}/content"

    def send(self, method, path, body=None, *more):
        arguments = ["-X", method, *AUTHORIZED, *more] + (["-d", json.dumps(body)] if body is not None else [])
        answer = curl(*arguments, f"{self.base}/apps/{APPLICATION}{path}")
        expect(answer, 200, 201)
        return json.loads(answer.body)

    def content(self):
        """Creates a content without its bytes."""
        return self.send("POST", self.contents, {}, *fields(
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


def stored(url):
    """The offset of an upload, by a query that does not interrupt a running request."""
    split = urllib.parse.urlsplit(url)
    with contextlib.closing(http.client.HTTPConnection(split.netloc, timeout=PATIENCE)) as connection:
        connection.request("HEAD", split.path)
        return int(connection.getresponse().headers["Upload-Offset"])


def cut(url, *arguments, after):
    """Runs curl, and kills it once that many more bytes are stored; expects that it is still transferring then."""
    end = stored(url) + after
    try:
        answer = curl(*arguments, url, cut_when=lambda: stored(url) >= end)
    except Cut:
        return
    raise AssertionError(f"the transfer should have been cut: {answer}")


def plain(fixture, url):
    """Protocol D: `curl -T` repeatedly, which sends the file from its beginning each time."""
    for after in CUTS:
        cut(url, "-T", fixture.file, after=after)
    offset = int(expect(curl("-I", url), 200).fields["upload-offset"])
    assert 0 < offset < fixture.size, f"no bytes of an interrupted transfer were stored: {offset}"
    expect(curl("-T", fixture.file, url), 200)
    # A client that did not receive the final answer retries.
    expect(curl("-C", "-", "-T", fixture.file, url), 200)


def streamed(fixture, url):
    """Protocol D: `curl -T` of a file, and after an interruption from a pipe, whose length is unknown."""
    cut(url, "-T", fixture.file, after=CUTS[0])
    expect(curl("-T", "-", url, feed=fixture.file.read_bytes()), 200)


def ranges(fixture, url):
    """Protocol A: queries the offset, and sends the rest with `Content-Range`."""
    for after in CUTS:
        offset = held(expect(curl("-X", "PUT", *fields(Content_Range="bytes */*"), url), 308))
        span = f"bytes {offset}-{fixture.size - 1}/{fixture.size}"
        cut(url, "-T", fixture.tail(offset), *fields(Content_Range=span), after=after)
    answer = expect(curl("-X", "PUT", *fields(Content_Range=f"bytes */{fixture.size}"), url), 308)
    assert held(answer) > 0, "no bytes of an interrupted transfer were stored"
    span = f"bytes {held(answer)}-{fixture.size - 1}/{fixture.size}"
    answer = expect(curl("-T", fixture.tail(held(answer)), *fields(Content_Range=span), url), 200)
    assert json.loads(answer.body)["size"] == str(fixture.size)


def tus(fixture, url):
    """Protocol B, tus 1.0.0: `HEAD` for the offset, `PATCH` for the rest."""
    version = fields(Tus_Resumable="1.0.0")
    patch = ["-X", "PATCH", *version, *fields(Content_Type="application/offset+octet-stream")]
    for after in [*CUTS, None]:
        status = expect(curl("-I", *version, url), 200)
        assert status.fields["upload-length"] == str(fixture.size)
        offset = int(status.fields["upload-offset"])
        arguments = [*patch, *fields(Upload_Offset=offset), "-T", fixture.tail(offset)]
        if after is None:
            assert offset > 0, "no bytes of an interrupted transfer were stored"
            done = expect(curl(*arguments, url), 204)
            assert done.fields["upload-offset"] == str(fixture.size)
        else:
            cut(url, *arguments, after=after)


def interop(fixture, url):
    """Protocol C, Resumable Uploads for HTTP as URLSession sends them: one request, then appends."""
    version = fields(Upload_Draft_Interop_Version=6)
    whole = fields(Upload_Complete="?1")
    cut(url, "-X", "PUT", *version, *whole, *fields(Upload_Length=fixture.size), "-T", fixture.file, after=CUTS[0])
    for after in [CUTS[1], None]:
        offset = int(expect(curl("-I", *version, url), 204).fields["upload-offset"])
        arguments = ["-X", "PATCH", *version, *whole, "-T", fixture.tail(offset),
                 *fields(Upload_Offset=offset, Content_Type="application/partial-upload")]
        if after is None:
            assert offset > 0, "no bytes of an interrupted transfer were stored"
            done = expect(curl(*arguments, url), 201)
            assert done.fields["upload-complete"] == "?1"
        else:
            cut(url, *arguments, after=after)


def mixed(fixture, url):
    """Starts an upload in protocol D, and continues it in B and A."""
    cut(url, "-T", fixture.file, after=CUTS[0] // 2)
    version = fields(Tus_Resumable="1.0.0")
    offset = int(expect(curl("-I", *version, url), 200).fields["upload-offset"])
    cut(url, "-X", "PATCH", *version, *fields(Content_Type="application/offset+octet-stream", Upload_Offset=offset),
        "-T", fixture.tail(offset), after=CUTS[0] // 2)
    ranges(fixture, url)


def download(fixture, content):
    """Downloads the content with an interruption; `-C -` resumes."""
    url = fixture.send("GET", f"{fixture.contents}/{content['id'].rsplit('/', 1)[1]}")["download_url"]
    part = fixture.folder / "part"
    part.unlink(missing_ok=True)
    try:
        curl(url, save=part, cut_when=lambda: part.exists() and part.stat().st_size >= CUTS[0])
    except Cut:
        pass
    assert 0 < part.stat().st_size < fixture.size, "the download should have been cut"
    curl("-C", "-", url, save=part)
    return part


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", required=True)
    parser.add_argument("--megabytes", type=int, default=64)
    options = parser.parse_args()
    failed = 0
    protocols = [plain, streamed, ranges, tus, interop, mixed]
    with serving(options.binary) as server:
        server.start()
        fixture = Fixture(server, options.megabytes)
        for protocol in protocols:
            began = time.monotonic()
            try:
                content = fixture.content()
                protocol(fixture, content["upload_url"])
                received = digest(download(fixture, content))
                assert received == fixture.digest, "the download differs from what was sent"
                print(f"  {protocol.__name__}: {time.monotonic() - began:.1f} s", flush=True)
            except (AssertionError, RuntimeError) as error:
                failed += 1
                print(f"  FAILED {protocol.__name__}: {error}", flush=True)
    print(f"{len(protocols) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
