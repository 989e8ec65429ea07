"""Hummingbird, answering one JSON from memory: the peer among Swift's servers.

It is built by the benchmark in a folder of its own and never enters the product's graph; where its
packages cannot be had, the row says so.
"""

import functools
import pathlib
import subprocess
import sys

from load import wrk
from processes import Process, free_port

SOURCE = pathlib.Path(__file__).with_name("Peer")


@functools.cache
def binary(folder):
    """The program, built for release; `None` when it cannot be."""
    command = ["swift", "build", "--package-path", str(SOURCE), "--scratch-path", str(folder), "-c", "release"]
    built = subprocess.run(command, capture_output=True, text=True)
    if built.returncode:
        print(f"Hummingbird is not measured:\n{(built.stdout + built.stderr)[-2000:]}", file=sys.stderr)
        return None
    return folder / "release" / "Peer"


def compare(options, folder, table, ours, what, path, body, headers):
    program = binary(options.peer)
    what = f"{what}, beside Hummingbird with static JSON"
    if program is None:
        table.say(what, "not built")
        return
    port = free_port()
    with Process([program, port, body], folder, port) as theirs:
        runs = ([], [])
        for number in range(options.rounds):
            pair = [(ours, runs[0]), (theirs, runs[1])]
            for server, results in pair if number % 2 == 0 else pair[::-1]:
                results.append(wrk(server, path, 64, options.seconds, headers=headers))
    table.compare(what, *runs)
