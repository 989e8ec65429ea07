"""What a request costs in larger and larger applications, on both engines: as a table and as a plotted picture.

One user takes part in every conversation, and one conversation has all the messages: as many of each as the
application is large. A step may not grow faster than the logarithm of that, which is what an index costs. Sending
comes last, because it is what makes the small ones larger.
"""

import contextlib
import itertools
import math
import pathlib
import statistics
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
    grow(options, folder / "SQLite", table, plot, sizes)
    # Enough for the pages of all sizes, as a file has them in the page cache.
    with contextlib.closing(Postgres(buffers="4GB")) as postgres:
        grow(options, folder / "PostgreSQL", table, plot, sizes, postgres)
    if options.figures:
        options.figures.mkdir(parents=True, exist_ok=True)
        plot.write(options.figures / "growth.png")


def grow(options, folder, table, plot, sizes, postgres=None):
    """A server of each size, all asked in turn; the engine's name is that of the folder."""
    servers, chats = [], []
    try:
        for size in sizes:
            place = folder / str(size)
            place.mkdir(parents=True)
            settings = {"PARLEY_DATABASE_URL": postgres.schema()} if postgres else {}
            servers.append(parley(options, place, **settings))
            chats.append(populate(servers[-1], size))
        # What autovacuum does within a minute, at once: plans know how large the tables are.
        if postgres: postgres.run("ANALYZE")
        for what, ask in QUESTIONS.items():
            runs = in_turn(options, ask, servers, chats, sizes)
            costs = [statistics.median(1e6 / max(run.rate, 1e-9) for run in own) for own in runs]
            show(table, f"{what}, {folder.name}", sizes, costs)
            plot.add(f"{what}, {folder.name}", costs)
    finally:
        for server in servers: server.stop()


def show(table, what, sizes, costs):
    """The worst step is told as a share of what the logarithm allows it; beyond 1 it has grown faster."""
    steps = [
        after / before / (math.log(large) / math.log(small))
        for (small, large), (before, after) in zip(itertools.pairwise(sizes), itertools.pairwise(costs))]
    table.say(
        f"{what}, at {' / '.join(f'{size:,}' for size in sizes)}", " / ".join(f"{cost:,.0f}" for cost in costs) + " µs",
        "log n", f"**{max(steps, default=1):.2f}**")
