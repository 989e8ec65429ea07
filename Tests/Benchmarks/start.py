"""The start time of the binary, and its memory while idle: after the start, and a quiet minute after a load."""

import statistics
import subprocess
import time

from messages import HEADERS, create_conversation, fill_messages
from processes import parley

# Messages that are sent and lists that are read before the quiet minute.
LOAD = 2000
# In seconds: memory is released a second after the start, and after two quiet half-minutes.
AFTER_START = 2
QUIET = 100


def measure(options, folder, table):
    times, memory = [], []
    for _ in range(max(options.rounds, 5)):
        began = time.monotonic()
        with parley(options, folder) as server:
            while server.request("GET", "/health/ready")[0] != 200:
                time.sleep(0.0005)
            times.append(time.monotonic() - began)
            time.sleep(AFTER_START)
            memory.append(server.memory("VmRSS"))
    table.add_text("First start until ready", f"{times[0] * 1000:.0f} ms")
    table.add_text("Start until ready", f"{statistics.median(times[1:]) * 1000:.0f} ms")
    table.add_text("Idle memory", f"{statistics.median(memory) / 1024:.1f} MiB")
    after_load(options, folder, table)
    stripped = folder / "parley"
    subprocess.run(["strip", "-s", "-o", stripped, options.build / "parley"], check=True)
    table.add_text("Stripped binary", f"{stripped.stat().st_size / (1 << 20):.1f} MiB")


def after_load(options, folder, table):
    with parley(options, folder) as server:
        path = create_conversation(server)
        fill_messages(server, path, LOAD)
        for _ in range(LOAD):
            server.request("GET", f"{path}?page_size=100", headers=HEADERS)
        loaded = server.memory("VmRSS")
        time.sleep(QUIET)
        table.add_text(
            f"Idle memory a quiet minute after {LOAD:,} sends and lists",
            f"{server.memory('VmRSS') / 1024:.1f} MiB", f"before it {loaded / 1024:.1f} MiB")
