#!/usr/bin/env python3
"""Runs the built server in a temporary folder until its standard input ends.

It reads one line, BINARY NAME=VALUE…, with environment variables at the end, and prints `ready PORT`. Then it reads
commands, one on each line, and answers each: `kill` sends SIGKILL (`killed`), `start` starts it again on the same port and
folder (`ready PORT`), `replace` kills it and starts an empty one on the same port (`ready PORT`), `backup` backs it up while
it runs (`saved`), and `restore` kills it and starts what was backed up on the same port (`ready PORT`).
"""

import pathlib
import shutil
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "Crash"))
from server import serving


def main():
    binary, *settings = sys.stdin.readline().split()
    settings = {"PARLEY_API_DEV_LOGIN": "true"} | dict(setting.split("=", 1) for setting in settings)
    with serving(binary, settings=settings) as server:
        server.start()
        print("ready", server.port, flush=True)
        for line in sys.stdin:
            command = line.strip()
            if command == "kill":
                server.kill()
                print("killed", flush=True)
            elif command == "replace":
                server.kill()
                shutil.rmtree(server.data)
                server.start()
                print("ready", server.port, flush=True)
            elif command == "backup":
                run(server, "backup", "saved", "--data", server.data)
                print("saved", flush=True)
            elif command == "restore":
                server.kill()
                shutil.rmtree(server.data)
                run(server, "restore", "saved", "--data", server.data)
                server.start()
                print("ready", server.port, flush=True)
            elif command == "start":
                server.start()
                print("ready", server.port, flush=True)


def run(server, *arguments):
    """Runs a command of the binary in the folder of the server."""
    subprocess.run([server.binary, *arguments], cwd=server.folder, stdout=subprocess.DEVNULL, check=True)


main()
