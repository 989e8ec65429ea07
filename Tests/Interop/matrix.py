#!/usr/bin/env python3
"""The status matrix of uploads (uploads §12), over plain sockets.

    matrix.py --binary .build/debug/parley

Each function is a row of columns A / D or C, or a row of column B that needs certain settings. The other rows of
column B are in tus.py.
"""

import base64
import hashlib
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
# After this folder, because both have a tus.py.
sys.path.append(str(HERE.parent / "Crash"))

from checklist import run_checks
from peer import Peer
from server import APPLICATION
from tus import CHUNKED, TOKEN_FIELD, UNKNOWN, Tus, chunked, content_of, expect, upload_path

LIMIT = 2147483648
VERSIONS = [3, 4, 5, 6, 7, 8, None]
ACCEPT = ("Accept", "application/vnd.layer+json; version=3.0")
PROBLEMS = "https://iana.org/assignments/http-problem-types#"


class Client(Tus):
    """A client with short methods for the requests of protocols A and D, and for messages with contents."""

    def answer(self, line, fields=(), body=None, framed=True):
        """Sends a request; returns its final answer, without the interim ones."""
        answer = self.send(line, fields, body, framed)
        while answer.status < 200:
            answer = self.peer.read_answer()
        return answer

    def session(self, length=None, *fields):
        """Creates an upload in protocol A; returns its path (5.1)."""
        size = () if length is None else (("X-Upload-Content-Length", length),)
        return upload_path(self.start(*size, *fields))

    def start(self, *fields):
        return self.answer("POST /uploads?uploadType=resumable", (TOKEN_FIELD,) + fields, b"")

    def put(self, path, body, span=None, *fields, framed=True):
        span = () if span is None else (("Content-Range", f"bytes {span}"),)
        return self.answer(f"PUT {path}", span + fields, body, framed)

    def held(self, path):
        """The number of stored bytes, as text, without interrupting a running request."""
        return self.send(f"HEAD {path}")["Upload-Offset"]

    def platform(self, line, body=None):
        """A request to the message API."""
        method, target = line.split(" ")
        kind = () if body is None else (("Content-Type", "application/json"),)
        data = None if body is None else json.dumps(body).encode()
        answer = self.answer(f"{method} /apps/{APPLICATION}{target}", (TOKEN_FIELD, ACCEPT) + kind, data)
        expect(200 <= answer.status < 300, answer)
        return json.loads(answer.content)

    def attach(self, content):
        """Sends a message with a content."""
        conversation = self.platform("POST /conversations", {"participants": ["ana"], "distinct": False})
        self.platform(f"POST /conversations/{conversation['id'].rsplit('/', 1)[1]}/messages", {
            "sender_id": "layer:///identities/ana", "parts": [{"mime_type": "image/png", "content": {
                "id": f"layer:///content/{content}", "size": 2}}]})


class Draft(Client):
    """A client of one version of the IETF protocol; `None` is the version without a number."""

    def __init__(self, server, version):
        super().__init__(server)
        self.version = version
        self.number = () if version is None else (("Upload-Draft-Interop-Version", version),)

    @property
    def after(self):
        """The version as a number for comparisons; 9 for the version without a number."""
        return self.version or 9

    @property
    def gone(self):
        """The status of a query of a deleted upload; a query without a number is neutral (2, 3.8)."""
        return 410 if self.version is None else 404

    def completeness(self, is_complete):
        """The name and value of the field that says whether the upload is complete; version 3 inverts it."""
        if self.version == 3:
            return ("Upload-Incomplete", "?0" if is_complete else "?1")
        return ("Upload-Complete", "?1" if is_complete else "?0")

    def expect_fields(self, answer, is_complete):
        name, value = self.completeness(is_complete)
        expect(answer[name] == value, answer)
        number = None if self.version is None else str(self.version)
        expect(answer["Upload-Draft-Interop-Version"] == number, answer)

    def create(self, body=b"", is_complete=False, *fields, framed=True):
        return self.answer(
            "POST /uploads", self.number + (TOKEN_FIELD, self.completeness(is_complete)) + fields, body, framed)

    def created(self, *fields, body=b""):
        answer = self.create(body, False, *fields)
        expect(answer.status == 201, answer)
        return upload_path(answer)

    def append(self, path, offset, body, is_complete=False, *fields, kind=None, framed=True):
        kind = ("Content-Type", kind or "application/partial-upload")
        own = (kind, ("Upload-Offset", offset), self.completeness(is_complete))
        return self.answer(f"PATCH {path}", self.number + own + fields, body, framed)

    def status(self, path):
        return self.send(f"HEAD {path}", self.number)

    def delete(self, path):
        return self.send(f"DELETE {path}", self.number)


