#!/usr/bin/env python3
"""Mistakes of other upload servers that this server does not make (uploads §14), over plain sockets.

    known_mistakes.py --binary .build/debug/parley

Each function is named after its row; rows about the engine alone are in the tests of Uploads.
"""

import pathlib
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "Crash"))

from checklist import run_checks
from matrix import Client, Draft
from peer import Peer
from tus import CHUNKED, TOKEN_FIELD, Tus, chunked, content_of, expect, path

LARGE = 20_000_000


def stalled(client, place, line, fields, length, body):
    """A request whose sender is silent; returns once the server holds what came."""
    peer = Peer(client.server.port)
    peer.say(f"{line} {place}", fields + (("Content-Length", length),), body, framed=False)
    Tus(client.server).wait_for(place, len(body))
    return peer


def a_dead_connection_blocks_no_request(client):
    """A client that resumes, in any protocol, has the upload within 200 ms."""
    tus, draft = Tus(client.server), Draft(client.server, 6)
    for resume, accepted in (
        (lambda place: client.put(place, b"cd", "2-3/4"), 200),
        (lambda place: tus.patch(place, 2, b"cd"), 204),
        (lambda place: draft.append(place, 2, b"cd", True), 201),
        (lambda place: client.put(place, b"abcd"), 200),
    ):
        place = client.session(4)
        dead = stalled(client, place, "PUT", (), 4, b"ab")
        began = time.monotonic()
        answer = resume(place)
        expect(answer.status == accepted, answer)
        expect(time.monotonic() - began < 0.2, "within 200 ms")
        expect(dead.has_ended(), "the old connection is closed")


def a_stray_repeat_disturbs_no_upload(client):
    """What cannot fit is refused at once, and the running request continues."""
    tus, draft = Tus(client.server), Draft(client.server, 6)
    place = client.session(4)
    alive = stalled(client, place, "PUT", (), 4, b"ab")
    expect(tus.patch(place, 3, b"d").status == 409, "beyond")
    expect(draft.append(place, 4, b"", True).status == 409, "beyond")
    expect(client.put(place, b"d", "3-3/4")["Range"] == "bytes=0-1", "a gap")
    alive.send(b"cd")
    expect(alive.hear().status == 200, "it went on")


def downloads_wait_for_no_other(client):
    """Two at the same time, of which one does not read, and none waits for an upload."""
    answer = client.start(("X-Upload-Content-Length", LARGE))
    expect(client.put(path(answer), bytes(LARGE)).status == 200, "uploaded")
    place = "/" + client.download(content_of(answer)).split("/", 3)[3]
    slow = Peer(client.server.port)
    slow.say(f"GET {place}")
    stalled(client, client.session(4), "PUT", (), 4, b"ab")
    expect(len(client.ask(f"GET {place}").content) == LARGE, "the other one")
    expect(len(slow.hear().content) == LARGE, "and the slow one, in the end")


def a_refusal_is_heard_through_any_body(client):
    """The answer is there before the connection goes, however much of the body was not read."""
    tus, draft = Tus(client.server), Draft(client.server, 8)
    for place, line, fields, status in (
        (client.session(LARGE), "PUT", (("Content-Range", f"bytes 0-{LARGE - 1}/{LARGE + 1}"),), 400),
        (client.session(LARGE), "PATCH", (
            ("Tus-Resumable", "1.0.0"), ("Content-Type", "application/offset+octet-stream"), ("Upload-Offset", 1)), 409),
        (client.session(4), "PATCH", (
            ("Tus-Resumable", "1.0.0"), ("Content-Type", "application/offset+octet-stream"), ("Upload-Offset", 0)), 413),
        (client.session(LARGE), "PATCH", draft.number + (
            ("Content-Type", "application/partial-upload"), ("Upload-Offset", 1), ("Upload-Complete", "?1")), 409),
    ):
        peer = Peer(client.server.port)
        # Like clients that read only after they have sent everything.
        sender = threading.Thread(target=send_quietly, args=(peer, f"{line} {place}", fields))
        sender.start()
        answer = peer.hear()
        expect(answer.status == status and answer["Connection"] == "close", answer)
        sender.join()
        expect(tus.ask(f"HEAD {place}")["Upload-Offset"] == "0", "nothing is taken")


def send_quietly(peer, line, fields):
    try:
        peer.say(line, fields, bytes(LARGE))
    except OSError:
        pass  # It was closed behind the answer, as it said.


def a_range_counts_what_came(client):
    """A cut chunk is worth what arrived of it, and a query ends nothing."""
    place = client.session(10)
    peer = stalled(client, place, "PUT", (("Content-Range", "bytes 0-7/10"),), 8, b"abc")
    peer.close()
    answer = client.put(place, b"", "*/10")
    expect(answer.status == 308 and answer["Range"] == "bytes=0-2", answer)
    expect(client.put(place, b"", "*/3").status == 400, "another length")
    expect(client.put(place, b"defghij", "3-9/10").status == 200, "the end")
    unknown = client.session()
    expect(client.put(unknown, b"abc", "0-2/*").status == 308, "no end is said")
    expect(client.put(unknown, b"", "*/5").status == 308, "not there yet")
    expect(client.put(unknown, b"", "*/*")["Range"] == "bytes=0-2", "and open")
    expect(client.put(unknown, b"", "*/3").status == 200, "now it is")


