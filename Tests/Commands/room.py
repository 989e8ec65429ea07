"""Imports that find no room: more than the quota, and a full disk; nothing that was told durable is lost.

usage: room.py BINARY
"""

import json
import os
import pathlib
import sys

tests = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(tests / "Crash"), str(tests / "Support"), str(tests / "Commands")]
from disk import MIB, Disk
from lines import expect_there, moved
from people import Commands
from server import Server, serving
from talk import expect_talk, talk

SIZES = (70_000, 6_000_000, 1)


def target(server, data, **settings):
    """Another server, on a folder that it has to itself."""
    other = Server(server.binary, server.folder, settings=settings)
    other.data = str(data)
    return other


def refuse(server, lines, code, statuses=(507,)):
    """An import that is refused, and refused again when it is repeated."""
    for _ in range(2):
        status, said = moved(server, "POST", "/import", lines)
        assert status in statuses and json.loads(said)["id"] == code, (status, said)


def expect_some(server, lines):
    """Part of the lines is there, and nothing else but what counts them; how many of them are bytes."""
    status, held = moved(server, "GET", "/export")
    assert status == 200, held
    came = set(lines.splitlines())
    for line in held.splitlines():
        if json.loads(line)["record"] in ("bytes", "message"):
            assert line in came, line
    return held.count(b'{"record":"bytes"')


def expect_whole(server, lines, *talked):
    status, said = moved(server, "POST", "/import", lines)
    assert status == 200 and json.loads(said)["changed"] is True, said
    expect_there(server, lines, *talked, SIZES)


def quota(server, lines, *talked):
    """Refused behind what fits, and whole once the quota is as large as the contents."""
    other = target(server, server.folder / "quota", PARLEY_UPLOADS_APPLICATION_QUOTA=str(sum(SIZES) - 1))
    try:
        other.start()
        refuse(other, lines, "quota_exceeded")
        assert 0 < expect_some(other, lines) < lines.count(b'{"record":"bytes"')
        assert other.stop() == 0
        other.settings["PARLEY_UPLOADS_APPLICATION_QUOTA"] = str(sum(SIZES))
        other.start()
        expect_whole(other, lines, *talked)
        assert other.stop() == 0
    finally:
        other.kill()
    print("room: an import within its quota, once that is raised")


def full(server, lines, *talked):
    """Over HTTP and by command onto a disk that is too small until something is taken away."""
    for name in ("http", "command"):
        disk = Disk(44 * MIB, 36 * MIB)
        other = target(server, disk.folder("data"), PARLEY_UPLOADS_DISK_HEADROOM="0")
        try:
            if name == "http":
                other.start()
                refuse(other, lines, "service_unavailable", (503, 507))
                disk.make_room()
                expect_some(other, lines)
                expect_whole(other, lines, *talked)
            else:
                (server.folder / "lines").write_bytes(lines)
                call = ("import", "lines", "--data", other.data)
                Commands(server).refuses("full", *call)
                disk.make_room()
                assert Commands(server).says(*call).endswith("all of it durable\n")
                assert Commands(server).says(*call).endswith("nothing has changed\n")
                other.start()
                assert moved(other, "GET", "/export") == (200, lines)
                expect_talk(other, *talked, SIZES)
            assert other.stop() == 0
        finally:
            other.kill()
            disk.close()
    print("room: imports onto a full disk, over HTTP and by command, once there is room")


def main():
    with serving(sys.argv[1]) as server:
        server.start()
        talked = talk(server, SIZES)
        status, lines = moved(server, "GET", "/export")
        assert status == 200 and server.stop() == 0
        quota(server, lines, *talked)
        if os.geteuid() != 0:
            return print("room: on a full disk left out, as only root can mount a small disk")
        try:
            full(server, lines, *talked)
        except PermissionError as refusal:
            print(f"room: on a full disk left out, as no disk can be mounted: {refusal}")


main()
