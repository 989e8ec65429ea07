#!/usr/bin/env python3
"""Tests tus 1.0.0 over plain sockets, with the requests of its clients.

    tus.py --binary .build/debug/parley

Each function is one check: a row of column B of the status matrix (uploads §12), or the requests of
tuspy, tus-js-client or Uppy with the answers that these require (§13).
"""

import argparse
import base64
import hashlib
import json
import pathlib
import random
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "Crash"))

from peer import Peer
from server import APPLICATION, PATIENCE, TOKEN, serving

VERSION = ("Tus-Resumable", "1.0.0")
TOKEN_FIELD = ("Authorization", f"Bearer {TOKEN}")
DATA = ("Content-Type", "application/offset+octet-stream")
UNKNOWN = "/uploads/abcdefghijklmnopqrstuvwxyz012345"


class Tus:
    """A client with short methods for frequent requests."""

    def __init__(self, server):
        self.server = server
        self.peer = Peer(server.port)

    def send(self, line, fields=(), body=None, framed=True):
        self.peer.send_request(line, fields, body, framed)
        answer = self.peer.read_answer(to_head=line.startswith("HEAD "))
        if answer["Connection"] == "close":
            self.peer = Peer(self.server.port)
        return answer

    def create(self, *fields, body=b""):
        return self.send("POST /uploads", (VERSION, TOKEN_FIELD) + fields, body)

    def created(self, *fields, body=b""):
        """The path of a new upload."""
        answer = self.create(*fields, body=body)
        expect(answer.status == 201, answer)
        return upload_path(answer)

    def patch(self, path, offset, body, *fields, framed=True):
        return self.send(
            f"PATCH {path}", (VERSION, DATA, ("Upload-Offset", offset)) + fields, body, framed)

    def head(self, path):
        return self.send(f"HEAD {path}", (VERSION,))

    def wait_for(self, path, count):
        """Waits until `count` bytes are stored, by queries that do not interrupt a running request."""
        deadline = time.monotonic() + PATIENCE
        while (held := self.send(f"HEAD {path}")["Upload-Offset"]) != str(count):
            expect(time.monotonic() < deadline, f"{held} bytes are stored instead of {count}")
            time.sleep(0.01)

    def delete(self, path):
        return self.send(f"DELETE {path}", (VERSION,))

    def download(self, identifier):
        """The download URL of a content."""
        accept = ("Accept", "application/vnd.layer+json; version=3.0")
        answer = self.send(f"GET /apps/{APPLICATION}/content/{identifier}", (accept, TOKEN_FIELD))
        expect(answer.status == 200, answer)
        return json.loads(answer.content)["download_url"]

    def content(self, identifier):
        """The downloaded bytes of a content."""
        return self.send("GET /" + self.download(identifier).split("/", 3)[3]).content


def expect(condition, message):
    if not condition:
        raise AssertionError(message)


def upload_path(answer):
    """The path of the URL in the Location of a new upload."""
    expect(answer["Location"].startswith("http://127.0.0.1"), answer)
    return "/" + answer["Location"].split("/", 3)[3]


def content_of(answer):
    """The id of the content that the answer to a creation names."""
    return answer["Parley-Content-Id"].rsplit("/", 1)[1]


def sha1(data):
    """An `Upload-Checksum` field with the SHA-1."""
    return ("Upload-Checksum", "sha1 " + base64.b64encode(hashlib.sha1(data).digest()).decode())


def chunked(*pieces, trailers=""):
    """A body with chunked coding: each piece is a chunk."""
    frames = [f"{len(piece):x}\r\n".encode() + piece + b"\r\n" for piece in pieces]
    return b"".join(frames) + b"0\r\n" + trailers.encode() + b"\r\n"


CHUNKED = ("Transfer-Encoding", "chunked")


# The status matrix, column B.

