"""Compares with Hummingbird, a Swift server, which answers static JSON.

The benchmark builds it as a separate package, so that the product does not depend on it; if it cannot be built, the
row says so.
"""

import functools
import pathlib
import subprocess
import sys

from processes import Process, free_port

SOURCE = pathlib.Path(__file__).with_name("Peer")


@functools.cache
def binary(folder):
    """The release binary; `None` when it cannot be built."""
    command = ["swift", "build", "--package-path", str(SOURCE), "--scratch-path", str(folder), "-c", "release"]
    built = subprocess.run(command, capture_output=True, text=True)
    if built.returncode:
        print(f"Hummingbird is not measured:\n{(built.stdout + built.stderr)[-2000:]}", file=sys.stderr)
        return None
    return folder / "release" / "Peer"


def compare(options, folder, table, what, body, send_load):
    """Adds a row: the runs of `send_load` with Parley, and with Hummingbird and static JSON."""
    program = binary(options.peer)
    what = f"{what}, against Hummingbird with static JSON"
    if program is None:
        table.add_text(what, "not built")
        return
    port = free_port()
    with Process([program, port, body], folder, port) as theirs:
        table.add_comparison(what, *alternately(options, send_load, theirs))


def alternately(options, send_load, theirs):
    """The runs of both servers, in turn; without a peer `send_load` measures Parley."""
    runs = ([], [])
    for number in range(options.rounds):
        pair = [(None, runs[0]), (theirs, runs[1])]
        for server, results in pair if number % 2 == 0 else pair[::-1]:
            results.append(send_load(server))
    return runs