def a_first_chunk_without_a_total_ends_nothing(client):
    place = client.session()
    expect(client.put(place, b"ab", "0-1/*").status == 308, "first")
    expect(client.put(place, chunked(b"cd"), "2-*/6", CHUNKED, framed=False).status == 308, "second")
    expect(client.put(place, b"ef", "4-5/6").status == 200, "last")


def overlapping_patches_wedge_nothing(client):
    """Of many at once with the same offset one is taken; the others are refused or cut off, and the upload continues."""
    tus = Tus(client.server)
    place = tus.created(("Upload-Length", 8))
    statuses = []
    senders = [threading.Thread(target=patch, args=(client, place, statuses)) for _ in range(8)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    expect(statuses.count(204) == 1 and set(statuses) <= {204, 409, None}, statuses)
    expect(tus.head(place)["Upload-Offset"] == "4", "once")
    expect(tus.patch(place, 4, b"efgh").status == 204, "and gone on from")


def patch(client, place, statuses):
    try:
        statuses.append(Tus(client.server).patch(place, 0, b"abcd").status)
    except OSError:
        statuses.append(None)


def a_head_is_never_4xx_for_what_passes(client):
    """While another one sends, and while what was sent is being finished."""
    tus = Tus(client.server)
    place = tus.created(("Upload-Length", LARGE))
    writer = Peer(client.server.port)
    writer.say(
        f"PATCH {place}", (
            ("Tus-Resumable", "1.0.0"), ("Content-Type", "application/offset+octet-stream"), ("Upload-Offset", 0),
            ("Content-Length", LARGE)), bytes(LARGE // 2), framed=False)
    held = tus.head(place)
    expect(held.status == 200, held)
    offset = int(held["Upload-Offset"])
    sender = threading.Thread(target=tus.patch, args=(place, offset, bytes(LARGE - offset)))
    sender.start()
    other = Tus(client.server)
    for _ in range(20):
        answer = other.ask(f"HEAD {place}")
        expect(answer.status == 200, answer)
    sender.join()
    expect(other.head(place)["Upload-Offset"] == str(LARGE), "all of it")


def a_wrong_total_is_wrong_though_its_bytes_are_there(client):
    place = client.session(4)
    expect(client.put(place, b"ab", "0-1/4").status == 308, "half")
    expect(client.put(place, b"", "*/2").status == 400, "another total")
    expect(client.put(place, b"", "0--1/0").status == 400, "none")
    tus = Tus(client.server)
    deferred = tus.created(("Upload-Defer-Length", 1), ("Content-Type", "application/offset+octet-stream"), body=b"abc")
    expect(tus.patch(deferred, 3, b"", ("Upload-Length", 2)).status == 400, "below what is held")
    expect(tus.head(deferred)["Upload-Defer-Length"] == "1", "still open")


def a_location_is_where_the_operator_says(client):
    """With `upload_public_base`, whatever the request says of itself."""
    lies = (("X-Forwarded-Proto", "http"), ("X-Forwarded-Host", "evil.example"), ("Forwarded", "host=evil.example"))
    for answer in (
        client.start(*lies), Tus(client.server).create(("Upload-Length", 4), *lies),
        Draft(client.server, 8).create(b"", False, *lies),
    ):
        expect(answer["Location"].startswith("https://up.example/uploads/"), answer)


def an_interim_answer_is_not_sent_through_a_proxy(client):
    """With 127.0.0.1 as a proxy, where `auto` says nothing before the answer."""
    draft = Draft(client.server, 6)
    answer = draft.ask(
        "POST /uploads", draft.number + (TOKEN_FIELD, ("Upload-Complete", "?0")), b"ab")
    expect(answer.status == 201, answer)


def a_body_is_not_held_in_memory(client):
    """However much of it has come, the server grows by less than 8 MiB."""
    status = pathlib.Path(f"/proc/{client.server.process.pid}/status")
    memory = lambda: next(int(line.split()[1]) for line in status.read_text().splitlines() if "RssAnon" in line)
    client.put(client.session(LARGE), bytes(LARGE))
    before = memory()
    place = client.session(8 * LARGE)
    writer = Peer(client.server.port)
    writer.say(f"PUT {place}", (("Content-Length", 8 * LARGE),), bytes(4 * LARGE), framed=False)
    expect(memory() - before < 8 << 10, f"{before} KiB have become {memory()}")
    writer.close()


MISTAKES = [
    a_dead_connection_blocks_no_request, a_stray_repeat_disturbs_no_upload, downloads_wait_for_no_other,
    a_refusal_is_heard_through_any_body, a_range_counts_what_came, a_first_chunk_without_a_total_ends_nothing,
    overlapping_patches_wedge_nothing, a_head_is_never_4xx_for_what_passes,
    a_wrong_total_is_wrong_though_its_bytes_are_there, a_body_is_not_held_in_memory,
]
# Each of these runs on its own server.
ELSEWHERE = {
    a_location_is_where_the_operator_says: {"PARLEY_UPLOADS_UPLOAD_PUBLIC_BASE": "https://up.example"},
    an_interim_answer_is_not_sent_through_a_proxy: {"PARLEY_HTTP_TRUSTED_PROXIES": "127.0.0.1"},
}


def here(score, server):
    for fact in MISTAKES:
        score.try_out(fact, Client(server))


if __name__ == "__main__":
    run_checks(__doc__, here, ELSEWHERE, Client)
