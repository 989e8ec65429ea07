"""Parley beside other messaging servers: Synapse, ejabberd, and for uploads a tus server.

Every round runs each server in turn, in alternating order, while the others are idle. A cell is the median of the
rounds, with the smallest and the largest one; a measurement that fails shows why instead of a number.
"""

import collections
import contextlib
import dataclasses
import http.client
import re
import resource
import statistics
import sys
import threading
import time
import traceback

from ejabberd import Ejabberd, EjabberdGroups
from load import Run
from messengers import LIVE, NoResult, Parley, ParleyPostgres, Tus
from synapse import Synapse
from table import line
from transfers import make

KINDS = (Parley, ParleyPostgres, Synapse, Ejabberd, EjabberdGroups, Tus)
CONNECTIONS = 64
# Connections for requests of which one takes a server long.
FEW = 16
UPLOAD = 100_000_000
# Seconds after the start at which a server is idle.
QUIET = 5
# Seconds in which a server ends its work on a load.
IDLE_WITHIN = 20
# Messages that a list of 100 is read from.
ENOUGH = 120
# The conversations of clients that send until the server is killed, one each.
KILLED = range(16, 32)
# Seconds without an acknowledgement while the database is paused.
PAUSE = 2


def measure(options, folder, table):
    results = Results()
    file = make(folder / "file", UPLOAD)
    folder.chmod(0o755)
    folder.parent.chmod(0o755)
    with contextlib.ExitStack() as stack:
        messengers = list(prepared(options, folder, results, stack))
        runs = Runs(options, messengers, results)
        sizes = {messenger: size(messenger) for messenger in messengers}
        runs.measure({
            "Send, 64 connections, each in another conversation": sending,
            "Send, 64 connections, all in one conversation": lambda each, seconds: each.send(CONNECTIONS, seconds, 1),
            "Send, one connection": lambda each, seconds: each.send(1, seconds, 1),
        })
        for messenger in messengers:
            runs.record("Disk, bytes a message", messenger, lambda: growth(sizes[messenger], size(messenger)))
        starts(options, messengers, runs)
        runs.measure({
            "Create a conversation, 16 connections": lambda each, seconds: each.create(FEW, seconds),
            "List 100 messages, 16 connections": lambda each, seconds: each.list(FEW, seconds),
            "Send until another client receives it": live,
        })
        runs.measure({"Upload of 100 MB, MB/s": lambda each, _: UPLOAD / 1e6 / each.upload(file)})
        for messenger in messengers:
            runs.record("Acknowledges while its database is paused", messenger, lambda: answers_when_paused(messenger))
            runs.record("Acknowledged messages lost by kill -9", messenger,
                lambda: lost(messenger, options.seconds * messenger.patience))
    print(results)


def prepared(options, folder, results, stack):
    """Starts each server, and creates its conversations; one that cannot start is shown as failed in every row."""
    for number, kind in enumerate(KINDS):
        results.names.append(kind.name)
        try:
            messenger = kind(options, folder / str(number))
            stack.callback(messenger.close)
            messenger.start()
            messenger.prepare()
            if kind is not Tus: send_first(messenger)
            results.notes.append((kind.name, messenger.version, kind.acknowledgement, kind.upload_answer))
        except Exception as error:
            results.missing[kind.name] = reason(error)
        else:
            yield messenger


def send_first(messenger):
    """Sends a message to each conversation, so that caches have all of them, and enough to the listed one."""
    for conversation in range(LIVE, -1, -1):
        client = messenger.client(conversation)
        for count in range(1 if conversation else ENOUGH): client.send(f"message {count}")
        client.close()


def reason(error):
    """The text of a cell without a result; unexpected errors are printed, too."""
    if isinstance(error, NoResult): return str(error)
    traceback.print_exception(error, file=sys.stderr)
    return f"failed: {type(error).__name__}: {error}"[:120]