def expect_error(answer, status, reason=None):
    """Expects an error of column A / D: its status, the same code in its JSON, and its reason if given."""
    expect(answer.status == status, answer)
    body = json.loads(answer.content)["error"]
    expect(body["code"] == status, answer)
    expect(reason is None or body["errors"][0]["reason"] == reason, answer)


def expect_problem(answer, status, kind=None):
    """Expects an error of column C: a problem document with its status, and with its type if given."""
    expect(answer.status == status and answer["Content-Type"] == "application/problem+json", answer)
    body = json.loads(answer.content)
    expect(body["status"] == status and (kind is None or body["type"] == PROBLEMS + kind), answer)


def md5(data):
    """A `Content-MD5` field."""
    return ("Content-MD5", base64.b64encode(hashlib.md5(data).digest()).decode())


def digest(name, data):
    """A digest field with the SHA-256."""
    return (name, f"sha-256=:{base64.b64encode(hashlib.sha256(data).digest()).decode()}:")


# Column A / D.

def session_created_is_200_or_201(client):
    answer = client.start(("X-Upload-Content-Length", 4))
    expect(answer.status == 200 and answer["Content-Length"] == "0", answer)
    expect(upload_path(answer).startswith("/uploads/") and answer["Cache-Control"] == "no-store", answer)
    answer = client.answer("POST /uploads", (TOKEN_FIELD, ("X-Goog-Resumable", "start")), b"")
    expect(answer.status == 201 and answer["Location"], answer)


def chunk_is_308_or_200_on_request(client):
    path = client.session(4)
    answer = client.put(path, b"ab", "0-1/4")
    expect(answer.line == "HTTP/1.1 308 Resume Incomplete", answer)
    expect(answer["Range"] == "bytes=0-1" and answer["Location"] is None, answer)
    expect(answer["Content-Length"] == "0", answer)
    answer = client.put(path, b"c", "2-2/4", ("X-GUploader-No-308", "yes"))
    expect(answer.status == 200 and answer["X-Http-Status-Code-Override"] == "308", answer)
    expect(answer["Range"] == "bytes=0-2", answer)


def finished_is_200_with_json(client):
    for path, span in ((client.session(4), "0-3/4"), (client.session(4), None), (client.session(), None)):
        answer = client.put(path, b"abcd", span)
        expect(answer.line == "HTTP/1.1 200 OK", answer)
        body = json.loads(answer.content)
        expect(body["size"] == "4" and "error" not in body, answer)
        expect(answer["X-Goog-Stored-Content-Length"] == "4", answer)
        again = client.put(path, b"", "*/4")
        expect(again.content == answer.content and again["ETag"] == answer["ETag"], again)


def session_status_is_308_or_200(client):
    path = client.session(4)
    answer = client.put(path, b"", "*/4")
    expect(answer.status == 308 and answer["Range"] is None, answer)
    client.put(path, b"ab", "0-1/4")
    expect(client.put(path, b"", "*/*")["Range"] == "bytes=0-1", "offset")
    expect(client.put(path, b"cd", "2-3/4").status == 200, "end")
    expect(client.put(path, b"", "*/*").status == 200, "final")


def overlap_is_taken_and_a_gap_is_308(client):
    path = client.session(6)
    expect(client.put(path, b"abc", "0-2/6").status == 308, "first")
    answer = client.put(path, b"bcd", "1-3/6")
    expect(answer.status == 308 and answer["Range"] == "bytes=0-3", answer)
    answer = client.put(path, b"f", "5-5/6")
    expect(answer.status == 308 and answer["Range"] == "bytes=0-3", answer)
    expect_error(client.put(path, b"f", "5-5/6", ("X-GUploader-No-308", "yes")), 503, "offsetMismatch")
    expect(client.put(path, b"ef", "4-5/6").status == 200, "end")