def created_is_201(tus):
    answer = tus.create(("Upload-Length", 4))
    expect(answer.line == "HTTP/1.1 201 Created", answer)
    expect(answer["Upload-Offset"] == "0" and answer["Tus-Resumable"] == "1.0.0", answer)
    expect(answer["Upload-Expires"].endswith(" GMT"), answer)
    expect(answer["Cache-Control"] == "no-store" and answer["X-Content-Type-Options"] == "nosniff", answer)


def first_and_last_patch_are_204(tus):
    path = tus.created(("Upload-Length", 4))
    for offset in (0, 2):
        answer = tus.patch(path, offset, b"ab")
        expect(answer.line == "HTTP/1.1 204 No Content", answer)
        expect(answer["Upload-Offset"] == str(offset + 2) and answer["Content-Length"] is None, answer)


def status_is_200_without_a_length(tus):
    answer = tus.head(tus.created(("Upload-Length", 4)))
    expect(answer.line == "HTTP/1.1 200 OK" and answer["Content-Length"] is None, answer)


def another_offset_is_409(tus):
    answer = tus.patch(tus.created(("Upload-Length", 4)), 1, b"a")
    expect(answer.status == 409 and answer["Upload-Offset"] == "0", answer)
    expect(answer.content.startswith(b"offsetMismatch: "), answer)
    expect(answer["Content-Type"] == "text/plain; charset=utf-8", answer)


def syntax_is_400(tus):
    path = tus.created(("Upload-Length", 4))
    expect(tus.patch(path, "0x0", b"a").status == 400, "offset")
    expect(tus.patch(path, 0, b"a", ("Upload-Checksum", "sha1")).status == 400, "checksum")
    expect(tus.create(("Upload-Length", "four")).status == 400, "length")
    expect(tus.create(("Upload-Length", 4), ("Upload-Metadata", "a,a")).status == 400, "metadata")


def another_media_type_is_415(tus):
    path = tus.created(("Upload-Length", 4))
    fields = (VERSION, ("Content-Type", "image/png"), ("Upload-Offset", 0))
    expect(tus.send(f"PATCH {path}", fields, b"a").status == 415, "type")


def another_length_is_400(tus):
    path = tus.created(("Upload-Length", 4))
    expect(tus.patch(path, 0, b"a", ("Upload-Length", 5)).status == 400, "length")


def beyond_the_length_is_413(tus):
    path = tus.created(("Upload-Length", 4))
    expect(tus.patch(path, 0, b"abcde").status == 413, "stated")
    expect(tus.head(path)["Upload-Offset"] == "0", "no byte is stored")
    expect(tus.patch(path, 0, chunked(b"abcde"), CHUNKED, framed=False).status == 413, "chunked")
    expect(tus.head(path)["Upload-Offset"] == "4", "the bytes that fit are stored")
    expect(tus.patch(path, 4, b"").status == 204, "and completes")


def a_length_above_the_maximum_is_413(tus):
    expect(tus.create(("Upload-Length", 2147483649)).status == 413, "length")


def a_wrong_checksum_is_460(tus):
    path = tus.created(("Upload-Length", 4))
    answer = tus.patch(path, 0, b"ab", sha1(b"xy"))
    expect(answer.line == "HTTP/1.1 460 Checksum Mismatch", answer)
    expect(tus.head(path)["Upload-Offset"] == "0", "undone")
    expect(tus.patch(path, 0, b"ab", sha1(b"ab")).status == 204, "right")


def a_checksum_may_follow_the_body(tus):
    path = tus.created(("Upload-Length", 4))
    for data, status in ((b"xy", 460), (b"ab", 204)):
        trailers = "%s: %s\r\n" % sha1(data)
        answer = tus.patch(path, 0, chunked(b"a", b"b", trailers=trailers), CHUNKED,
                           ("Trailer", "Upload-Checksum"), framed=False)
        expect(answer.status == status, answer)
    answer = tus.patch(path, 2, chunked(b"cd"), CHUNKED, ("Trailer", "Upload-Checksum"), framed=False)
    expect(answer.status == 400 and tus.head(path)["Upload-Offset"] == "2", answer)


