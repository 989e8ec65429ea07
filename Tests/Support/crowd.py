#!/usr/bin/env python3
"""Keeps servers of Parley at one PostgreSQL server and one bucket until its standard input ends; then nothing of
them is left.

It is told one line, BINARY COUNT URL NAME=VALUE…, of which the last are variables of their environment, and answers
with their ports once they are ready:

    there PORT…
    not there REASON
"""

import contextlib
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "Crash"))
from server import serving


def main():
    binary, count, url, *settings = sys.stdin.readline().split()
    settings = dict(setting.split("=", 1) for setting in settings)
    with contextlib.ExitStack() as stack:
        crowd = [stack.enter_context(serving(binary, url, settings)) for _ in range(int(count))]
        try:
            for server in crowd: server.start(wait=False)
            for server in crowd: server.wait_until_ready()
        except (OSError, RuntimeError) as reason:
            sys.stderr.write(crowd[0].last_words())
            return print(f"not there: {reason}", flush=True)
        print("there", *(server.port for server in crowd), flush=True)
        sys.stdin.read()


main()
