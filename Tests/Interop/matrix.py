#!/usr/bin/env python3
"""The status matrix of uploads (uploads §12) over plain sockets.

    matrix.py --binary .build/debug/parley

Columns A / D and C: each row is a function with its name; also the rows of column B that need a server with
certain settings. The other rows of column B are in tus.py.
"""

import base64
import hashlib
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
# Behind this folder: each has a tus.py.
sys.path.append(str(HERE.parent / "Crash"))

from checklist import run_checks
from peer import Peer
from server import APPLICATION
from tus import CHUNKED, TOKEN_FIELD, UNKNOWN, Tus, chunked, content_of, expect, path

LIMIT = 2147483648
VERSIONS = [3, 4, 5, 6, 7, 8, None]
ACCEPT = ("Accept", "application/vnd.layer+json; version=3.0")
PROBLEMS = "https://iana.org/assignments/http-problem-types#"


class Client(Tus):
    """Says what the columns A, D and C begin with."""

    def answer(self, line, fields=(), body=None, framed=True):
        """The last answer, after all interim ones."""
        answer = self.ask(line, fields, body, framed)
        while answer.status < 200:
            answer = self.peer.hear()
        return answer

    def session(self, length=None, *fields):
        """The path of a new session (5.1)."""
        size = () if length is None else (("X-Upload-Content-Length", length),)
        return path(self.start(*size, *fields))

    def start(self, *fields):
        return self.answer("POST /uploads?uploadType=resumable", (TOKEN_FIELD,) + fields, b"")

    def put(self, place, body, span=None, *fields, framed=True):
        span = () if span is None else (("Content-Range", f"bytes {span}"),)
        return self.answer(f"PUT {place}", span + fields, body, framed)

    def held(self, place):
        return self.ask(f"HEAD {place}")["Upload-Offset"]

    def platform(self, line, body=None):
        """A request to the message API."""
        method, target = line.split(" ")
        kind = () if body is None else (("Content-Type", "application/json"),)
        data = None if body is None else json.dumps(body).encode()
        answer = self.answer(f"{method} /apps/{APPLICATION}{target}", (TOKEN_FIELD, ACCEPT) + kind, data)
        expect(200 <= answer.status < 300, answer)
        return json.loads(answer.content)

    def attach(self, content):
        """Sends a message that shows a content."""
        chat = self.platform("POST /conversations", {"participants": ["ana"], "distinct": False})
        self.platform(f"POST /conversations/{chat['id'].rsplit('/', 1)[1]}/messages", {
            "sender_id": "layer:///identities/ana", "parts": [{"mime_type": "image/png", "content": {
                "id": f"layer:///content/{content}", "size": 2}}]})


class Draft(Client):
    """Speaks one version of the IETF protocol; `None` is the one without a number."""

    def __init__(self, server, version):
        super().__init__(server)
        self.version = version
        self.number = () if version is None else (("Upload-Draft-Interop-Version", version),)

    @property
    def after(self):
        """The version as a number that can be compared."""
        return self.version or 9

    @property
    def gone(self):
        """What a query of something gone answers: without a number it is the neutral one (2, 3.8)."""
        return 410 if self.version is None else 404

    def whole(self, is_complete):
        """The field of completeness, which was inverted once."""
        if self.version == 3:
            return ("Upload-Incomplete", "?0" if is_complete else "?1")
        return ("Upload-Complete", "?1" if is_complete else "?0")

    def says(self, answer, is_complete):
        name, value = self.whole(is_complete)
        expect(answer[name] == value, answer)
        number = None if self.version is None else str(self.version)
        expect(answer["Upload-Draft-Interop-Version"] == number, answer)

    def create(self, body=b"", is_complete=False, *fields, framed=True):
        return self.answer(
            "POST /uploads", self.number + (TOKEN_FIELD, self.whole(is_complete)) + fields, body, framed)

    def created(self, *fields, body=b""):
        answer = self.create(body, False, *fields)
        expect(answer.status == 201, answer)
        return path(answer)

    def append(self, place, offset, body, is_complete=False, *fields, kind=None, framed=True):
        kind = ("Content-Type", kind or "application/partial-upload")
        own = (kind, ("Upload-Offset", offset), self.whole(is_complete))
        return self.answer(f"PATCH {place}", self.number + own + fields, body, framed)

    def status(self, place):
        return self.ask(f"HEAD {place}", self.number)

    def delete(self, place):
        return self.ask(f"DELETE {place}", self.number)


