"""Open consoles: what the overview costs the server, and whether sends are slower beside it.

An open overview reads a stream of samples, and its charts and processes every ten seconds.
"""

import contextlib
import http.client
import json
import re
import socket
import subprocess
import threading
import time

from load import varied
from messages import CONNECTIONS, HEADERS, create_conversation, numbered
from processes import parley

COUNTS = (0, 1, 5)
# Long enough for several of the server's own samples, and for clock ticks of 10 ms to count little.
SECONDS = 30
POLLED = ("stats", "processes")


def measure(options, folder, table):
    with parley(options, folder) as server:
        cookie = log_in(options, server, folder)
        for count in COUNTS:
            with overviews(server, cookie, count):
                time.sleep(1)
                before = server.cpu_seconds()
                time.sleep(SECONDS)
                share = (server.cpu_seconds() - before) / SECONDS
            table.add_text(f"{count} open overviews: processor of the server", f"{share * 100:.2f} %")
        messages = create_conversation(server)
        beside, alone, used = [], [], 1
        for _ in range(options.rounds):
            for runs, count in ((beside, COUNTS[-1]), (alone, 0)):
                with overviews(server, cookie, count):
                    run = varied(
                        server, "POST", messages, CONNECTIONS, options.seconds, HEADERS, numbered("c0"), **{"from": used})
                used += run.requests + CONNECTIONS
                runs.append(run)
        table.add_comparison(f"POST a message beside {COUNTS[-1]} open overviews, and without", beside, alone)


def log_in(options, server, folder):
    """Begins a session of an operator; returns its cookie."""
    printed = subprocess.run(
        [options.build / "parley", "console", "link", "--data", folder / "data"], capture_output=True, text=True, check=True).stdout
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("POST", "/console/api/session", json.dumps({"once": re.search(r"once=(\S+)", printed)[1]}), {
        "Content-Type": "application/json", "X-Parley-Console": "1"})
    answer = connection.getresponse()
    assert answer.status == 200, answer.read()
    return answer.headers["Set-Cookie"].split(";")[0]


@contextlib.contextmanager
def overviews(server, cookie, count):
    """Reads what so many open overviews read, while the block runs."""
    streams, stop, threads = [], threading.Event(), []
    for _ in range(count):
        stream = socket.create_connection(("127.0.0.1", server.port), timeout=60)
        stream.sendall(f"GET /console/api/stream HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {cookie}\r\n\r\n".encode())
        assert stream.recv(1 << 16).startswith(b"HTTP/1.1 200"), "no stream"
        streams.append(stream)
        threads += [threading.Thread(target=read, args=(stream,)), threading.Thread(target=poll, args=(server, cookie, stop))]
    for thread in threads: thread.start()
    try:
        yield
    finally:
        stop.set()
        for stream in streams: stream.shutdown(socket.SHUT_RDWR)
        for thread in threads: thread.join()
        for stream in streams: stream.close()


def read(stream):
    with contextlib.suppress(OSError):
        while stream.recv(1 << 16): pass


def poll(server, cookie, stop):
    while not stop.wait(10):
        for name in POLLED:
            status, body = server.request("GET", f"/console/api/{name}", headers={"Cookie": cookie})
            assert status == 200, body
