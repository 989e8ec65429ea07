"""Full disks: that of a data folder, that of a PostgreSQL server's tables, and that of its write-ahead log.

Each is a real disk, a small one in memory, for which the test has to be root; else it says so and is left out.
Clients are told 503 and come back; nothing acknowledged is lost. All goes on by itself once there is room, and where
that log could not be written once the server, which gives up then, is started again.

usage: full.py BINARY
"""

import contextlib
import os
import pathlib
import random
import sys
import time

tests = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(tests / "Crash"), str(tests / "Support"), str(tests / "Commands")]
from checks import Checks
from disk import MIB, Disk
from patient import PatientSender
from postgres import Postgres
from server import serving

SENDERS = 6


def hire(server):
    crew = [PatientSender(server, random.Random(number)) for number in range(SENDERS)]
    for client in crew: client.start()
    return crew


def wait_until(what, is_so, seconds=120):
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, f"{what}: not within {seconds} s"
        time.sleep(0.05)


def refusals(crew):
    return sum(client.refusals for client in crew)


def acknowledged(crew):
    return sum(len(client.acknowledged) for client in crew)


def dismiss(server, crew, what):
    """They get on again; then everything they were told is there."""
    before = acknowledged(crew)
    wait_until(f"{what}: they get on", lambda: acknowledged(crew) > before + 100)
    found = Checks(server).dismiss(crew)
    print(f"full disk: {found} through {what}, {refusals(crew)} times 503")


def tables(binary, postgres):
    disk = Disk(24 * MIB, 6 * MIB)
    try:
        postgres.run(f"CREATE TABLESPACE small LOCATION '{disk.folder('tables')}'")
        url = postgres.schema()
        name = url.rsplit("D", 1)[1]
        with serving(binary, url + "%20-cdefault_tablespace%3Dsmall") as server:
            server.start()
            crew = hire(server)
            wait_until("the disk of the tables is full", lambda: refusals(crew) > 50)
            assert "53100" in server.log.read_text(), "the log does not say that the disk is full"
            disk.make_room()
            dismiss(server, crew, "a full disk of the tables")
            assert server.stop() == 0
        postgres.run(f"DROP SCHEMA {name} CASCADE")
        postgres.run("DROP TABLESPACE small")
    finally:
        disk.close()


def log(binary):
    disk = Disk(48 * MIB, 16 * MIB)
    try:
        with contextlib.closing(Postgres(log=disk.folder("log"))) as postgres, \
                serving(binary, postgres.schema()) as server:
            server.start()
            crew = hire(server)
            wait_until("the disk of the log is full", lambda: refusals(crew) > 50)
            disk.make_room()
            # It may still be at its own attempts to come back.
            postgres.tell("crash")
            postgres.tell("start")
            dismiss(server, crew, "a full disk of the write-ahead log")
            assert server.stop() == 0
    finally:
        disk.close()


def embedded(binary):
    disk = Disk(24 * MIB, 6 * MIB)
    try:
        with serving(binary) as server:
            server.data = str(disk.folder("data"))
            server.start()
            crew = hire(server)
            wait_until("the disk of the data folder is full", lambda: refusals(crew) > 50)
            disk.make_room()
            dismiss(server, crew, "a full disk of the data folder")
            assert server.stop() == 0
    finally:
        disk.close()


def main():
    if os.geteuid() != 0:
        return print("full disk: left out, as only root can mount a small disk")
    with contextlib.closing(Postgres()) as postgres:
        try:
            embedded(sys.argv[1])
            tables(sys.argv[1], postgres)
            log(sys.argv[1])
        except PermissionError as refusal:
            print(f"full disk: left out, as no disk can be mounted: {refusal}")


main()