def cancelled_is_204_then_410_and_unknown_404(tus):
    path = tus.created(("Upload-Length", 4))
    expect(tus.delete(path).line == "HTTP/1.1 204 No Content", "now")
    for answer in (tus.delete(path), tus.head(path), tus.patch(path, 0, b"a")):
        expect(answer.status == 410 and answer["Upload-Offset"] is None, answer)
    for answer in (tus.delete(UNKNOWN), tus.head(UNKNOWN), tus.patch(UNKNOWN, 0, b"a")):
        expect(answer.status == 404 and answer["Tus-Resumable"] == "1.0.0", answer)


def another_version_is_412(tus):
    path = tus.created(("Upload-Length", 4))
    fields = (("Tus-Resumable", "0.2.2"), DATA, ("Upload-Offset", 0))
    for answer in (tus.send(f"PATCH {path}", fields, b"a"), tus.send(f"PATCH {path}", fields[1:], b"a")):
        expect(answer.line == "HTTP/1.1 412 Precondition Failed", answer)
        expect(answer["Tus-Version"] == "1.0.0", answer)


def a_concatenation_accepts_no_bytes(tus):
    part = tus.created(("Upload-Concat", "partial"), ("Upload-Length", 2))
    expect(tus.patch(part, 0, b"ab").status == 204, "part")
    whole = tus.created(("Upload-Concat", f"final;{part} {part}"))
    expect(tus.patch(whole, 4, b"").status == 403, "final")
    expect(tus.create(("Upload-Concat", f"final;{part}"), DATA, body=b"x").status == 403, "data")


def a_request_without_permission_is_401(tus):
    answer = tus.send("POST /uploads", (VERSION, ("Upload-Length", 4)), b"")
    expect(answer.status == 401 and answer["Tus-Resumable"] == "1.0.0", answer)


def options_list_versions_extensions_and_limits(tus):
    for target in ("/uploads", UNKNOWN):
        answer = tus.send(f"OPTIONS {target}")
        expect(answer.status == 204, answer)
        expect(answer["Tus-Resumable"] == answer["Tus-Version"] == "1.0.0", answer)
        expect(answer["Tus-Extension"] == "creation,creation-with-upload,creation-defer-length,"
               "expiration,checksum,checksum-trailer,termination,concatenation", answer)
        expect(answer["Tus-Max-Size"] == "2147483648", answer)
        expect(answer["Tus-Checksum-Algorithm"] == "sha1,sha256,md5,crc32,crc32c", answer)


# Bodies that are awaited, refused, or incomplete.

def a_valid_head_is_answered_100_before_the_body(tus):
    path = tus.created(("Upload-Length", 4))
    waiting = (VERSION, DATA, ("Expect", "100-continue"), ("Content-Length", 4))
    tus.peer.send_request(f"PATCH {path}", waiting + (("Upload-Offset", 0),))
    expect(tus.peer.read_answer().status == 100, "continue")
    tus.peer.send(b"abcd")
    expect(tus.peer.read_answer().status == 204, "accepted")
    answer = tus.send(f"PATCH {path}", waiting + (("Upload-Offset", 1),))
    expect(answer.status == 409 and answer["Connection"] == "close", answer)


def a_refusal_arrives_while_the_body_is_being_sent(tus):
    path = tus.created(("Upload-Length", 4_000_000))
    answer = tus.patch(path, 7, bytes(4_000_000))
    expect(answer.status == 409, answer)


def a_newer_request_interrupts_a_stalled_one(tus):
    """It does not wait until the server ends the stalled request, which takes a minute."""
    path = tus.created(("Upload-Length", 4))
    stalled = Peer(tus.server.port)
    stalled.send_request(f"PATCH {path}", (VERSION, DATA, ("Upload-Offset", 0), ("Content-Length", 4)))
    stalled.send(b"ab")
    tus.wait_for(path, 2)
    began = time.monotonic()
    expect(tus.head(path)["Upload-Offset"] == "2", "the received bytes")
    expect(time.monotonic() - began < 30, "longer than 30 s")
    expect(stalled.has_ended(), "the old connection is closed")
    expect(tus.patch(path, 2, b"cd").status == 204, "continued")


