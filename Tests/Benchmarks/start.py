"""The start time and idle memory of the binary."""

import statistics
import subprocess
import time

from processes import parley


def measure(options, folder, table):
    times, memory = [], []
    for _ in range(max(options.rounds, 5)):
        began = time.monotonic()
        with parley(options, folder) as server:
            while server.request("GET", "/health/ready")[0] != 200:
                time.sleep(0.0005)
            times.append(time.monotonic() - began)
            # The first start creates the database; its idle work ends after a moment.
            time.sleep(0.5)
            memory.append(server.memory("VmRSS"))
    table.add_text("First start until ready", f"{times[0] * 1000:.0f} ms")
    table.add_text("Start until ready", f"{statistics.median(times[1:]) * 1000:.0f} ms")
    table.add_text("Idle memory", f"{statistics.median(memory) / 1024:.1f} MiB")
    stripped = folder / "parley"
    subprocess.run(["strip", "-s", "-o", stripped, options.build / "parley"], check=True)
    table.add_text("Stripped binary", f"{stripped.stat().st_size / (1 << 20):.1f} MiB")