def session_syntax_is_400(client):
    path = client.session(4)
    for span in ("a-b/4", "2-1/4", "0-4/4", "0-1/x", "0--1/4", "+0-1/4", "0-99999999999999999999/*"):
        expect_error(client.put(path, b"ab", span), 400, "invalid")
    expect_error(client.put(path, b"ab", "*/4"), 400, "invalid")
    expect_error(client.put(path, b"ab", "0-2/4"), 400, "invalid")
    expect_error(client.put(path, b"ab", "0-1/4", ("Content-MD5", "!")), 400, "invalid")
    expect_error(client.start(("X-Upload-Content-Length", "four")), 400, "invalid")
    expect(client.held(path) == "0", "no byte is stored")


def session_length_contradiction_is_400(client):
    path = client.session(4)
    expect_error(client.put(path, b"ab", "0-1/5"), 400, "lengthMismatch")
    expect_error(client.put(path, b"", "*/5"), 400, "lengthMismatch")
    expect_error(client.put(path, b"abc"), 400, "lengthMismatch")
    expect(client.held(path) == "0", "no byte is stored")


def beyond_the_session_length_is_400(client):
    path = client.session(4)
    answer = client.put(path, chunked(b"abcdefgh"), "0-*/4", CHUNKED, framed=False)
    expect(answer.status == 400, answer)
    expect(client.held(path) == "4", "the bytes that fit are stored")
    expect(client.put(path, b"", "*/4").status == 200, "complete")


def beyond_every_session_is_413(client):
    expect_error(client.start(("X-Upload-Content-Length", LIMIT + 1)), 413, "uploadTooLarge")
    path = client.session()
    expect_error(client.put(path, b"a", f"0-0/{LIMIT + 1}"), 413, "uploadTooLarge")
    answer = client.put(path, None, None, ("Content-Length", LIMIT + 1))
    expect_error(answer, 413, "uploadTooLarge")
    expect(answer["Connection"] == "close", answer)


def a_wrong_content_md5_is_400(client):
    path = client.session(4)
    expect_error(client.put(path, b"ab", "0-1/4", md5(b"xy")), 400, "checksumMismatch")
    expect(client.held(path) == "0", "undone")
    expect(client.put(path, b"ab", "0-1/4", md5(b"ab")).status == 308, "right")


def a_wrong_goog_hash_is_400_and_the_end(client):
    path = client.session(4, ("X-Goog-Hash", "crc32c=AAAAAA=="))
    expect_error(client.put(path, b"abcd"), 400, "checksumMismatch")
    expect_error(client.put(path, b"", "*/*"), 410, "gone")


def session_cancelled_is_499_then_410(client):
    path = client.session(4)
    answer = client.send(f"DELETE {path}")
    expect(answer.line == "HTTP/1.1 499 Client Closed Request" and answer["Content-Length"] == "0", answer)
    expect_error(client.send(f"DELETE {path}"), 410, "gone")
    expect_error(client.put(path, b"", "*/*"), 410, "gone")
    expect_error(client.put(path, b"abcd"), 410, "gone")


def unknown_session_is_404(client):
    expect_error(client.put(UNKNOWN, b"", "*/*"), 404, "notFound")
    expect_error(client.put(UNKNOWN, b"abcd"), 404, "notFound")
    expect_error(client.send(f"DELETE {UNKNOWN}"), 404, "notFound")


# Column C, in each of its versions.

def draft_created_is_201(draft):
    answer = draft.create()
    expect(answer.status == 201 and answer["Upload-Offset"] == "0", answer)
    draft.expect_fields(answer, False)
    expect(("max-size=" in (answer["Upload-Limit"] or "")) == (draft.after >= 6), answer)
    # The interim answer has the same Location.
    fields = draft.number + (TOKEN_FIELD, draft.completeness(False))
    first = draft.send("POST /uploads", fields, b"ab")
    if draft.version is None:
        expect(first.status == 201, first)
    else:
        expect(first.line == "HTTP/1.1 104 Upload Resumption Supported", first)
        last = draft.peer.read_answer()
        expect(last.status == 201 and last["Location"] == first["Location"], last)
        expect(last["Upload-Offset"] == "2", last)


