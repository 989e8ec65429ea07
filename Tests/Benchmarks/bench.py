#!/usr/bin/env python3
"""Measures Parley and other servers on the same machine, and prints one table.

Every comparison is interleaved: each round runs every server in turn, and the medians of the rounds
are shown, so that other load affects all servers alike. The ratios can be compared between machines, the
absolute numbers cannot. The load generator shares the cores with the servers.
"""

import argparse
import pathlib
import shutil
import signal
import sys
import tempfile

import chunks
import consoles
import engines
import flatness
import growth
import memory
import messages
import import_export
import kit
import peers
import plain
import secure
import start
import statics
import streams
import transfers
import users
import webhooks
from table import Table

PARTS = {
    "plain": plain, "secure": secure, "statics": statics, "memory": memory, "messages": messages, "engines": engines,
    "streams": streams, "webhooks": webhooks,
    "flatness": flatness, "growth": growth, "import": import_export, "transfers": transfers, "chunks": chunks, "start": start,
    "peers": peers, "users": users, "kit": kit,
    "consoles": consoles,
}
# Run only with --only: growth takes over an hour and measures more sizes than flatness, import takes minutes, and
# peers needs packages that only `make bench PEERS=1` installs.
LONG = {"growth", "import", "peers"}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, type=pathlib.Path, help="folder of the binaries")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--bytes", type=int, default=1 << 30, help="size of the transferred file")
    parser.add_argument("--size", type=int, default=1_000_000, help="messages and conversations of a large application")
    parser.add_argument("--streams", type=int, default=1000, help="live event streams")
    parser.add_argument("--stream-rate", type=int, default=1000, help="messages sent a second while streams are open")
    parser.add_argument("--peer", type=pathlib.Path, help="folder in which Hummingbird is built; by default beside the binaries")
    parser.add_argument("--figures", type=pathlib.Path, help="folder for plots")
    parser.add_argument("--only", choices=PARTS)
    return parser.parse_args()


def main():
    options = arguments()
    # Ends through the code that ends the servers.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))
    options.build = options.build.resolve()
    options.peer = (options.peer or options.build.parent / "peer").resolve()
    for tool in ["wrk", "nginx", "curl", "openssl", "strip"]:
        if shutil.which(tool) is None:
            sys.exit(f"{tool} is missing; `make bench` installs it")
    table = Table()
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as folder:
        for name, part in PARTS.items():
            if name == options.only or options.only is None and name not in LONG:
                path = pathlib.Path(folder) / name
                path.mkdir()
                part.measure(options, path, table)
    if table.rows: print(table)


if __name__ == "__main__":
    main()