# Requests of clients.

def tuspy_uploads_in_chunks_with_checksums(tus):
    """Field names are in lower case, and `upload-metadata` is empty."""
    data = random.Random(1).randbytes(200_000)
    created = tus.send("POST /uploads", (
        ("User-Agent", "python-requests/2.32"), ("Accept-Encoding", "gzip, deflate"), ("Accept", "*/*"),
        ("Connection", "keep-alive"), ("tus-resumable", "1.0.0"), TOKEN_FIELD,
        ("upload-length", len(data)), ("upload-metadata", ""), ("Content-Length", 0)))
    expect(created.status == 201, created)
    path, offset = upload_path(created), 0
    while offset < len(data):
        chunk = data[offset:offset + 65_536]
        answer = tus.send(f"PATCH {path}", (
            ("Connection", "keep-alive"), ("tus-resumable", "1.0.0"), ("upload-offset", offset),
            ("Content-Type", "application/offset+octet-stream"),
            ("upload-checksum", sha1(chunk)[1])), chunk)
        expect(200 <= answer.status < 300, answer)
        offset = int(answer["upload-offset"])
    expect(tus.content(content_of(created)) == data, "content")


def uppy_sends_data_with_the_creation(tus):
    data = random.Random(4).randbytes(50_000)
    answer = tus.create(("Upload-Length", len(data)), DATA, body=data)
    expect(answer.status == 201 and answer["Upload-Offset"] == str(len(data)), answer)
    expect(tus.content(content_of(answer)) == data, "content")


def tuspy_async_sends_a_type_with_an_empty_body(tus):
    answer = tus.create(("Upload-Length", 4), ("upload-metadata", ""),
                        ("Content-Type", "application/octet-stream"))
    expect(answer.status == 201 and answer["Upload-Offset"] == "0", answer)


def tuspy_resumes_through_head(tus):
    data = random.Random(2).randbytes(100_000)
    answer = tus.create(("Upload-Length", len(data)))
    broken = Peer(tus.server.port)
    broken.send_request(f"PATCH {upload_path(answer)}", (VERSION, DATA, ("Upload-Offset", 0),
                                         ("Content-Length", len(data))))
    broken.send(data[:70_000])
    broken.close()
    tus.wait_for(upload_path(answer), 70_000)
    offset = int(tus.head(upload_path(answer))["Upload-Offset"])
    expect(offset == 70_000, offset)
    expect(tus.patch(upload_path(answer), offset, data[offset:]).status == 204, "rest")
    expect(tus.content(content_of(answer)) == data, "content")


def tus_js_client_sends_a_preflight(tus):
    """A browser's preflight, and the fields that its page must be able to read."""
    origin = ("Origin", "https://app.example")
    answer = tus.send("OPTIONS /uploads", (
        origin, ("Access-Control-Request-Method", "POST"), ("Access-Control-Request-Headers",
         "authorization,tus-resumable,upload-length,upload-metadata,upload-concat,upload-defer-length")))
    expect(answer.status == 204 and answer["Access-Control-Allow-Origin"] == "*", answer)
    for method in ("POST", "HEAD", "PATCH", "DELETE"):
        expect(method in answer["Access-Control-Allow-Methods"], answer)
    allowed = answer["Access-Control-Allow-Headers"].lower()
    for name in ("tus-resumable", "upload-length", "upload-metadata", "upload-concat", "upload-checksum",
                 "upload-defer-length", "upload-offset", "x-http-method-override", "x-request-id"):
        expect(name in allowed, name)
    answer = tus.create(("Upload-Length", 4), origin)
    for name in ("Location", "Upload-Offset", "Upload-Length", "Upload-Expires", "Tus-Version",
                 "Tus-Resumable", "Tus-Max-Size", "Tus-Extension", "Upload-Metadata"):
        expect(name in answer["Access-Control-Expose-Headers"], name)
    # Only the origin that created an upload may continue it.
    expect(tus.head(upload_path(answer))["Access-Control-Allow-Origin"] is None, "without an origin")
    again = tus.send(f"HEAD {upload_path(answer)}", (VERSION, origin))
    expect(again["Access-Control-Allow-Origin"] == "https://app.example", again)


