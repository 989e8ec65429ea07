"""A short JSON answer of parley-echo and of parley, against `return 200` of nginx with the same bytes."""

import pathlib

from load import wrk
from processes import echo, nginx, parley

PIPELINE = pathlib.Path(__file__).with_name("pipeline.lua")
CASES = [
    ("1 connection", 1, None), ("64 connections", 64, None), ("512 connections", 512, None),
    ("64 connections, 16 pipelined", 64, PIPELINE),
]


# Header fields that each answer of Parley has; nginx is measured with and without them.
SAME_FIELDS = "add_header X-Request-Id $request_id; add_header X-Content-Type-Options nosniff;"


# Makes nginx write log lines like those of Parley; both servers buffer lines before they write them.
LINES = """log_format lines escape=json '{"time":"$time_iso8601","level":"info","message":"request",'
    '"id":"$request_id","method":"$request_method","route":"$uri","status":$status,'
    '"bytes_in":$request_length,"bytes_out":$bytes_sent,"duration_us":"$request_time",'
    '"client":"$remote_addr"}';
    access_log access.log lines buffer=64k flush=1s;"""


def measure(options, folder, table):
    measure_echo(options, folder, table)
    measure_parley(options, folder, table)


def measure_parley(options, folder, table):
    """Measures the product, which also updates metrics, with and without a log line per request."""
    for logs, log, label in (
            ("true", LINES, "with a log line"), ("false", "access_log off;", "without a log line")):
        path = folder / f"logs-{logs}"
        path.mkdir()
        settings = {
            "PARLEY_HTTP_LOOPS": "1", "PARLEY_LOG_REQUESTS": logs,
            "PARLEY_HTTP_MAX_CONNECTIONS_PER_ADDRESS": "1000",
        }
        with parley(options, path, **settings) as ours:
            body = ours.request("GET", "/")[1].decode()
            with nginx(path, f"location / {{ {SAME_FIELDS} return 200 '{body}'; }}", log=log) as theirs:
                measure_cases(options, table, ours, theirs, len(body), f"parley itself, {label}")


def measure_echo(options, folder, table):
    for loops, fields in ((1, ""), (1, SAME_FIELDS), (2, "")):
        with echo(options, folder, loops) as ours:
            body = ours.request("GET", "/")[1].decode()
            with nginx(folder, f"location / {{ {fields} return 200 '{body}'; }}", loops) as theirs:
                against = "1 loop" if loops == 1 else f"{loops} loops"
                if fields:
                    against += ", nginx with our fields"
                measure_cases(options, table, ours, theirs, len(body), against)


def measure_cases(options, table, ours, theirs, size, against):
    runs = {name: ([], []) for name, _, _ in CASES}
    for number in range(options.rounds):
        for name, connections, script in CASES:
            # The order alternates, because the second run benefits from warm caches.
            pair = [(ours, runs[name][0]), (theirs, runs[name][1])]
            for server, results in pair if number % 2 == 0 else pair[::-1]:
                results.append(wrk(server, "/", connections, options.seconds, script))
    for name, _, _ in CASES:
        table.add_comparison(f"GET, {size} B of JSON, {name}, {against}", *runs[name])
