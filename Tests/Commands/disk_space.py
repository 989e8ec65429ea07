"""Imports without enough space: above the quota, and on a full disk. No acknowledged data is lost.

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
    """A server with another data folder."""
    other = Server(server.binary, server.folder, settings=settings)
    other.data = str(data)
    return other


def expect_refused(server, lines, code, statuses=(507,)):
    """Expects an import to be refused, also when it is repeated."""
    for _ in range(2):
        status, body = archive_request(server, "POST", "/import", lines)
        assert status in statuses and json.loads(body)["id"] == code, (status, body)


def expect_part(server, lines):
    """Expects that everything stored was in the import; returns the number of records with bytes."""
    status, exported = archive_request(server, "GET", "/export")
    assert status == 200, exported
    imported = set(lines.splitlines())
    for line in exported.splitlines():
        if json.loads(line)["record"] in ("bytes", "message"):
            assert line in imported, line
    return exported.count(b'{"record":"bytes"')


def expect_complete(server, lines, *conversation):
    """Expects that an import succeeds after refused ones, and that all its data is stored."""
    status, body = archive_request(server, "POST", "/import", lines)
    assert status == 200 and json.loads(body)["changed"] is True, body
    expect_imported(server, lines, *conversation, SIZES)


def quota(server, lines, *conversation):
    """Expects that an import above the quota stores only a part, and that it succeeds with a higher quota."""
    other = target(server, server.folder / "quota", PARLEY_UPLOADS_APPLICATION_QUOTA=str(sum(SIZES) - 1))
    try:
        other.start()
        expect_refused(other, lines, "quota_exceeded")
        assert 0 < expect_part(other, lines) < lines.count(b'{"record":"bytes"')
        assert other.stop() == 0
        other.settings["PARLEY_UPLOADS_APPLICATION_QUOTA"] = str(sum(SIZES))
        other.start()
        expect_complete(other, lines, *conversation)
        assert other.stop() == 0
    finally:
        other.kill()
    print("disk space: an import succeeds once its quota is raised")


def full_disk(server, lines, *conversation):
    """Imports over HTTP and by command onto a full disk, and again once space is free."""
    for name in ("http", "command"):
        disk = Disk(44 * MIB, 38 * MIB)
        other = target(server, disk.folder("data"), PARLEY_UPLOADS_DISK_HEADROOM="0")
        try:
            if name == "http":
                other.start()
                expect_refused(other, lines, "service_unavailable", (503, 507))
                disk.free_space()
                expect_part(other, lines)
                expect_complete(other, lines, *conversation)
            else:
                (server.folder / "lines").write_bytes(lines)
                call = ("import", "lines", "--data", other.data)
                Commands(server).expect_refused("full", *call)
                disk.free_space()
                assert Commands(server).output(*call).endswith("all records are durable\n")
                assert Commands(server).output(*call).endswith("nothing has changed\n")
                other.start()
                assert archive_request(other, "GET", "/export") == (200, lines)
                expect_conversation(other, *conversation, SIZES)
            assert other.stop() == 0
        finally:
            other.kill()
            disk.close()
    print("disk space: imports succeed over HTTP and by command once a full disk has space")


def main():
    with serving(sys.argv[1]) as server:
        server.start()
        conversation = fill_conversation(server, SIZES)
        status, lines = archive_request(server, "GET", "/export")
        assert status == 200 and server.stop() == 0
        quota(server, lines, *conversation)
        if os.geteuid() != 0:
            return print("disk space: skipped on a full disk: only root can mount a small disk")
        try:
            full_disk(server, lines, *conversation)
        except PermissionError as error:
            print(f"disk space: skipped on a full disk: no disk can be mounted: {error}")


main()