class Results:
    """Numbers and texts by row and server."""

    def __init__(self):
        self.names, self.notes, self.missing = [], [], {}
        self.rows = collections.defaultdict(lambda: collections.defaultdict(list))

    def add(self, row, name, value):
        self.rows[row][name].append(value)
        print(f"{row}, {name}: {value if isinstance(value, str) else f'{value:,.2f}'}", file=sys.stderr, flush=True)

    def cell(self, row, name):
        if name in self.missing: return self.missing[name]
        values = self.rows[row][name] or ["—"]
        # One failure is more important than the numbers of other rounds.
        if texts := [value for value in values if isinstance(value, str)]: return texts[0]
        if len(values) == 1: return number(values[0])
        return f"{number(statistics.median(values))} ({number(min(values))}–{number(max(values))})"

    def __str__(self):
        lines = [["Measured", *self.names], ["---"] * (1 + len(self.names))]
        lines += [[row, *(self.cell(row, name) for name in self.names)] for row in self.rows]
        lines += [[], ["Server", "Version", "A message is acknowledged when it is", "An upload is answered when it is"]]
        lines += [["---"] * 4, *self.notes]
        return "\n".join(line(cells) if cells else "" for cells in lines)


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:,.1f}" if value >= 10 else f"{value:,.2f}"


class Runs:
    """Runs measurements of all servers in turn, and records what they return."""

    def __init__(self, options, messengers, results):
        self.options, self.messengers, self.results = options, messengers, results

    def measure(self, measurements):
        """Each round takes the servers in another order; a first one, which warms up, is not recorded."""
        for round in range(-1, self.options.rounds):
            for messenger in self.messengers[:: 1 if round % 2 else -1]:
                for row, work in measurements.items():
                    seconds = (self.options.seconds if round >= 0 else 1) * messenger.patience
                    if round >= 0:
                        self.record(row, messenger, lambda: work(messenger, seconds))
                    else:
                        # What fails here fails in the rounds that follow, which show it.
                        with contextlib.suppress(Exception): work(messenger, seconds)
                    wait_until_idle(messenger)

    def record(self, row, messenger, work):
        try:
            value = work()
            if isinstance(value, Run) and (value.failures or not value.requests):
                raise NoResult(f"failed: {value.failures or 'no answer'}")
        except Exception as error:
            value = reason(error)
        for name, part in parts(row, value): self.results.add(name, messenger.name, part)


def wait_until_idle(messenger):
    """Waits until a server uses less than a tenth of a core: it may still work on requests whose client has left."""
    end = time.monotonic() + IDLE_WITHIN
    with contextlib.suppress(OSError):
        while time.monotonic() < end:
            before = messenger.server.cpu_seconds()
            time.sleep(0.1)
            if messenger.server.cpu_seconds() - before <= 0.01: return


def parts(row, value):
    """The rows of a value: a run is a rate, or latencies when one request is measured at a time."""
    names = [f"{row}: p50 ms", f"{row}: p99 ms"]
    if row in ("Send, one connection", "Send until another client receives it"):
        return zip(names, [value, value] if isinstance(value, str) else [value.p50 / 1000, value.p99 / 1000])
    if isinstance(value, Run):
        cores = [] if value.clients is None else [("The cores that the clients use meanwhile", value.clients)]
        return [(f"{row}: per second", value.rate), *cores]
    return [(f"{row}: per second" if "connections" in row else row, value)]


def sending(messenger, seconds):
    """A run of sends, with the CPU time of the clients, which share the cores with the servers."""
    used = lambda: sum(
        getattr(resource.getrusage(kind), field) for kind in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        for field in ("ru_utime", "ru_stime"))
    before, began = used(), time.monotonic()
    run = messenger.send(CONNECTIONS, seconds)
    return dataclasses.replace(run, clients=(used() - before) / (time.monotonic() - began))


def size(messenger):
    """Bytes of the database, and the number of messages in it; or why there are none."""
    try:
        return messenger.bytes(), messenger.stored()
    except Exception as error:
        return reason(error)


