#!/usr/bin/env python3
"""Runs servers on one PostgreSQL server and one bucket until its standard input ends, and then removes their files.

It reads one line, BINARY COUNT URL NAME=VALUE…, with environment variables at the end. Once the servers are ready it
prints one of

    ready PORT…
    unavailable: REASON
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
            return print(f"unavailable: {reason}", flush=True)
        print("ready", *(server.port for server in servers), flush=True)
        sys.stdin.read()


main()
