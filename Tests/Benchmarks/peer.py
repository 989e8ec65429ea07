"""Hummingbird, answering one JSON from memory: the peer among Swift's servers.

It is built by the benchmark in a folder of its own and never enters the product's graph; where its
packages cannot be had, the row says so.
"""

import functools
import pathlib
import subprocess
import sys

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


def compare(options, folder, table, what, body, ask):
    """One row: what `ask` measures of us, and of it with static JSON."""
    program = binary(options.peer)
    what = f"{what}, beside Hummingbird with static JSON"
    if program is None:
        table.say(what, "not built")
        return
    port = free_port()
    with Process([program, port, body], folder, port) as theirs:
        table.compare(what, *alternately(options, ask, theirs))


def alternately(options, ask, theirs):
    """The runs of both, in turn; `ask` without a peer measures Parley."""
    runs = ([], [])
    for number in range(options.rounds):
        pair = [(None, runs[0]), (theirs, runs[1])]
        for server, results in pair if number % 2 == 0 else pair[::-1]:
            results.append(ask(server))
    return runs