def error(answer, status, reason=None):
    """An error of column A / D: its status, and JSON that says the same."""
    expect(answer.status == status, answer)
    said = json.loads(answer.content)["error"]
    expect(said["code"] == status, answer)
    expect(reason is None or said["errors"][0]["reason"] == reason, answer)


def problem(answer, status, kind=None):
    """An error of column C."""
    expect(answer.status == status and answer["Content-Type"] == "application/problem+json", answer)
    said = json.loads(answer.content)
    expect(said["status"] == status and (kind is None or said["type"] == PROBLEMS + kind), answer)


def md5(data):
    return ("Content-MD5", base64.b64encode(hashlib.md5(data).digest()).decode())


def digest(name, data):
    return (name, f"sha-256=:{base64.b64encode(hashlib.sha256(data).digest()).decode()}:")


# Column A / D.

def session_created_is_200_or_201(client):
    answer = client.start(("X-Upload-Content-Length", 4))
    expect(answer.status == 200 and answer["Content-Length"] == "0", answer)
    expect(path(answer).startswith("/uploads/") and answer["Cache-Control"] == "no-store", answer)
    answer = client.answer("POST /uploads", (TOKEN_FIELD, ("X-Goog-Resumable", "start")), b"")
    expect(answer.status == 201 and answer["Location"], answer)


def chunk_is_308_or_200_on_request(client):
    place = client.session(4)
    answer = client.put(place, b"ab", "0-1/4")
    expect(answer.line == "HTTP/1.1 308 Resume Incomplete", answer)
    expect(answer["Range"] == "bytes=0-1" and answer["Location"] is None, answer)
    expect(answer["Content-Length"] == "0", answer)
    answer = client.put(place, b"c", "2-2/4", ("X-GUploader-No-308", "yes"))
    expect(answer.status == 200 and answer["X-Http-Status-Code-Override"] == "308", answer)
    expect(answer["Range"] == "bytes=0-2", answer)


def finished_is_200_with_json(client):
    for place, span in ((client.session(4), "0-3/4"), (client.session(4), None), (client.session(), None)):
        answer = client.put(place, b"abcd", span)
        expect(answer.line == "HTTP/1.1 200 OK", answer)
        said = json.loads(answer.content)
        expect(said["size"] == "4" and "error" not in said, answer)
        expect(answer["X-Goog-Stored-Content-Length"] == "4", answer)
        again = client.put(place, b"", "*/4")
        expect(again.content == answer.content and again["ETag"] == answer["ETag"], again)


def session_status_is_308_or_200(client):
    place = client.session(4)
    answer = client.put(place, b"", "*/4")
    expect(answer.status == 308 and answer["Range"] is None, answer)
    client.put(place, b"ab", "0-1/4")
    expect(client.put(place, b"", "*/*")["Range"] == "bytes=0-1", "held")
    expect(client.put(place, b"cd", "2-3/4").status == 200, "end")
    expect(client.put(place, b"", "*/*").status == 200, "final")


def overlap_is_taken_and_a_gap_is_308(client):
    place = client.session(6)
    expect(client.put(place, b"abc", "0-2/6").status == 308, "first")
    answer = client.put(place, b"bcd", "1-3/6")
    expect(answer.status == 308 and answer["Range"] == "bytes=0-3", answer)
    answer = client.put(place, b"f", "5-5/6")
    expect(answer.status == 308 and answer["Range"] == "bytes=0-3", answer)
    error(client.put(place, b"f", "5-5/6", ("X-GUploader-No-308", "yes")), 503, "offsetMismatch")
    expect(client.put(place, b"ef", "4-5/6").status == 200, "end")