def growth(before, after):
    for value in (before, after):
        if isinstance(value, str): raise NoResult(value)
    return (after[0] - before[0]) / (after[1] - before[1])


def starts(options, messengers, runs):
    """Starts each server again, and reads its memory when it is idle; its database runs throughout."""
    for round in range(options.rounds):
        for messenger in messengers[:: 1 if round % 2 else -1]:
            messenger.stop()
            runs.record("Start until it answers, s", messenger, messenger.start)
        time.sleep(QUIET)
        for messenger in messengers:
            runs.record("Memory while idle, MiB", messenger, lambda: messenger.server.memory("VmRSS") / 1024)
            runs.record("Memory of its PostgreSQL, MiB", messenger, lambda: database_memory(messenger))


def database_memory(messenger):
    if messenger.database is None: raise NoResult("—")
    return messenger.database.memory() / 1024


def live(messenger, seconds):
    """The time from sending a message until another client has received it, one message at a time."""
    client, receive = messenger.client(LIVE), messenger.receiver(LIVE)
    arrived, signal = {}, threading.Condition()
    prefix = f"{time.monotonic_ns():x}x"

    def read():
        rest = b""
        while f"{prefix}end" not in arrived:
            data = receive()
            now = time.monotonic()
            rest = rest[-64:] + data
            with signal:
                for text in re.findall(rb"live (\w+);", rest): arrived.setdefault(text.decode(), now)
                signal.notify()
            if not data: return

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    delays, end, count = [], time.monotonic() + seconds, 0
    while time.monotonic() < end:
        count += 1
        # The receiver asks again meanwhile, where it has to.
        time.sleep(0.005)
        began = time.monotonic()
        client.send(f"live {prefix}{count};")
        with signal:
            if not signal.wait_for(lambda: f"{prefix}{count}" in arrived, timeout=30):
                raise NoResult("failed: a message has not arrived")
        delays.append(arrived[f"{prefix}{count}"] - began)
    client.send(f"live {prefix}end;")
    reader.join(timeout=30)
    client.close()
    delays.sort()
    at = lambda share: delays[int(len(delays) * share)] * 1e6
    return Run(len(delays) / seconds, at(0.5), at(0.99), 0, len(delays))


def answers_when_paused(messenger):
    """Whether a message is acknowledged while no process of the database runs."""
    if messenger.database is None: raise NoResult("—")
    client = messenger.client(LIVE)
    client.send("before the pause")
    messenger.database.pause(True)
    try:
        sender = threading.Thread(target=client.send, args=("in the pause",))
        sender.start()
        sender.join(timeout=PAUSE)
        answered = not sender.is_alive()
    finally:
        messenger.database.pause(False)
    sender.join(timeout=30)
    client.close()
    return "yes" if answered else "no"


def lost(messenger, seconds):
    """Kills the server while clients send; returns how many acknowledged messages are not listed afterwards."""
    acknowledged = collections.defaultdict(list)
    clients = [messenger.client(conversation) for conversation in KILLED]

    def send(client, conversation):
        # The connection breaks when the server is killed.
        with contextlib.suppress(OSError, http.client.HTTPException):
            while True:
                text = f"kept {conversation} {len(acknowledged[conversation])}"
                client.send(text)
                acknowledged[conversation].append(text)

    threads = [threading.Thread(target=send, args=pair) for pair in zip(clients, KILLED)]
    for thread in threads: thread.start()
    time.sleep(seconds)
    sending = sum(thread.is_alive() for thread in threads)
    messenger.crash()
    for thread in threads: thread.join(timeout=60)
    messenger.recover()
    if sending < len(threads): raise NoResult(f"failed: {len(threads) - sending} clients ended before the kill")
    total = sum(map(len, acknowledged.values()))
    if not total: raise NoResult("failed: no message was acknowledged before the kill")
    missing = sum(
        len(set(texts) - set(messenger.all_texts(conversation))) for conversation, texts in acknowledged.items())
    return f"{missing} of {total:,}"
