#!/usr/bin/env python3
"""Runs servers on one PostgreSQL server and one bucket until its standard input ends, and then removes all their
files.

It reads one line, BINARY COUNT URL NAME=VALUE…, the last of which are environment variables, and answers with the
ports once the servers are ready:

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
        servers = [stack.enter_context(serving(binary, url, settings)) for _ in range(int(count))]
        try:
            for server in servers: server.start(wait=False)
            for server in servers: server.wait_until_ready()
        except (OSError, RuntimeError) as reason:
            sys.stderr.write(servers[0].last_log_lines())
            return print(f"not there: {reason}", flush=True)
        print("there", *(server.port for server in servers), flush=True)
        sys.stdin.read()


main()
