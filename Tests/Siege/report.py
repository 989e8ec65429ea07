"""Prints results and figures."""

import pathlib
import sys
import time


def check(sentence, holds, figures=""):
    """Prints that a rule holds, or ends the run."""
    print(f"  {'holds' if holds else 'BROKEN'}: {sentence}{': ' if figures else ''}{figures}", flush=True)
    if not holds:
        sys.exit(1)


def show(figures):
    """Prints a figure that is not asserted."""
    print(f"  {figures}", flush=True)


def percentiles(seconds):
    """The 50th, 90th and 99th, and the worst, in milliseconds."""
    ordered = sorted(seconds)
    chosen = [ordered[min(len(ordered) - 1, len(ordered) * rank // 100)] for rank in (50, 90, 99)]
    return [1000 * value for value in [*chosen, ordered[-1]]]


def said(seconds):
    half, most, nearly, worst = percentiles(seconds)
    return f"p50 {half:.1f} ms, p90 {most:.1f} ms, p99 {nearly:.1f} ms, worst {worst:.1f} ms"


# Dispatch and the system's library open a few descriptors of their own when they first need them.
OPENED_LATE = 4


class BaseLine:
    """What a server holds before it is attacked."""

    def __init__(self, server):
        self.server = server
        self.memory = server.memory("RssAnon")
        self.descriptors = descriptors(server)

    def grown(self):
        """MiB of memory above the base line."""
        return (self.server.memory("RssAnon") - self.memory) / 1024

    def is_back(self, patience=60):
        """Waits until no descriptor is left over."""
        return soon(lambda: descriptors(self.server) <= self.descriptors + OPENED_LATE, patience)

    def left(self):
        return f"{descriptors(self.server)} descriptors of {self.descriptors}, {self.grown():+.1f} MiB"


def descriptors(server):
    return len(list(pathlib.Path(f"/proc/{server.process.pid}/fd").iterdir()))


def soon(holds, patience=60):
    """Whether something comes true within so many seconds."""
    end = time.monotonic() + patience
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True
