"""Runs wrk and parses its output."""

import dataclasses
import http.client
import os
import pathlib
import re
import subprocess
import sys

REQUESTS = pathlib.Path(__file__).with_name("requests.lua")
UNITS = {"us": 1, "ms": 1000, "s": 1_000_000, "m": 60_000_000}


@dataclasses.dataclass
class Run:
    """Figures of a run: requests or deliveries a second; latencies and CPU time of the server per request in µs.

    `failures` is what wrk says about requests without an answer or with an error, or empty; `clients` the number of
    cores that the load generator used, where it is measured.
    """

    rate: float
    p50: float
    p99: float
    cpu: float
    requests: int
    failures: str = ""
    clients: float | None = None


def varied(server, method, path, connections, seconds, headers, body=None, **numbers):
    """One run of requests that differ by a number; `from`, `below` and `choices` are those of requests.lua."""
    settings = {"METHOD": method, "PATH": path, "BODY": body, **{name.upper(): n for name, n in numbers.items()}}
    environment = {f"BENCH_{name}": str(value) for name, value in settings.items() if value is not None}
    return wrk(server, "/", connections, seconds, REQUESTS, headers, environment)


def fill(server, path, body, count, headers, first=0):
    """Posts bodies with the numbers from `first` to below `count`, or slightly more of them when they are many.

    Returns the next unused number.
    """
    if count - first <= 5000:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        for number in range(first, count):
            text = body.replace("{n}", str(number)).replace("{x}", f"{number:012x}")
            connection.request("POST", path, text, headers)
            answer = connection.getresponse()
            answer.read()
            if answer.status >= 300:
                raise RuntimeError(f"POST {path} answered {answer.status}")
        return max(first, count)
    done, rate = first, count
    while done < count:
        seconds = max(1, min(30, round((count - done) / max(rate, 1))))
        run = varied(server, "POST", path, 64, seconds, headers, body, **{"from": done})
        # Unfinished requests have used their numbers, too.
        done, rate = done + run.requests + 64, run.rate
    return done


def wrk(server, path, connections, seconds, script=None, headers=None, environment=None):
    """One run of wrk with the same path, or with a script."""
    command = [
        "wrk", "--latency", "--timeout", "30s", "-t", "1", "-c", str(connections), "-d", f"{max(1, round(seconds))}s"]
    for name, value in (headers or {}).items():
        command += ["-H", f"{name}: {value}"]
    if script:
        command += ["-s", str(script)]
    before = server.cpu_seconds()
    output = subprocess.run(command + [server.url + path], capture_output=True, text=True, check=True,
                          env=os.environ | (environment or {})).stdout
    spent = server.cpu_seconds() - before
    failures = " ".join(re.findall(r"^ *((?:Non-2xx|Socket errors).*)$", output, re.MULTILINE))
    if failures:
        print(f"warning: {server.process.args[0]} {path}:\n{output}", file=sys.stderr)
    requests = int(re.search(r"(\d+) requests in", output)[1])
    return Run(
        rate=float(re.search(r"Requests/sec:\s+([\d.]+)", output)[1]),
        p50=percentile(output, "50%"), p99=percentile(output, "99%"),
        cpu=spent * 1e6 / max(requests, 1), requests=requests, failures=failures)


def percentile(output, name):
    found = re.search(rf"^\s*{name}\s+([\d.]+)(us|ms|s|m) *$", output, re.MULTILINE)
    # Without any answer there is no percentile; the row shows `nan`.
    return float(found[1]) * UNITS[found[2]] if found else float("nan")
