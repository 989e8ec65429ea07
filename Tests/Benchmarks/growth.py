"""What a request costs in larger and larger applications, on both engines: as a table and as a plotted picture.

One user takes part in every conversation, and one conversation has all the messages: as many of each as the
application is large. SQLite is filled through the API, and PostgreSQL has the same rows by `parley migrate`, which takes
a fraction of the time. A step may not grow faster than the logarithm of the size, which is what an index costs. Sending
comes last, because it is what makes the small ones larger.
"""

import contextlib
import itertools
import math
import pathlib
import subprocess
import sys

from flatness import in_turn, list_messages, look_up, populate, send
from load import wrk
from messages import CONNECTIONS, HEADERS
from plot import Plot
from processes import APPLICATION, parley

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "Support"))
from postgres import Postgres


def unread(server, chat, size, seconds, number):
    return wrk(server, f"/apps/{APPLICATION}/users/bo/badge", CONNECTIONS, seconds, headers=HEADERS)


QUESTIONS = {
    "List 100 messages": list_messages, "Look a distinct conversation up": look_up,
    "Unread messages of a user": unread, "Send a message": send,
}


def measure(options, folder, table):
    sizes = [10 ** power for power in range(3, 8) if 10 ** power <= options.size]
    plot = Plot("microseconds a request, 64 connections", "messages and conversations", sizes)
    places = [folder / str(size) for size in sizes]
    chats = [grow(options, place, size) for place, size in zip(places, sizes)]
    # Enough for the pages of all sizes, as a file has them in the page cache.
    with contextlib.closing(Postgres(buffers="4GB")) as postgres:
        schemas = [postgres.schema() for _ in sizes]
        for place, schema in zip(places, schemas): migrate(options, place, schema)
        # Statistics are updated now rather than within minutes by itself: nothing is measured meanwhile.
        for chore in ("VACUUM", "CHECKPOINT"): postgres.run(chore)
        for engine, settings in {
            "SQLite": [{} for _ in sizes],
            "PostgreSQL": [{"PARLEY_DATABASE_URL": schema} for schema in schemas],
        }.items():
            with contextlib.ExitStack() as stack:
                servers = [
                    stack.enter_context(parley(options, place, **own)) for place, own in zip(places, settings)]
                compare(options, table, plot, engine, servers, chats, sizes)
    if options.figures:
        options.figures.mkdir(parents=True, exist_ok=True)
        plot.write(options.figures / "growth.png")


def grow(options, folder, size):
    """Creates an application of a size in a data folder and stops the server; returns its conversation."""
    folder.mkdir()
    with parley(options, folder) as server: return populate(server, size)


def migrate(options, folder, schema):
    command = [options.build / "parley", "migrate", "--from", f"sqlite:{folder / 'data'}", "--to", schema]
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=True)


def compare(options, table, plot, engine, servers, chats, sizes):
    """A server of each size, all asked in turn; of each its best round, as whatever else a machine does only adds."""
    for what, ask in QUESTIONS.items():
        runs = in_turn(options, ask, servers, chats, sizes)
        costs = [1e6 / max(1e-9, *(run.rate for run in own)) for own in runs]
        show(table, f"{what}, {engine}", sizes, costs)
        plot.add(f"{what}, {engine}", costs)


def show(table, what, sizes, costs):
    """The worst step is told as a share of what the logarithm allows it; beyond 1 it has grown faster."""
    steps = [
        after / before / (math.log(large) / math.log(small))
        for (small, large), (before, after) in zip(itertools.pairwise(sizes), itertools.pairwise(costs))]
    table.say(
        f"{what}, at {' / '.join(f'{size:,}' for size in sizes)}", " / ".join(f"{cost:,.0f}" for cost in costs) + " µs",
        "log n", f"**{max(steps, default=1):.2f}**")
