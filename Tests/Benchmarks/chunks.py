"""A file in chunks of 8 MiB by tuspy: Parley, which syncs each before it answers, against tuspyserver."""

import pathlib
import shutil
import subprocess
import sys

from processes import TOKEN, Process, free_port, parley
from transfers import Direction, make

PEER = pathlib.Path(__file__).with_name("tuspeer.py")
# Where `make bench` puts what PyPI has.
PYTHON = PEER.parents[2] / ".build/python/bin/python"
CHUNK = 8 << 20


def measure(options, folder, table):
    what = f"{options.bytes / 1e6:,.0f} MB by tuspy in chunks of 8 MiB, against tuspyserver"
    if reason := missing():
        print(f"{what}: left out: {reason}", file=sys.stderr)
        return table.say(what, "not there")
    film = make(folder / "film", options.bytes)
    port = free_port()
    place = folder / "tuspyserver"
    place.mkdir()
    with parley(options, folder) as ours, Process([PYTHON, PEER, "serve", port, place], folder, port) as theirs:
        way = Tuspy("by tuspy in chunks of 8 MiB, against tuspyserver")
        for number in range(options.rounds):
            turns = [(0, ours, (film, f"{ours.url}/uploads", CHUNK, TOKEN)), (1, theirs, (film, f"{theirs.url}/files", CHUNK))]
            for turn, server, words in turns[:: 1 if number % 2 == 0 else -1]:
                way.run(turn, server, *words)
            shutil.rmtree(place)
            place.mkdir()
        way.say(table, options.bytes, "")


class Tuspy(Direction):
    """The same upload by both servers, in turn."""

    def transfer(self, *words):
        command = [PYTHON, PEER, "upload", *words]
        return float(subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout)


def missing():
    """Why nothing can be measured; `None` when it can."""
    if not PYTHON.exists():
        return "`make bench` makes the environment it needs"
    found = subprocess.run([PYTHON, "-c", "import tusclient, tuspyserver, uvicorn"], capture_output=True, text=True)
    return found.stderr.strip().splitlines()[-1] if found.returncode else None