def session_syntax_is_400(client):
    place = client.session(4)
    for span in ("a-b/4", "2-1/4", "0-4/4", "0-1/x", "0--1/4", "+0-1/4", "0-99999999999999999999/*"):
        error(client.put(place, b"ab", span), 400, "invalid")
    error(client.put(place, b"ab", "*/4"), 400, "invalid")
    error(client.put(place, b"ab", "0-2/4"), 400, "invalid")
    error(client.put(place, b"ab", "0-1/4", ("Content-MD5", "!")), 400, "invalid")
    error(client.start(("X-Upload-Content-Length", "four")), 400, "invalid")
    expect(client.held(place) == "0", "nothing is taken")


def session_length_contradiction_is_400(client):
    place = client.session(4)
    error(client.put(place, b"ab", "0-1/5"), 400, "lengthMismatch")
    error(client.put(place, b"", "*/5"), 400, "lengthMismatch")
    error(client.put(place, b"abc"), 400, "lengthMismatch")
    expect(client.held(place) == "0", "nothing is taken")


def beyond_the_session_length_is_400(client):
    place = client.session(4)
    answer = client.put(place, chunked(b"abcdefgh"), "0-*/4", CHUNKED, framed=False)
    expect(answer.status == 400, answer)
    expect(client.held(place) == "4", "what fits is kept")
    expect(client.put(place, b"", "*/4").status == 200, "and completes")


def beyond_every_session_is_413(client):
    error(client.start(("X-Upload-Content-Length", LIMIT + 1)), 413, "uploadTooLarge")
    place = client.session()
    error(client.put(place, b"a", f"0-0/{LIMIT + 1}"), 413, "uploadTooLarge")
    answer = client.put(place, None, None, ("Content-Length", LIMIT + 1))
    error(answer, 413, "uploadTooLarge")
    expect(answer["Connection"] == "close", answer)


def a_wrong_content_md5_is_400(client):
    place = client.session(4)
    error(client.put(place, b"ab", "0-1/4", md5(b"xy")), 400, "checksumMismatch")
    expect(client.held(place) == "0", "undone")
    expect(client.put(place, b"ab", "0-1/4", md5(b"ab")).status == 308, "right")


def a_wrong_goog_hash_is_400_and_the_end(client):
    place = client.session(4, ("X-Goog-Hash", "crc32c=AAAAAA=="))
    error(client.put(place, b"abcd"), 400, "checksumMismatch")
    error(client.put(place, b"", "*/*"), 410, "gone")


def session_cancelled_is_499_then_410(client):
    place = client.session(4)
    answer = client.ask(f"DELETE {place}")
    expect(answer.line == "HTTP/1.1 499 Client Closed Request" and answer["Content-Length"] == "0", answer)
    error(client.ask(f"DELETE {place}"), 410, "gone")
    error(client.put(place, b"", "*/*"), 410, "gone")
    error(client.put(place, b"abcd"), 410, "gone")


def unknown_session_is_404(client):
    error(client.put(UNKNOWN, b"", "*/*"), 404, "notFound")
    error(client.put(UNKNOWN, b"abcd"), 404, "notFound")
    error(client.ask(f"DELETE {UNKNOWN}"), 404, "notFound")


# Column C, in each of its versions.

def draft_created_is_201(draft):
    answer = draft.create()
    expect(answer.status == 201 and answer["Upload-Offset"] == "0", answer)
    draft.says(answer, False)
    expect(("max-size=" in (answer["Upload-Limit"] or "")) == (draft.after >= 6), answer)
    # The interim answer names the same place.
    fields = draft.number + (TOKEN_FIELD, draft.whole(False))
    first = draft.ask("POST /uploads", fields, b"ab")
    if draft.version is None:
        expect(first.status == 201, first)
    else:
        expect(first.line == "HTTP/1.1 104 Upload Resumption Supported", first)
        last = draft.peer.hear()
        expect(last.status == 201 and last["Location"] == first["Location"], last)
        expect(last["Upload-Offset"] == "2", last)


