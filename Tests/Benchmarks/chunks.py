"""An upload in chunks of 8 MiB by tuspy: Parley, which syncs each chunk before it answers, against tuspyserver."""

import pathlib
import shutil
import subprocess
import sys

from processes import TOKEN, Process, free_port, parley
from transfers import Direction, make

PEER = pathlib.Path(__file__).with_name("tuspeer.py")
# The virtual environment with PyPI packages that `make bench` creates.
PYTHON = PEER.parents[2] / ".build/python/bin/python"
CHUNK = 8 << 20


def measure(options, folder, table):
    what = f"{options.bytes / 1e6:,.0f} MB by tuspy in chunks of 8 MiB, against tuspyserver"
    if reason := missing():
        print(f"{what}: skipped: {reason}", file=sys.stderr)
        return table.add_text(what, "not installed")
    file = make(folder / "file", options.bytes)
    port = free_port()
    path = folder / "tuspyserver"
    path.mkdir()
    with parley(options, folder) as ours, Process([PYTHON, PEER, "serve", port, path], folder, port) as theirs:
        direction = Tuspy("by tuspy in chunks of 8 MiB, against tuspyserver")
        for number in range(options.rounds):
            turns = [(0, ours, (file, f"{ours.url}/uploads", CHUNK, TOKEN)), (1, theirs, (file, f"{theirs.url}/files", CHUNK))]
            for turn, server, arguments in turns[:: 1 if number % 2 == 0 else -1]:
                direction.run(turn, server, *arguments)
            shutil.rmtree(path)
            path.mkdir()
        direction.add_rows(table, options.bytes, "")


class Tuspy(Direction):
    """Uploads by tuspy; the duration of each is measured within the client."""

    def transfer(self, *arguments):
        command = [PYTHON, PEER, "upload", *arguments]
        return float(subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout)


def missing():
    """Why the benchmark cannot run; `None` when it can."""
    if not PYTHON.exists():
        return "`make bench` creates the environment that it needs"
    found = subprocess.run([PYTHON, "-c", "import tusclient, tuspyserver, uvicorn"], capture_output=True, text=True)
    return found.stderr.strip().splitlines()[-1] if found.returncode else None
