#!/usr/bin/env python3
"""Connects and disconnects a client of `parley chat` many times, and checks that its memory, descriptors and threads stay.

    chat_cycles.py --binary BINARY [--cycles 60]

In each cycle the client is offline, then online, and sends a line; in every tenth one the server is killed and started
again, and in every third one the other user sends a line too. 5,760 cycles are those of 48 hours in which a connection
breaks every 30 seconds. What the client has after a fifth of the cycles is compared with what it has at the end.
"""

import argparse
import pathlib
import tempfile

from chat import Chat
from server import serving

# What a client may have more at the end: a connection that is being made, and lines that it has printed.
MORE_DESCRIPTORS = 8
MORE_THREADS = 4
MORE_KIB_PER_CYCLE = 2
MORE_KIB = 16 << 10


def resources(chat):
    status = pathlib.Path(f"/proc/{chat.process.pid}/status").read_text()
    lines = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    descriptors = len(list(pathlib.Path(f"/proc/{chat.process.pid}/fd").iterdir()))
    return descriptors, int(lines["Threads"]), int(lines["VmRSS"].split()[0])


def cycle(number, ana, bo, server):
    ana.write("/offline")
    ana.wait_for(r"^\* offline$")
    if number % 10 == 9:
        server.kill()
        server.start()
    ana.write(f"line {number}")
    ana.write("/online")
    ana.wait_for(r"^\* connected$")
    if number % 3 == 0:
        bo.write(f"line {number}")
        ana.wait_for(rf"^\d+ bo: line {number}$")
    ana.write("/queue")
    while ana.wait_for(r"^\* (\d+) messages wait to be sent$")[1] != "0":
        ana.write("/queue")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", required=True)
    parser.add_argument("--cycles", type=int, default=60)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="parley-chat-") as folder, \
            serving(options.binary, settings={"PARLEY_API_DEV_LOGIN": "true"}) as server:
        server.start()
        ana, bo = [Chat(options.binary, server, user, pathlib.Path(folder)) for user in ("ana", "bo")]
        for chat in (ana, bo):
            chat.start()
            chat.wait_for(r"^\* connected$")
        ana.write("/new bo")
        bo.write("/new ana")
        before = None
        for number in range(options.cycles):
            cycle(number, ana, bo, server)
            if number == options.cycles // 5:
                before = resources(ana)
        after = resources(ana)
        print(f"{options.cycles} cycles: descriptors, threads and KiB {before} before, {after} after")
        limits = (MORE_DESCRIPTORS, MORE_THREADS, MORE_KIB + options.cycles * MORE_KIB_PER_CYCLE)
        for name, old, new, limit in zip(("descriptors", "threads", "KiB"), before, after, limits):
            if new > old + limit:
                raise SystemExit(f"{new} {name} instead of {old}")
        for chat in (ana, bo):
            chat.quit()


main()