def tus_js_client_sends_a_stream_of_unknown_length(tus):
    path = tus.created(("Upload-Defer-Length", 1))
    expect(tus.head(path)["Upload-Defer-Length"] == "1", "deferred")
    expect(tus.patch(path, 0, b"abc")["Upload-Offset"] == "3", "first")
    answer = tus.patch(path, 3, b"d", ("Upload-Length", 4))
    expect(answer.status == 204 and answer["Upload-Offset"] == "4", answer)
    expect(tus.head(path)["Upload-Length"] == "4", "known")


def tus_js_client_overrides_the_method(tus):
    path = tus.created(("Upload-Length", 2))
    fields = (VERSION, DATA, ("Upload-Offset", 0), ("X-HTTP-Method-Override", "PATCH"))
    expect(tus.send(f"POST {path}", fields, b"ab").status == 204, "override")


def uppy_uploads_in_parallel(tus):
    """Concurrent parts, then their concatenation by the absolute URLs of the answers."""
    data = random.Random(3).randbytes(1_000_000)
    metadata = "relativePath bnVsbA==,name YS5wbmc=,type aW1hZ2UvcG5n,filetype aW1hZ2UvcG5n,filename YS5wbmc="
    urls = []
    for start in range(0, len(data), 400_000):
        part = data[start:start + 400_000]
        answer = tus.create(("Upload-Concat", "partial"), ("Upload-Length", len(part)))
        expect(answer["Parley-Content-Id"] is None, "a part has no content id")
        expect(tus.patch(upload_path(answer), 0, part)["Upload-Offset"] == str(len(part)), "part")
        urls.append(answer["Location"])
    answer = tus.create(("Upload-Concat", f"final;{' '.join(urls)}"), ("Upload-Metadata", metadata))
    expect(answer.status == 201 and answer["Upload-Offset"] == str(len(data)), answer)
    status = tus.head(upload_path(answer))
    expect(status["Upload-Metadata"] == metadata, status)
    expect(status["Upload-Concat"] == f"final;{' '.join(urls)}", status)
    expect(tus.content(content_of(answer)) == data, "content")


CHECKS = [
    created_is_201, first_and_last_patch_are_204, status_is_200_without_a_length, another_offset_is_409,
    syntax_is_400, another_media_type_is_415, another_length_is_400, beyond_the_length_is_413,
    a_length_above_the_maximum_is_413, a_wrong_checksum_is_460, a_checksum_may_follow_the_body,
    cancelled_is_204_then_410_and_unknown_404, another_version_is_412, a_concatenation_accepts_no_bytes,
    a_request_without_permission_is_401, options_list_versions_extensions_and_limits, a_valid_head_is_answered_100_before_the_body,
    a_refusal_arrives_while_the_body_is_being_sent, a_newer_request_interrupts_a_stalled_one,
    tuspy_uploads_in_chunks_with_checksums, tuspy_async_sends_a_type_with_an_empty_body, tuspy_resumes_through_head,
    tus_js_client_sends_a_preflight, tus_js_client_sends_a_stream_of_unknown_length,
    tus_js_client_overrides_the_method, uppy_sends_data_with_the_creation, uppy_uploads_in_parallel,
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", required=True)
    options = parser.parse_args()
    failed = 0
    with serving(options.binary) as server:
        server.start()
        for check in CHECKS:
            try:
                check(Tus(server))
            except (AssertionError, OSError, ValueError, TypeError) as problem:
                failed += 1
                print(f"FAILED: {check.__name__.replace('_', ' ')}: {problem!r}", file=sys.stderr)
    print(f"{len(CHECKS) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
