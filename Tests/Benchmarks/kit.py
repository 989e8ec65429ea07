"""The client library ParleyKit: catching up, opening a store, reading, sending, delivering, transfers, and doing nothing.

A conversation of two users has `--size` messages. One client receives all of them from nothing; then its store is opened and
read. Deliveries go from `send` of one client to a set of a live query of another one, both in one process, over the server.
A live query of the newest messages is held while `--stream-rate` messages a second arrive. A file goes from one user to
another one, compared with curl, and once more through a proxy that resets connections.
"""

import contextlib
import pathlib
import subprocess
import sys
import threading
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "Interop"))

from cutting_proxy import CuttingProxy

from messages import create_conversation, fill_messages
from processes import APPLICATION, parley
from streams import SENDERS, send
from transfers import Uploader, curl, make

MEGABYTES = 300
# Resets in each direction of the transfer through the proxy.
RESETS = 10


def measure(options, folder, table):
    with parley(options, folder, PARLEY_API_DEV_LOGIN="true") as server:
        messages = create_conversation(server)
        fill_messages(server, messages, options.size)
        for command, count in (("catch-up", 0), ("store", 0), ("send", 2000), ("deliver", 200), ("idle", 10)):
            for name, value in figures(options, folder, server.port, command, count):
                table.add_text(f"ParleyKit: {name}", value)
        under_load(options, folder, table, server, messages)
        beside_curl(options, folder, table, server)
    through_resets(options, folder, table)


def figures(options, folder, port, command, count, when_ready=lambda: None):
    """The names and values that a command of the benchmark prints; calls a function when it prints that it is ready."""
    command = [options.build / "parleykit-bench", command, f"http://127.0.0.1:{port}", APPLICATION, folder / "stores", str(count)]
    found = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            if line == "ready\n":
                when_ready()
            else:
                found.append(line.rstrip("\n").split("\t"))
    if process.returncode:
        raise RuntimeError(f"{command} ended with {process.returncode}")
    return found


def under_load(options, folder, table, server, messages):
    """Shows the newest messages while others send, and nothing under the same load; all threads send at the same rate."""
    seconds = 10
    for command in ("live", "unshown"):
        sent = [0] * SENDERS
        threads = []

        def begin():
            end = time.monotonic() + seconds
            for number in range(SENDERS):
                arguments = (server.port, messages, options.stream_rate / SENDERS, end, sent, number)
                threads.append(threading.Thread(target=send, args=arguments))
                threads[-1].start()
        for name, value in figures(options, folder, server.port, command, seconds, begin):
            table.add_text(f"ParleyKit: {name}", value)
        for thread in threads: thread.join()
        table.add_text(f"ParleyKit: messages sent per second meanwhile ({command})", f"{sum(sent) / seconds:,.0f}")


def beside_curl(options, folder, table, server):
    uploader = Uploader(server)
    size = MEGABYTES * 1_000_000
    file = make(folder / "file", size)
    content = uploader.announce(size)
    theirs = {
        "upload MB/s": MEGABYTES / curl("-T", file, content["upload_url"]),
        "download MB/s": MEGABYTES / curl(uploader.download_url(content))}
    for name, value in figures(options, folder, server.port, "transfer", MEGABYTES):
        other = theirs.get(name)
        table.add_text(
            f"ParleyKit: {MEGABYTES} MB, {name}", value, f"curl {other:,.0f}" if other else "",
            f"**{float(value) / other:.2f}**" if other else "")


def through_resets(options, folder, table):
    with contextlib.closing(CuttingProxy(counts_answers=True)) as proxy:
        with parley(options, folder, PARLEY_API_DEV_LOGIN="true",
                    PARLEY_PUBLIC_URL=f"http://127.0.0.1:{proxy.port}") as server:
            proxy.forward_to(server.port)
            step = MEGABYTES * 1_000_000 // (RESETS + 1)
            proxy.plan = [step] * (2 * RESETS)
            for name, value in figures(options, folder, proxy.port, "transfer", MEGABYTES):
                table.add_text(f"ParleyKit: {MEGABYTES} MB, {proxy.count} resets, {name}", value)