def draft_part_is_201_or_204(draft):
    answer = draft.append(draft.created(), 0, b"ab")
    expect(answer.status == (204 if draft.after >= 7 else 201), answer)
    expect(answer["Upload-Offset"] == "2", answer)
    draft.expect_fields(answer, False)


def draft_end_is_201_or_200_with_json(draft):
    path = draft.created()
    for answer in (draft.append(path, 0, b"abcd", True), draft.create(b"abcd", True)):
        expect(answer.status == (200 if draft.after >= 7 else 201), answer)
        expect(json.loads(answer.content)["size"] == "4", answer)
        draft.expect_fields(answer, True)


def draft_status_is_204(draft):
    answer = draft.status(draft.created(body=b"ab"))
    expect(answer.status == (200 if draft.version is None else 204), answer)
    expect(answer["Upload-Offset"] == "2" and answer["Cache-Control"] == "no-store", answer)
    draft.expect_fields(answer, False)


def draft_offset_differs_is_409(draft):
    path = draft.created(body=b"ab")
    for offset in (0, 3):
        answer = draft.append(path, offset, b"c")
        expect_problem(answer, 409, "mismatching-upload-offset")
        body = json.loads(answer.content)
        expect(body["expected-offset"] == 2 and body["provided-offset"] == offset, answer)
        expect(answer["Upload-Offset"] == "2", answer)
        draft.expect_fields(answer, False)


def draft_syntax_is_400(draft):
    path = draft.created()
    for offset in ("zero", "-1", "0x0", "?1"):
        expect_problem(draft.append(path, offset, b"a"), 400)
    if draft.after >= 7:
        fields = draft.number + (("Content-Type", "application/partial-upload"), ("Upload-Offset", 0))
        if draft.version is not None:
            expect_problem(draft.answer(f"PATCH {path}", fields, b"a"), 400)
    expect(draft.held(path) == "0", "no byte is stored")


def draft_media_type_is_415(draft):
    path = draft.created()
    answer = draft.append(path, 0, b"a", kind="image/png")
    if draft.after >= 6:
        expect_problem(answer, 415)
    else:
        expect(answer.status == 201, answer)


def draft_length_contradiction_is_400(draft):
    if draft.after < 6:
        # Before version 6 only the last append states the length.
        path = upload_path(draft.answer(
            "POST /uploads?uploadType=resumable", (TOKEN_FIELD, ("X-Upload-Content-Length", 4)), b""))
        answer = draft.append(path, 0, b"ab", True)
    else:
        path = draft.created(("Upload-Length", 4))
        answer = draft.append(path, 0, b"ab", False, ("Upload-Length", 5))
        expect_problem(answer, 400, "inconsistent-upload-length")
        draft.expect_fields(answer, False)
        expect(draft.held(path) == "0", "no byte is stored")
        answer = draft.append(path, 0, b"ab", True)
    expect_problem(answer, 400, "inconsistent-upload-length")
    draft.expect_fields(answer, False)


def beyond_the_draft_length_is_400(draft):
    path = draft.session(4)
    answer = draft.append(path, 0, chunked(b"abcdefgh"), False, CHUNKED, framed=False)
    expect_problem(answer, 400)
    if draft.after >= 7:
        expect(draft.status(path).status == draft.gone, "failed")
    else:
        expect(draft.held(path) == "4", "the bytes that fit are stored")


def beyond_every_draft_is_413(draft):
    answer = draft.create(None, True, ("Content-Length", LIMIT + 1), framed=False)
    expect_problem(answer, 413)
    expect(("max-size=2147483648" in (answer["Upload-Limit"] or "")) == (draft.after >= 6), answer)


def a_wrong_content_digest_is_400(draft):
    path = draft.created()
    answer = draft.append(path, 0, b"ab", False, digest("Content-Digest", b"xy"))
    expect_problem(answer, 400)
    draft.expect_fields(answer, False)
    expect(draft.held(path) == "0", "undone")
    answer = draft.append(path, 0, b"ab", False, digest("Content-Digest", b"ab"))
    expect(answer["Upload-Offset"] == "2", answer)


def a_wrong_repr_digest_is_422_and_the_end(draft):
    answer = draft.create(b"abcd", True, digest("Repr-Digest", b"xy"))
    expect_problem(answer, 422)
    draft.expect_fields(answer, True)
    path = draft.created(digest("Repr-Digest", b"xy"))
    answer = draft.append(path, 0, b"abcd", True)
    expect_problem(answer, 422)
    expect(draft.status(path).status == 404, "failed")


