"""The table of results."""

import statistics
import sys

HEADER = ["Measured", "Parley", "nginx, or as named", "Ratio", "p50 / p99 µs", "its p50 / p99", "CPU µs/request", "its CPU"]


class Table:
    """Rows of the table, in the order they were measured."""

    def __init__(self):
        self.rows = []

    def row(self, *cells):
        """Adds a row, and prints it at once, because a run may take hours."""
        self.rows.append(cells)
        print(line(cells), file=sys.stderr, flush=True)

    def add_comparison(self, what, ours, theirs):
        """Adds a row that compares two lists of runs, one run for each round; the ratio is the median of the rounds."""
        ratio = statistics.median(a.rate / b.rate for a, b in zip(ours, theirs))
        self.row(
            what, rate(ours), rate(theirs), f"**{ratio:.2f}**", latency(ours), latency(theirs), cpu(ours), cpu(theirs))

    def add_runs(self, what, runs, note=""):
        """Adds a row without a comparison."""
        self.row(what, rate(runs) + note, "", "", latency(runs), "", cpu(runs), "")

    def add_against_rates(self, what, ours, rates):
        """Adds a row that compares runs with rates of the same rounds."""
        ratio = statistics.median(run.rate / rate for run, rate in zip(ours, rates))
        self.row(
            what, rate(ours), f"{statistics.median(rates):,.0f}/s", f"**{ratio:.2f}**", latency(ours), "", cpu(ours), "")

    def add_sizes(self, what, small, large):
        """Adds a row that compares the same request in a large and in a small application."""
        ratio = statistics.median(a.rate / max(b.rate, 1e-9) for a, b in zip(large, small))
        self.row(
            what, rate(large), rate(small), f"**{ratio:.2f}**", latency(large), latency(small), cpu(large), cpu(small))

    def add_text(self, what, ours, theirs="", ratio=""):
        """Adds a row of texts."""
        self.row(what, ours, theirs, ratio, "", "", "", "")

    def __str__(self):
        return "\n".join(map(line, [HEADER, ["---"] * len(HEADER), *self.rows]))


def line(cells):
    return "| " + " | ".join(cells) + " |"


def rate(runs):
    return f"{statistics.median(run.rate for run in runs):,.0f}/s"


def latency(runs):
    return " / ".join(f"{statistics.median(getattr(run, name) for run in runs):,.0f}" for name in ("p50", "p99"))


def cpu(runs):
    return f"{statistics.median(run.cpu for run in runs):.1f}"
