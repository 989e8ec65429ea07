"""What a request costs while an application grows, on both engines: as a table and as a plotted picture.

One user takes part in every conversation, and one conversation has all the messages: as many of each as the
application is large. A step may not grow faster than the logarithm of that, which is what an index costs.
"""

import itertools
import math
import pathlib
import statistics
import sys

from flatness import PAIR, list_messages, look_up, send
from load import fill, wrk
from messages import CONNECTIONS, CONVERSATIONS, HEADERS, converse, fill_messages, numbered
from plot import Plot
from processes import APPLICATION, parley

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "Support"))
from postgres import Postgres


def unread(server, chat, size, seconds, number):
    return wrk(server, f"/apps/{APPLICATION}/users/bo/badge", CONNECTIONS, seconds, headers=HEADERS)


QUESTIONS = {
    "Send a message": send, "List 100 messages": list_messages, "Look a distinct conversation up": look_up,
    "Unread messages of a user": unread,
}


def measure(options, folder, table):
    sizes = [10 ** power for power in range(3, 8) if 10 ** power <= options.size]
    postgres = Postgres()
    plot = Plot("microseconds a request, 64 connections", "messages and conversations", sizes)
    try:
        engines = [
            ("SQLite", {}, lambda: None),
            # What autovacuum does within a minute, at once: plans know how large the tables are.
            ("PostgreSQL", {"PARLEY_DATABASE_URL": postgres.schema()}, lambda: postgres.run("ANALYZE")),
        ]
        for engine, settings, settle in engines:
            place = folder / engine
            place.mkdir()
            with parley(options, place, **settings) as server:
                for what, costs in grow(options, server, sizes, settle).items():
                    show(table, f"{what}, {engine}", sizes, costs)
                    plot.add(f"{what}, {engine}", costs)
    finally:
        postgres.close()
    if options.figures:
        options.figures.mkdir(parents=True, exist_ok=True)
        plot.write(options.figures / "growth.png")


def grow(options, server, sizes, settle):
    """Microseconds that a request costs at each size, by what is asked; `settle` runs at each before that."""
    costs = {what: [] for what in QUESTIONS}
    chat, pairs, messages, asked = converse(server), 0, 0, 0
    for size in sizes:
        pairs = fill(server, CONVERSATIONS, PAIR, size, HEADERS, pairs)
        messages = fill_messages(server, chat, size, messages)
        settle()
        for what, ask in QUESTIONS.items():
            # A hexadecimal digit of the names: no message has that of one of another run.
            runs = [ask(server, chat, size, options.seconds, f"{asked + number:x}") for number in range(options.rounds)]
            costs[what].append(statistics.median(1e6 / max(run.rate, 1e-9) for run in runs))
            print(f"{what}, {size:,}: {costs[what][-1]:,.0f} µs", file=sys.stderr, flush=True)
        asked += options.rounds
    return costs


def show(table, what, sizes, costs):
    """The worst step is told as a share of what the logarithm allows it; beyond 1 it has grown faster."""
    steps = [
        after / before / (math.log(large) / math.log(small))
        for (small, large), (before, after) in zip(itertools.pairwise(sizes), itertools.pairwise(costs))]
    table.say(
        f"{what}, at {' / '.join(f'{size:,}' for size in sizes)}", " / ".join(f"{cost:,.0f}" for cost in costs) + " µs",
        "log n", f"**{max(steps, default=1):.2f}**")