def a_right_repr_digest_is_sent_with_downloads(draft):
    stated = f"sha-512=:{base64.b64encode(hashlib.sha512(b'abcd').digest()).decode()}:"
    body = json.loads(draft.create(b"abcd", True, ("Repr-Digest", stated)).content)
    known = f"{digest('Repr-Digest', b'abcd')[1]}, {stated}"
    path = "/" + draft.download(body["id"]).split("/", 3)[3]
    for line, fields, status in ((f"GET {path}", (), 200), (f"GET {path}", (("Range", "bytes=1-2"),), 206), (f"HEAD {path}", (), 200)):
        answer = draft.send(line, fields)
        expect(answer.status == status and answer["Repr-Digest"] == known, answer)
    answer = draft.send(f"GET {path}", (("Want-Repr-Digest", "sha-512=3"), ("Want-Content-Digest", "sha-512=3")))
    expect(answer["Repr-Digest"] == stated == answer["Content-Digest"], answer)


def draft_cancelled_is_204_then_404(draft):
    path = draft.created()
    expect(draft.delete(path).line == "HTTP/1.1 204 No Content", "now")
    expect(draft.delete(path).status == draft.status(path).status == draft.gone, "gone")
    expect_problem(draft.append(path, 0, b"a"), 404)
    expect(draft.status(UNKNOWN).status == 404 and draft.delete(UNKNOWN).status == 404, "unknown")
    expect_problem(draft.append(UNKNOWN, 0, b"a"), 404)


def an_unknown_draft_version_is_handled_as_the_last(draft):
    """An unknown version: the rules of the last version, no 104 and no number in the answer."""
    unknown_version = (("Upload-Draft-Interop-Version", 99), TOKEN_FIELD, ("Upload-Complete", "?0"))
    answer = draft.send("POST /uploads", unknown_version, b"ab")
    expect(answer.status == 201 and answer["Upload-Draft-Interop-Version"] is None, answer)
    fields = unknown_version[:1] + (("Content-Type", "application/partial-upload"), ("Upload-Offset", 2))
    expect(draft.send(f"PATCH {upload_path(answer)}", fields + unknown_version[2:], b"c").status == 204, "append")
    both = unknown_version + (("Tus-Resumable", "1.0.0"),)
    expect(draft.send("POST /uploads", both, b"").status == 400, "two protocols")


# Rows that depend on other state or settings.

def deleting_a_content_of_a_message_is_403(client):
    tus = Tus(client.server)
    answers = {
        "A": client.start(("X-Upload-Content-Length", 2)),
        "B": tus.create(("Upload-Length", 2)),
        "C": Draft(client.server, 8).create(),
    }
    for column, answer in answers.items():
        path = upload_path(answer)
        expect(client.put(path, b"ab").status == 200, column)
        client.attach(content_of(answer))
        refused = {
            "A": lambda: client.send(f"DELETE {path}"), "B": lambda: tus.delete(path),
            "C": lambda: Draft(client.server, 8).delete(path),
        }[column]()
        expect(refused.status == 403, (column, refused))


def a_stalled_request_is_503_or_cut_off(client):
    """With a `body_idle_timeout` of half a second."""
    for line, fields in (
        ("PUT {}", ()),
        ("PATCH {}", (("Tus-Resumable", "1.0.0"), ("Content-Type", "application/offset+octet-stream"),
                      ("Upload-Offset", 0))),
        ("PATCH {}", (("Upload-Draft-Interop-Version", 6), ("Upload-Offset", 0), ("Upload-Complete", "?1"),
                      ("Content-Type", "application/partial-upload"))),
    ):
        path = client.session(4)
        peer = Peer(client.server.port)
        peer.send_request(line.format(path), fields + (("Content-Length", 4),), b"ab", framed=False)
        if "Upload-Draft-Interop-Version" in dict(fields):
            expect(peer.has_ended(), "closed without an answer")
        else:
            answer = peer.read_answer()
            expect(answer.status == 503 and answer["Retry-After"] == "1", answer)
            expect(answer["Connection"] == "close" and peer.has_ended(), answer)
        expect(client.held(path) == "2", "the received bytes are stored")


