"""The cost of requests in applications of growing size, on both engines, as a table and a plot.

The size is the number of messages in one conversation, and the number of conversations, at most a million, in all of
which one user participates. SQLite is filled through the API, and PostgreSQL by `parley migrate`, which takes a fraction
of the time. A step must not grow faster than the logarithm of the size, which is the cost of an index. Sending is
measured last, because it adds messages.
"""

import contextlib
import itertools
import math
import pathlib
import subprocess
import sys

import flatness
from flatness import in_turn, list_messages, populate, send
from load import fill, wrk
from messages import CONNECTIONS, HEADERS, numbered
from plot import Plot
from processes import APPLICATION, parley
from users import log_in, read_cursor

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "Support"))
from postgres import Postgres


MOST_CONVERSATIONS = 1_000_000
DEV_LOGIN = {"PARLEY_API_DEV_LOGIN": "true"}


def look_up(server, messages_path, size, seconds, number):
    return flatness.look_up(server, messages_path, min(size, MOST_CONVERSATIONS), seconds, number)


def unread(server, messages_path, size, seconds, number):
    return wrk(server, f"/apps/{APPLICATION}/users/bo/badge", CONNECTIONS, seconds, headers=HEADERS)


def feed(server, messages_path, size, seconds, number):
    """The feed of a device that has everything but the newest 100 messages."""
    session = log_in(server, ["bo"])["bo"]
    cursor = read_cursor(server, session, history=0)
    fill(server, messages_path, numbered(f"e{number}"), 100, HEADERS)
    path = f"/events?session_token={session}&after={cursor}&history=all&limit=200"
    return wrk(server, path, CONNECTIONS, seconds)


REQUESTS = {
    "List 100 messages": list_messages, "Look a distinct conversation up": look_up,
    "Unread messages of a user": unread, "Feed of 100 new messages": feed, "Send a message": send,
}


def measure(options, folder, table):
    sizes = [10 ** power for power in range(3, 8) if 10 ** power <= options.size]
    plot = Plot("microseconds a request, 64 connections", "messages and conversations", sizes)
    paths = [folder / str(size) for size in sizes]
    messages_paths = [grow(options, path, size) for path, size in zip(paths, sizes)]
    # Enough to cache the rows of all sizes, because SQLite's files are in the page cache as well.
    with contextlib.closing(Postgres(buffers="4GB")) as postgres:
        schemas = [postgres.schema() for _ in sizes]
        for path, schema in zip(paths, schemas): migrate(options, path, schema)
        # PostgreSQL would update its statistics later, during the measurement.
        for statement in ("VACUUM", "CHECKPOINT"): postgres.run(statement)
        for engine, settings in {
            "SQLite": [DEV_LOGIN for _ in sizes],
            "PostgreSQL": [DEV_LOGIN | {"PARLEY_DATABASE_URL": schema} for schema in schemas],
        }.items():
            with contextlib.ExitStack() as stack:
                servers = [
                    stack.enter_context(parley(options, path, **own)) for path, own in zip(paths, settings)]
                compare(options, table, plot, engine, servers, messages_paths, sizes)
    if options.figures:
        options.figures.mkdir(parents=True, exist_ok=True)
        plot.write(options.figures / "growth.png")


def grow(options, folder, size):
    """Creates an application of a size in a data folder and stops the server; returns the path of its messages."""
    folder.mkdir()
    with parley(options, folder) as server: return populate(server, size, min(size, MOST_CONVERSATIONS))


def migrate(options, folder, schema):
    command = [options.build / "parley", "migrate", "--from", f"sqlite:{folder / 'data'}", "--to", schema]
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=True)


def compare(options, table, plot, engine, servers, messages_paths, sizes):
    """Measures a server of each size in turn; the best round counts, because other load only adds time."""
    for what, send_load in REQUESTS.items():
        runs = in_turn(options, send_load, servers, messages_paths, sizes)
        costs = [1e6 / max(1e-9, *(run.rate for run in own)) for own in runs]
        show(table, f"{what}, {engine}", sizes, costs)
        plot.add(f"{what}, {engine}", costs)


def show(table, what, sizes, costs):
    """Shows the costs, and the largest growth between two sizes relative to that of the logarithm.

    A ratio above 1 means that the cost grows faster than the logarithm of the size.
    """
    steps = [
        after / before / (math.log(large) / math.log(small))
        for (small, large), (before, after) in zip(itertools.pairwise(sizes), itertools.pairwise(costs))]
    table.add_text(
        f"{what}, at {' / '.join(f'{size:,}' for size in sizes)}", " / ".join(f"{cost:,.0f}" for cost in costs) + " µs",
        "log n", f"**{max(steps, default=1):.2f}**")
