"""Full disks: of a data folder, of a PostgreSQL server's tables, and of its write-ahead log.

Each is a small file system in memory. Mounting it requires root; without root the test is skipped with a message.
Clients receive 503 and retry; no acknowledged data is lost. Service resumes without a restart once space is free,
except that a PostgreSQL server that could not write its log is started again.

usage: full_disk.py BINARY
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
from small_disk import MIB, Disk
from retrying import RetryingSender
from postgres import Postgres, schema_of
from server import serving

SENDERS = 6


def start_clients(server):
    clients = [RetryingSender(server, random.Random(number)) for number in range(SENDERS)]
    for client in clients: client.start()
    return clients


def wait_until(what, is_so, seconds=300):
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, f"{what}: not within {seconds} s"
        time.sleep(0.05)


def refused_requests(clients):
    return sum(client.refused for client in clients)


def acknowledged(clients):
    return sum(len(client.acknowledged) for client in clients)


def finish(server, clients, what):
    """Waits until the clients make progress again, and checks that all acknowledged data is stored."""
    before = acknowledged(clients)
    wait_until(f"{what}: the clients make progress", lambda: acknowledged(clients) > before + 100)
    found = Checks(server).finish(clients)
    print(f"full disk: {found} after {what}, {refused_requests(clients)} times 503")


def tables(binary, postgres):
    disk = Disk(14 * MIB, 6 * MIB)
    try:
        postgres.run(f"CREATE TABLESPACE small LOCATION '{disk.folder('tables')}'")
        url = postgres.schema()
        name = schema_of(url)
        with serving(binary, url + "%20-cdefault_tablespace%3Dsmall") as server:
            server.start()
            clients = start_clients(server)
            wait_until("the disk of the tables is full", lambda: refused_requests(clients) > 50)
            assert "53100" in server.log.read_text(), "the log does not say that the disk is full"
            disk.free_space()
            finish(server, clients, "a full disk of the tables")
            assert server.stop() == 0
        postgres.run(f"DROP SCHEMA {name} CASCADE")
        postgres.run("DROP TABLESPACE small")
    finally:
        disk.close()


def write_ahead_log(binary):
    # The log has 6 MiB before the first message.
    disk = Disk(28 * MIB, 12 * MIB)
    try:
        with contextlib.closing(Postgres(log=disk.folder("log"))) as postgres, \
                serving(binary, postgres.schema()) as server:
            server.start()
            clients = start_clients(server)
            wait_until("the disk of the log is full", lambda: refused_requests(clients) > 50)
            disk.free_space()
            # PostgreSQL may be restarting by itself; it is stopped first in either case.
            postgres.send("crash")
            postgres.send("start")
            # By default the log may have 512 MB, and would soon be full again.
            for statement in ("ALTER SYSTEM SET max_wal_size = '8MB'", "SELECT pg_reload_conf()", "CHECKPOINT"):
                postgres.run(statement)
            finish(server, clients, "a full disk of the write-ahead log")
            assert server.stop() == 0
    finally:
        disk.close()


def embedded(binary):
    # A checkpoint after the disk was full needs space for the database to grow; until then the write-ahead log grows
    # by all changed pages of each commit.
    disk = Disk(48 * MIB, 30 * MIB)
    try:
        with serving(binary) as server:
            server.data = str(disk.folder("data"))
            server.start()
            clients = start_clients(server)
            wait_until("the disk of the data folder is full", lambda: refused_requests(clients) > 50)
            disk.free_space()
            finish(server, clients, "a full disk of the data folder")
            assert server.stop() == 0
    finally:
        disk.close()


def main():
    if os.geteuid() != 0:
        return print("full disk: skipped: only root can mount a small disk")
    with contextlib.closing(Postgres()) as postgres:
        try:
            embedded(sys.argv[1])
            tables(sys.argv[1], postgres)
            write_ahead_log(sys.argv[1])
        except PermissionError as error:
            print(f"full disk: skipped: no disk can be mounted: {error}")


main()
