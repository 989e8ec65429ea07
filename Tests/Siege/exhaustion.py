"""Without free descriptors the server waits instead of spinning, and recovers by itself (H183)."""

import select
import subprocess
import time

from clients import connect, head
from client_group import normal_requests
from processes import echo
from report import check, descriptors, soon

SPARE = 40


def run(options, folder):
    connections(options, folder)
    files(options, folder)


def files(options, folder):
    """Requests for files are refused when too many are open, before the last descriptors are used."""
    with open(folder / "large", "wb") as file:
        file.truncate(64 << 20)
    with echo(options, folder, 2, "--files", folder) as server:
        normal_requests(server, "/", 10)
        clients = [connect(server, number, receive=4096) for number in range(SPARE // 2)]
        for client in clients:
            client.sendall(head("GET / HTTP/1.1"))
        soon(lambda: served(clients) == len(clients))
        for client in clients:
            client.recv(4096)
        lower(server, descriptors(server) + SPARE // 2)
        for client in clients:
            client.sendall(head("GET /files/large HTTP/1.1"))
        soon(lambda: served(clients) == len(clients))
        statuses = [client.recv(12)[9:] for client in clients]
        told = statuses.count(b"503")
        check("some requests get their file, the others are refused (H183)",
              0 < told < len(clients) and told + statuses.count(b"200") == len(clients), f"{told} of {len(clients)}")
        check("it is still there (H183)", server.process.poll() is None)
        for client in clients:
            client.close()
        check("it serves on when files are closed (H183)", soon(lambda: answers(server, "/files/large")))


def connections(options, folder):
    with echo(options, folder, 2) as server:
        normal_requests(server, "/", 10)
        # The server keeps a reserve below the limit it finds at its start; so it is lowered later.
        limit = descriptors(server) + SPARE
        lower(server, limit)
        clients = [connect(server, number) for number in range(2 * SPARE)]
        for client in clients:
            client.sendall(head("GET / HTTP/1.1"))
        # Which of them are let in is chance: each loop has a queue of its own.
        check("accepted connections are served (H183)", soon(lambda: served(clients) > SPARE // 2), f"{served(clients)}")
        began, spent = time.monotonic(), server.cpu_seconds()
        time.sleep(2)
        share = (server.cpu_seconds() - spent) / (time.monotonic() - began)
        check("a server without descriptors does not spin (H183)", share < 0.5, f"{share:.0%} of a core")
        check("it is still there (H183)", server.process.poll() is None)
        for client in clients:
            client.close()
        check("it goes on by itself when descriptors are free (H183)", soon(lambda: answers(server)))
        low = connect(server)
        low.close()
        check("and leaves none behind (H191)", soon(lambda: descriptors(server) <= limit - SPARE))


def served(clients):
    """How many have an answer waiting for them."""
    readable, _, _ = select.select(clients, [], [], 0)
    return len(readable)


def lower(server, limit):
    subprocess.run(["prlimit", "--pid", str(server.process.pid), f"--nofile={limit}:"], check=True)


def answers(server, path="/"):
    try:
        normal_requests(server, path, 2)
        return True
    except (OSError, RuntimeError):
        return False