def draft_part_is_201_or_204(draft):
    answer = draft.append(draft.created(), 0, b"ab")
    expect(answer.status == (204 if draft.after >= 7 else 201), answer)
    expect(answer["Upload-Offset"] == "2", answer)
    draft.says(answer, False)


def draft_end_is_201_or_200_with_json(draft):
    place = draft.created()
    for answer in (draft.append(place, 0, b"abcd", True), draft.create(b"abcd", True)):
        expect(answer.status == (200 if draft.after >= 7 else 201), answer)
        expect(json.loads(answer.content)["size"] == "4", answer)
        draft.says(answer, True)


def draft_status_is_204(draft):
    answer = draft.status(draft.created(body=b"ab"))
    expect(answer.status == (200 if draft.version is None else 204), answer)
    expect(answer["Upload-Offset"] == "2" and answer["Cache-Control"] == "no-store", answer)
    draft.says(answer, False)


def draft_offset_differs_is_409(draft):
    place = draft.created(body=b"ab")
    for offset in (0, 3):
        answer = draft.append(place, offset, b"c")
        problem(answer, 409, "mismatching-upload-offset")
        said = json.loads(answer.content)
        expect(said["expected-offset"] == 2 and said["provided-offset"] == offset, answer)
        expect(answer["Upload-Offset"] == "2", answer)
        draft.says(answer, False)


def draft_syntax_is_400(draft):
    place = draft.created()
    for offset in ("zero", "-1", "0x0", "?1"):
        problem(draft.append(place, offset, b"a"), 400)
    if draft.after >= 7:
        fields = draft.number + (("Content-Type", "application/partial-upload"), ("Upload-Offset", 0))
        if draft.version is not None:
            problem(draft.answer(f"PATCH {place}", fields, b"a"), 400)
    expect(draft.held(place) == "0", "nothing is taken")


def draft_media_type_is_415(draft):
    place = draft.created()
    answer = draft.append(place, 0, b"a", kind="image/png")
    if draft.after >= 6:
        problem(answer, 415)
    else:
        expect(answer.status == 201, answer)


def draft_length_contradiction_is_400(draft):
    if draft.after < 6:
        # Only the end can tell a length there.
        place = path(draft.answer(
            "POST /uploads?uploadType=resumable", (TOKEN_FIELD, ("X-Upload-Content-Length", 4)), b""))
        answer = draft.append(place, 0, b"ab", True)
    else:
        place = draft.created(("Upload-Length", 4))
        answer = draft.append(place, 0, b"ab", False, ("Upload-Length", 5))
        problem(answer, 400, "inconsistent-upload-length")
        draft.says(answer, False)
        expect(draft.held(place) == "0", "nothing is taken")
        answer = draft.append(place, 0, b"ab", True)
    problem(answer, 400, "inconsistent-upload-length")
    draft.says(answer, False)


def beyond_the_draft_length_is_400(draft):
    place = draft.session(4)
    answer = draft.append(place, 0, chunked(b"abcdefgh"), False, CHUNKED, framed=False)
    problem(answer, 400)
    if draft.after >= 7:
        expect(draft.status(place).status == draft.gone, "failed")
    else:
        expect(draft.held(place) == "4", "what fits is kept")


def beyond_every_draft_is_413(draft):
    answer = draft.create(None, True, ("Content-Length", LIMIT + 1), framed=False)
    problem(answer, 413)
    expect(("max-size=2147483648" in (answer["Upload-Limit"] or "")) == (draft.after >= 6), answer)


def a_wrong_content_digest_is_400(draft):
    place = draft.created()
    answer = draft.append(place, 0, b"ab", False, digest("Content-Digest", b"xy"))
    problem(answer, 400)
    draft.says(answer, False)
    expect(draft.held(place) == "0", "undone")
    answer = draft.append(place, 0, b"ab", False, digest("Content-Digest", b"ab"))
    expect(answer["Upload-Offset"] == "2", answer)


