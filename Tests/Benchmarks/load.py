"""Runs wrk and reads what it says."""

import dataclasses
import re
import subprocess
import sys

UNITS = {"us": 1, "ms": 1000, "s": 1_000_000, "m": 60_000_000}


@dataclasses.dataclass
class Run:
    rate: float
    p50: float
    p99: float
    cpu: float


def wrk(server, path, connections, seconds, script=None, headers=None):
    """One run; CPU time is that of the server, per request."""
    command = ["wrk", "--latency", "-t", "1", "-c", str(connections), "-d", f"{max(1, round(seconds))}s"]
    for name, value in (headers or {}).items():
        command += ["-H", f"{name}: {value}"]
    if script:
        command += ["-s", str(script)]
    before = server.cpu_seconds()
    said = subprocess.run(command + [server.url + path], capture_output=True, text=True, check=True).stdout
    spent = server.cpu_seconds() - before
    if "Non-2xx" in said or "Socket errors" in said:
        print(f"warning: {server.process.args[0]} {path}:\n{said}", file=sys.stderr)
    requests = int(re.search(r"(\d+) requests in", said)[1])
    return Run(
        rate=float(re.search(r"Requests/sec:\s+([\d.]+)", said)[1]),
        p50=percentile(said, "50%"), p99=percentile(said, "99%"),
        cpu=spent * 1e6 / max(requests, 1))


def percentile(said, name):
    number, unit = re.search(rf"^\s*{name}\s+([\d.]+)(us|ms|s|m)$", said, re.MULTILINE).groups()
    return float(number) * UNITS[unit]
