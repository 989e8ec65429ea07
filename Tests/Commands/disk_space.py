"""Imports without enough space: above the quota, and on a full disk; nothing acknowledged is lost.

usage: disk_space.py BINARY
"""

import json
import os
import pathlib
import sys

tests = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(tests / "Crash"), str(tests / "Support"), str(tests / "Commands")]
from small_disk import MIB, Disk
from archive_requests import archive_request, expect_imported
from callers import Commands
from server import Server, serving
from sample_conversation import expect_conversation, fill_conversation

SIZES = (70_000, 6_000_000, 1)


def target(server, data, **settings):
    """Another server, on a separate folder."""
    other = Server(server.binary, server.folder, settings=settings)
    other.data = str(data)
    return other


def refuse(server, lines, code, statuses=(507,)):
    """Expects an import to be refused, also when it is repeated."""
    for _ in range(2):
        status, said = archive_request(server, "POST", "/import", lines)
        assert status in statuses and json.loads(said)["id"] == code, (status, said)


def expect_some(server, lines):
    """Expects that only imported lines are there; returns how many of them hold bytes."""
    status, held = archive_request(server, "GET", "/export")
    assert status == 200, held
    came = set(lines.splitlines())
    for line in held.splitlines():
        if json.loads(line)["record"] in ("bytes", "message"):
            assert line in came, line
    return held.count(b'{"record":"bytes"')


def expect_whole(server, lines, *filled):
    status, said = archive_request(server, "POST", "/import", lines)
    assert status == 200 and json.loads(said)["changed"] is True, said
    expect_imported(server, lines, *filled, SIZES)


def quota(server, lines, *filled):
    """An import above the quota is refused after the part that fits, and succeeds once the quota is raised."""
    other = target(server, server.folder / "quota", PARLEY_UPLOADS_APPLICATION_QUOTA=str(sum(SIZES) - 1))
    try:
        other.start()
        refuse(other, lines, "quota_exceeded")
        assert 0 < expect_some(other, lines) < lines.count(b'{"record":"bytes"')
        assert other.stop() == 0
        other.settings["PARLEY_UPLOADS_APPLICATION_QUOTA"] = str(sum(SIZES))
        other.start()
        expect_whole(other, lines, *filled)
        assert other.stop() == 0
    finally:
        other.kill()
    print("disk space: an import succeeds once its quota is raised")


def full(server, lines, *filled):
    """Imports over HTTP and by command onto a full disk, and again once space is free."""
    for name in ("http", "command"):
        disk = Disk(44 * MIB, 36 * MIB)
        other = target(server, disk.folder("data"), PARLEY_UPLOADS_DISK_HEADROOM="0")
        try:
            if name == "http":
                other.start()
                refuse(other, lines, "service_unavailable", (503, 507))
                disk.free_space()
                expect_some(other, lines)
                expect_whole(other, lines, *filled)
            else:
                (server.folder / "lines").write_bytes(lines)
                call = ("import", "lines", "--data", other.data)
                Commands(server).refuses("full", *call)
                disk.free_space()
                assert Commands(server).says(*call).endswith("all of it durable\n")
                assert Commands(server).says(*call).endswith("nothing has changed\n")
                other.start()
                assert archive_request(other, "GET", "/export") == (200, lines)
                expect_conversation(other, *filled, SIZES)
            assert other.stop() == 0
        finally:
            other.kill()
            disk.close()
    print("disk space: imports succeed over HTTP and by command once a full disk has space")


def main():
    with serving(sys.argv[1]) as server:
        server.start()
        filled = fill_conversation(server, SIZES)
        status, lines = archive_request(server, "GET", "/export")
        assert status == 200 and server.stop() == 0
        quota(server, lines, *filled)
        if os.geteuid() != 0:
            return print("disk space: on a full disk left out, as only root can mount a small disk")
        try:
            full(server, lines, *filled)
        except PermissionError as refusal:
            print(f"disk space: on a full disk left out, as no disk can be mounted: {refusal}")


main()