def a_wrong_repr_digest_is_422_and_the_end(draft):
    answer = draft.create(b"abcd", True, digest("Repr-Digest", b"xy"))
    problem(answer, 422)
    draft.says(answer, True)
    place = draft.created(digest("Repr-Digest", b"xy"))
    answer = draft.append(place, 0, b"abcd", True)
    problem(answer, 422)
    expect(draft.status(place).status == 404, "failed")


def a_right_repr_digest_is_sent_with_downloads(draft):
    stated = f"sha-512=:{base64.b64encode(hashlib.sha512(b'abcd').digest()).decode()}:"
    said = json.loads(draft.create(b"abcd", True, ("Repr-Digest", stated)).content)
    known = f"{digest('Repr-Digest', b'abcd')[1]}, {stated}"
    place = "/" + draft.download(said["id"]).split("/", 3)[3]
    for line, fields, status in ((f"GET {place}", (), 200), (f"GET {place}", (("Range", "bytes=1-2"),), 206), (f"HEAD {place}", (), 200)):
        answer = draft.ask(line, fields)
        expect(answer.status == status and answer["Repr-Digest"] == known, answer)
    answer = draft.ask(f"GET {place}", (("Want-Repr-Digest", "sha-512=3"), ("Want-Content-Digest", "sha-512=3")))
    expect(answer["Repr-Digest"] == stated == answer["Content-Digest"], answer)


def draft_cancelled_is_204_then_404(draft):
    place = draft.created()
    expect(draft.delete(place).line == "HTTP/1.1 204 No Content", "now")
    expect(draft.delete(place).status == draft.status(place).status == draft.gone, "gone")
    problem(draft.append(place, 0, b"a"), 404)
    expect(draft.status(UNKNOWN).status == 404 and draft.delete(UNKNOWN).status == 404, "unknown")
    problem(draft.append(UNKNOWN, 0, b"a"), 404)


def another_draft_is_handled_as_the_last(draft):
    """An unknown version: the rules of the last version, no 104 and no number in the answer."""
    stranger = (("Upload-Draft-Interop-Version", 99), TOKEN_FIELD, ("Upload-Complete", "?0"))
    answer = draft.ask("POST /uploads", stranger, b"ab")
    expect(answer.status == 201 and answer["Upload-Draft-Interop-Version"] is None, answer)
    fields = stranger[:1] + (("Content-Type", "application/partial-upload"), ("Upload-Offset", 2))
    expect(draft.ask(f"PATCH {path(answer)}", fields + stranger[2:], b"c").status == 204, "append")
    both = stranger + (("Tus-Resumable", "1.0.0"),)
    expect(draft.ask("POST /uploads", both, b"").status == 400, "two protocols")


# Rows of all columns that depend on other state.

