#!/usr/bin/env python3
"""Known mistakes of other upload servers, which this server must not make (uploads §14), over plain sockets.

    known_mistakes.py --binary .build/debug/parley

Each function checks one row of the table; rows about the engine alone are tested in UploadsTests.
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
from tus import CHUNKED, TOKEN_FIELD, Tus, chunked, content_of, expect, upload_path

LARGE = 20_000_000


def stalled(client, path, line, fields, length, body):
    """A request whose sender pauses; returns once the server has stored the sent bytes."""
    peer = Peer(client.server.port)
    peer.send_request(f"{line} {path}", fields + (("Content-Length", length),), body, framed=False)
    Tus(client.server).wait_for(path, len(body))
    return peer


def a_dead_connection_does_not_block_other_requests(client):
    """A client that resumes gets the upload long before the server ends the dead connection, in each protocol."""
    tus, draft = Tus(client.server), Draft(client.server, 6)
    for resume, accepted in (
        (lambda path: client.put(path, b"cd", "2-3/4"), 200),
        (lambda path: tus.patch(path, 2, b"cd"), 204),
        (lambda path: draft.append(path, 2, b"cd", True), 201),
        (lambda path: client.put(path, b"abcd"), 200),
    ):
        path = client.session(4)
        dead = stalled(client, path, "PUT", (), 4, b"ab")
        began = time.monotonic()
        answer = resume(path)
        expect(answer.status == accepted, answer)
        # The server ends a connection without any byte of a body after a minute.
        expect(time.monotonic() - began < 30, "longer than 30 s")
        expect(dead.has_ended(), "the old connection is closed")


def a_request_at_a_wrong_offset_does_not_interrupt_a_running_one(client):
    """A request at a wrong offset is refused at once, and the running request continues."""
    tus, draft = Tus(client.server), Draft(client.server, 6)
    path = client.session(4)
    alive = stalled(client, path, "PUT", (), 4, b"ab")
    expect(tus.patch(path, 3, b"d").status == 409, "beyond")
    expect(draft.append(path, 4, b"", True).status == 409, "beyond")
    expect(client.put(path, b"d", "3-3/4")["Range"] == "bytes=0-1", "a gap")
    alive.send(b"cd")
    expect(alive.read_answer().status == 200, "the running request continued")


def downloads_do_not_wait_for_other_requests(client):
    """Of two concurrent downloads one does not read; neither waits for the other one or for an upload."""
    answer = client.start(("X-Upload-Content-Length", LARGE))
    expect(client.put(upload_path(answer), bytes(LARGE)).status == 200, "uploaded")
    path = "/" + client.download(content_of(answer)).split("/", 3)[3]
    slow = Peer(client.server.port)
    slow.send_request(f"GET {path}")
    stalled(client, client.session(4), "PUT", (), 4, b"ab")
    expect(len(client.send(f"GET {path}").content) == LARGE, "the fast download")
    expect(len(slow.read_answer().content) == LARGE, "the slow download")


def a_refusal_arrives_before_the_body_is_read(client):
    """The answer arrives before the connection closes, however much of the body is unread."""
    tus, draft = Tus(client.server), Draft(client.server, 8)
    for path, line, fields, status in (
        (client.session(LARGE), "PUT", (("Content-Range", f"bytes 0-{LARGE - 1}/{LARGE + 1}"),), 400),
        (client.session(LARGE), "PATCH", (
            ("Tus-Resumable", "1.0.0"), ("Content-Type", "application/offset+octet-stream"), ("Upload-Offset", 1)), 409),
        (client.session(4), "PATCH", (
            ("Tus-Resumable", "1.0.0"), ("Content-Type", "application/offset+octet-stream"), ("Upload-Offset", 0)), 413),
        (client.session(LARGE), "PATCH", draft.number + (
            ("Content-Type", "application/partial-upload"), ("Upload-Offset", 1), ("Upload-Complete", "?1")), 409),
    ):
        peer = Peer(client.server.port)
        # Sends everything before it reads, as many clients do.
        sender = threading.Thread(target=send_quietly, args=(peer, f"{line} {path}", fields))
        sender.start()
        answer = peer.read_answer()
        expect(answer.status == status and answer["Connection"] == "close", answer)
        sender.join()
        expect(tus.send(f"HEAD {path}")["Upload-Offset"] == "0", "no byte is stored")


def send_quietly(peer, line, fields):
    try:
        peer.send_request(line, fields, bytes(LARGE))
    except OSError:
        pass  # Closed after the answer, as announced.


def a_cut_chunk_keeps_its_received_bytes(client):
    """The received bytes of a cut chunk are stored, and a status query does not complete the upload."""
    path = client.session(10)
    peer = stalled(client, path, "PUT", (("Content-Range", "bytes 0-7/10"),), 8, b"abc")
    peer.close()
    answer = client.put(path, b"", "*/10")
    expect(answer.status == 308 and answer["Range"] == "bytes=0-2", answer)
    expect(client.put(path, b"", "*/3").status == 400, "another length")
    expect(client.put(path, b"defghij", "3-9/10").status == 200, "the end")
    unknown = client.session()
    expect(client.put(unknown, b"abc", "0-2/*").status == 308, "without a total")
    expect(client.put(unknown, b"", "*/5").status == 308, "less than the total")
    expect(client.put(unknown, b"", "*/*")["Range"] == "bytes=0-2", "still open")
    expect(client.put(unknown, b"", "*/3").status == 200, "complete")


def a_chunk_without_a_total_does_not_complete_the_upload(client):
    path = client.session()
    expect(client.put(path, b"ab", "0-1/*").status == 308, "first")
    expect(client.put(path, chunked(b"cd"), "2-*/6", CHUNKED, framed=False).status == 308, "second")
    expect(client.put(path, b"ef", "4-5/6").status == 200, "last")


def concurrent_patches_do_not_block_the_upload(client):
    """Of concurrent patches with the same offset one is accepted; the others are refused or cut off."""
    tus = Tus(client.server)
    path = tus.created(("Upload-Length", 8))
    statuses = []
    senders = [threading.Thread(target=patch, args=(client, path, statuses)) for _ in range(8)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    expect(statuses.count(204) == 1 and set(statuses) <= {204, 409, None}, statuses)
    expect(tus.head(path)["Upload-Offset"] == "4", "once")
    expect(tus.patch(path, 4, b"efgh").status == 204, "continued")


def patch(client, path, statuses):
    try:
        statuses.append(Tus(client.server).patch(path, 0, b"abcd").status)
    except OSError:
        statuses.append(None)


def a_head_is_200_while_an_upload_runs_or_is_being_finished(client):
    """`HEAD` is not blocked by a request that sends, nor by the finishing of the upload."""
    tus = Tus(client.server)
    path = tus.created(("Upload-Length", LARGE))
    writer = Peer(client.server.port)
    writer.send_request(
        f"PATCH {path}", (
            ("Tus-Resumable", "1.0.0"), ("Content-Type", "application/offset+octet-stream"), ("Upload-Offset", 0),
            ("Content-Length", LARGE)), bytes(LARGE // 2), framed=False)
    held = tus.head(path)
    expect(held.status == 200, held)
    offset = int(held["Upload-Offset"])
    sender = threading.Thread(target=tus.patch, args=(path, offset, bytes(LARGE - offset)))
    sender.start()
    other = Tus(client.server)
    for _ in range(20):
        answer = other.send(f"HEAD {path}")
        expect(answer.status == 200, answer)
    sender.join()
    expect(other.head(path)["Upload-Offset"] == str(LARGE), "complete")


def a_total_other_than_the_announced_one_is_400(client):
    path = client.session(4)
    expect(client.put(path, b"ab", "0-1/4").status == 308, "first half")
    expect(client.put(path, b"", "*/2").status == 400, "another total")
    expect(client.put(path, b"", "0--1/0").status == 400, "none")
    tus = Tus(client.server)
    deferred = tus.created(("Upload-Defer-Length", 1), ("Content-Type", "application/offset+octet-stream"), body=b"abc")
    expect(tus.patch(deferred, 3, b"", ("Upload-Length", 2)).status == 400, "below what is held")
    expect(tus.head(deferred)["Upload-Defer-Length"] == "1", "still open")


def a_location_starts_with_upload_public_base(client):
    """With `upload_public_base`, the fields of a request change no Location."""
    forged = (("X-Forwarded-Proto", "http"), ("X-Forwarded-Host", "evil.example"), ("Forwarded", "host=evil.example"))
    for answer in (
        client.start(*forged), Tus(client.server).create(("Upload-Length", 4), *forged),
        Draft(client.server, 8).create(b"", False, *forged),
    ):
        expect(answer["Location"].startswith("https://up.example/uploads/"), answer)


def an_interim_answer_is_not_sent_through_a_proxy(client):
    """With 127.0.0.1 as a proxy, for which `auto` sends no interim answer."""
    draft = Draft(client.server, 6)
    answer = draft.send(
        "POST /uploads", draft.number + (TOKEN_FIELD, ("Upload-Complete", "?0")), b"ab")
    expect(answer.status == 201, answer)


def a_body_is_not_held_in_memory(client):
    """However much of a body has arrived, memory grows by less than 8 MiB."""
    status = pathlib.Path(f"/proc/{client.server.process.pid}/status")
    memory = lambda: next(int(line.split()[1]) for line in status.read_text().splitlines() if "RssAnon" in line)
    client.put(client.session(LARGE), bytes(LARGE))
    before = memory()
    path = client.session(8 * LARGE)
    writer = Peer(client.server.port)
    writer.send_request(f"PUT {path}", (("Content-Length", 8 * LARGE),), bytes(4 * LARGE), framed=False)
    expect(memory() - before < 8 << 10, f"memory grew from {before} to {memory()} KiB")
    writer.close()


MISTAKES = [
    a_dead_connection_does_not_block_other_requests, a_request_at_a_wrong_offset_does_not_interrupt_a_running_one, downloads_do_not_wait_for_other_requests,
    a_refusal_arrives_before_the_body_is_read, a_cut_chunk_keeps_its_received_bytes, a_chunk_without_a_total_does_not_complete_the_upload,
    concurrent_patches_do_not_block_the_upload, a_head_is_200_while_an_upload_runs_or_is_being_finished,
    a_total_other_than_the_announced_one_is_400, a_body_is_not_held_in_memory,
]
# Each of these runs on its own server.
OWN_SERVER_CHECKS = {
    a_location_starts_with_upload_public_base: {"PARLEY_UPLOADS_UPLOAD_PUBLIC_BASE": "https://up.example"},
    an_interim_answer_is_not_sent_through_a_proxy: {"PARLEY_HTTP_TRUSTED_PROXIES": "127.0.0.1"},
}


def shared_checks(results, server):
    for check in MISTAKES:
        results.run(check, Client(server))


if __name__ == "__main__":
    run_checks(__doc__, shared_checks, OWN_SERVER_CHECKS, Client)
