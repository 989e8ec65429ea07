"""Prints results and figures."""

import pathlib
import sys
import time


def check(sentence, holds, figures=""):
    """Prints whether a rule holds; ends the run if it does not."""
    print(f"  {'ok' if holds else 'FAILED'}: {sentence}{': ' if figures else ''}{figures}", flush=True)
    if not holds:
        sys.exit(1)


def show(figures):
    """Prints a figure that is not asserted."""
    print(f"  {figures}", flush=True)


def percentiles(seconds):
    """The 50th, 90th and 99th, and the maximum, in milliseconds."""
    ordered = sorted(seconds)
    chosen = [ordered[min(len(ordered) - 1, len(ordered) * rank // 100)] for rank in (50, 90, 99)]
    return [1000 * value for value in [*chosen, ordered[-1]]]


def latencies(seconds):
    p50, p90, p99, maximum = percentiles(seconds)
    return f"p50 {p50:.1f} ms, p90 {p90:.1f} ms, p99 {p99:.1f} ms, maximum {maximum:.1f} ms"


# Dispatch and the C library open a few descriptors at first use.
OPENED_LATE = 4


class Baseline:
    """Memory and descriptors of a server before an attack."""

    def __init__(self, server):
        self.server = server
        self.memory = server.memory("RssAnon")
        self.descriptors = descriptors(server)

    def growth(self):
        """MiB of memory above the baseline."""
        return (self.server.memory("RssAnon") - self.memory) / 1024

    def is_restored(self, timeout=180):
        """Waits until no more descriptors are open than before the attack."""
        return becomes_true(lambda: descriptors(self.server) <= self.descriptors + OPENED_LATE, timeout)

    def difference(self):
        return f"{descriptors(self.server)} descriptors of {self.descriptors}, {self.growth():+.1f} MiB"


def descriptors(server):
    return len(list(pathlib.Path(f"/proc/{server.process.pid}/fd").iterdir()))


def becomes_true(holds, timeout=180):
    """Whether a condition becomes true within the timeout."""
    end = time.monotonic() + timeout
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True