def what_a_message_shows_is_403(client):
    tus = Tus(client.server)
    answers = {
        "A": client.start(("X-Upload-Content-Length", 2)),
        "B": tus.create(("Upload-Length", 2)),
        "C": Draft(client.server, 8).create(),
    }
    for column, answer in answers.items():
        place = path(answer)
        expect(client.put(place, b"ab").status == 200, column)
        client.attach(content_of(answer))
        refused = {
            "A": lambda: client.ask(f"DELETE {place}"), "B": lambda: tus.delete(place),
            "C": lambda: Draft(client.server, 8).delete(place),
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
        place = client.session(4)
        peer = Peer(client.server.port)
        peer.say(line.format(place), fields + (("Content-Length", 4),), b"ab", framed=False)
        if "Upload-Draft-Interop-Version" in dict(fields):
            expect(peer.has_ended(), "closed without an answer")
        else:
            answer = peer.hear()
            expect(answer.status == 503 and answer["Retry-After"] == "1", answer)
            expect(answer["Connection"] == "close" and peer.has_ended(), answer)
        expect(client.held(place) == "2", "what came is kept")


def a_full_disk_is_507(client):
    """With a `disk_headroom` no disk has."""
    tus, draft = Tus(client.server), Draft(client.server, 8)
    error(client.start(("X-Upload-Content-Length", 4)), 507, "insufficientStorage")
    answer = tus.create(("Upload-Length", 4))
    expect(answer.status == 507 and answer.content.startswith(b"insufficientStorage: "), answer)
    problem(draft.create(), 507)


def too_many_are_429(client):
    """With a `max_open_uploads_per_owner` of 1."""
    tus, draft = Tus(client.server), Draft(client.server, 8)
    place = client.session(4)
    for answer in (client.start(), tus.create(("Upload-Length", 4)), draft.create()):
        expect(answer.status == 429 and answer["Retry-After"], answer)
    error(client.start(), 429, "rateLimited")
    expect(client.ask(f"DELETE {place}").status == 499, "one less")
    expect(client.start().status == 200, "so a slot is free")


def a_request_that_waits_too_long_is_503_or_423(client):
    """With a `takeover_wait` of a millisecond, and writers that have much to make durable first."""
    tus, draft = Tus(client.server), Draft(client.server, 8)
    for ask, status in (
        (lambda place: client.put(place, b"", "*/*"), 503), (tus.head, 423), (draft.status, 503),
    ):
        answers = []
        # How long a disk takes is not ours to say: one of a few is slow enough.
        while not answers or answers[-1].status != status:
            expect(len(answers) < 8, answers)
            place = client.session(64 << 20)
            writer = Peer(client.server.port)
            writer.say(f"PUT {place}", (("Content-Length", 64 << 20),), bytes(48 << 20), framed=False)
            answers.append(ask(place))
            writer.close()
        expect(answers[-1]["Retry-After"] == "1", answers[-1])


SESSIONS = [
    session_created_is_200_or_201, chunk_is_308_or_200_on_request, finished_is_200_with_json,
    session_status_is_308_or_200, overlap_is_taken_and_a_gap_is_308, session_syntax_is_400,
    session_length_contradiction_is_400, beyond_the_session_length_is_400, beyond_every_session_is_413,
    a_wrong_content_md5_is_400, a_wrong_goog_hash_is_400_and_the_end, session_cancelled_is_499_then_410,
    unknown_session_is_404, what_a_message_shows_is_403,
]
DRAFTS = [
    draft_created_is_201, draft_part_is_201_or_204, draft_end_is_201_or_200_with_json, draft_status_is_204,
    draft_offset_differs_is_409, draft_syntax_is_400, draft_media_type_is_415,
    draft_length_contradiction_is_400, beyond_the_draft_length_is_400, beyond_every_draft_is_413,
    a_wrong_content_digest_is_400, a_wrong_repr_digest_is_422_and_the_end,
    a_right_repr_digest_is_sent_with_downloads, draft_cancelled_is_204_then_404,
]
# Each of these runs on its own server.
ELSEWHERE = {
    a_stalled_request_is_503_or_cut_off: {"PARLEY_UPLOADS_BODY_IDLE_TIMEOUT": "500ms"},
    a_full_disk_is_507: {"PARLEY_UPLOADS_DISK_HEADROOM": str(1 << 60)},
    a_request_that_waits_too_long_is_503_or_423: {
        "PARLEY_UPLOADS_TAKEOVER_WAIT": "1ms", "PARLEY_UPLOADS_COMMIT_BYTES": str(1 << 30),
        "PARLEY_UPLOADS_COMMIT_INTERVAL": "1h",
    },
    too_many_are_429: {"PARLEY_UPLOADS_MAX_OPEN_UPLOADS_PER_OWNER": "1"},
}


def here(score, server):
    for fact in SESSIONS:
        score.try_out(fact, Client(server))
    for version in VERSIONS:
        for fact in DRAFTS:
            score.try_out(fact, Draft(server, version), f", version {version}")
    score.try_out(another_draft_is_handled_as_the_last, Draft(server, 8))


if __name__ == "__main__":
    run_checks(__doc__, here, ELSEWHERE, Client)