def a_full_disk_is_507(client):
    """With a `disk_headroom` above the size of any disk."""
    tus, draft = Tus(client.server), Draft(client.server, 8)
    expect_error(client.start(("X-Upload-Content-Length", 4)), 507, "insufficientStorage")
    answer = tus.create(("Upload-Length", 4))
    expect(answer.status == 507 and answer.content.startswith(b"insufficientStorage: "), answer)
    expect_problem(draft.create(), 507)


def too_many_are_429(client):
    """With a `max_open_uploads_per_owner` of 1."""
    tus, draft = Tus(client.server), Draft(client.server, 8)
    path = client.session(4)
    for answer in (client.start(), tus.create(("Upload-Length", 4)), draft.create()):
        expect(answer.status == 429 and answer["Retry-After"], answer)
    expect_error(client.start(), 429, "rateLimited")
    expect(client.send(f"DELETE {path}").status == 499, "cancelled")
    expect(client.start().status == 200, "one upload is allowed again")


def a_request_that_waits_too_long_is_503_or_423(client):
    """With a `takeover_wait` of a millisecond, and writers that must first make many bytes durable."""
    tus, draft = Tus(client.server), Draft(client.server, 8)
    for query, status in (
        (lambda path: client.put(path, b"", "*/*"), 503), (tus.head, 423), (draft.status, 503),
    ):
        answers = []
        # The time to write to a disk varies, so this is repeated until the query has to wait.
        while not answers or answers[-1].status != status:
            expect(len(answers) < 8, answers)
            path = client.session(64 << 20)
            writer = Peer(client.server.port)
            writer.send_request(f"PUT {path}", (("Content-Length", 64 << 20),), bytes(48 << 20), framed=False)
            answers.append(query(path))
            writer.close()
        expect(answers[-1]["Retry-After"] == "1", answers[-1])


SESSIONS = [
    session_created_is_200_or_201, chunk_is_308_or_200_on_request, finished_is_200_with_json,
    session_status_is_308_or_200, overlap_is_taken_and_a_gap_is_308, session_syntax_is_400,
    session_length_contradiction_is_400, beyond_the_session_length_is_400, beyond_every_session_is_413,
    a_wrong_content_md5_is_400, a_wrong_goog_hash_is_400_and_the_end, session_cancelled_is_499_then_410,
    unknown_session_is_404, deleting_a_content_of_a_message_is_403,
]
DRAFTS = [
    draft_created_is_201, draft_part_is_201_or_204, draft_end_is_201_or_200_with_json, draft_status_is_204,
    draft_offset_differs_is_409, draft_syntax_is_400, draft_media_type_is_415,
    draft_length_contradiction_is_400, beyond_the_draft_length_is_400, beyond_every_draft_is_413,
    a_wrong_content_digest_is_400, a_wrong_repr_digest_is_422_and_the_end,
    a_right_repr_digest_is_sent_with_downloads, draft_cancelled_is_204_then_404,
]
# Each of these runs on its own server.
OWN_SERVER_CHECKS = {
    a_stalled_request_is_503_or_cut_off: {"PARLEY_UPLOADS_BODY_IDLE_TIMEOUT": "500ms"},
    a_full_disk_is_507: {"PARLEY_UPLOADS_DISK_HEADROOM": str(1 << 60)},
    a_request_that_waits_too_long_is_503_or_423: {
        "PARLEY_UPLOADS_TAKEOVER_WAIT": "1ms", "PARLEY_UPLOADS_COMMIT_BYTES": str(1 << 30),
        "PARLEY_UPLOADS_COMMIT_INTERVAL": "1h",
    },
    too_many_are_429: {"PARLEY_UPLOADS_MAX_OPEN_UPLOADS_PER_OWNER": "1"},
}


def shared_checks(results, server):
    for check in SESSIONS:
        results.run(check, Client(server))
    for version in VERSIONS:
        for check in DRAFTS:
            results.run(check, Draft(server, version), f", version {version}")
    results.run(an_unknown_draft_version_is_handled_as_the_last, Draft(server, 8))


if __name__ == "__main__":
    run_checks(__doc__, shared_checks, OWN_SERVER_CHECKS, Client)
