"""A server without free descriptors waits without spinning, and recovers by itself (H183)."""

import select
import subprocess
import time

from clients import connect, head
from client_group import normal_requests
from processes import echo
from report import check, descriptors, becomes_true

# Descriptors that a server may still open once its limit is lowered; half as many for files.
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
        becomes_true(lambda: served(clients) == len(clients))
        for client in clients:
            client.recv(4096)
        lower_limit(server, descriptors(server) + SPARE // 2)
        for client in clients:
            client.sendall(head("GET /files/large HTTP/1.1"))
        becomes_true(lambda: served(clients) == len(clients))
        statuses = [client.recv(12)[9:] for client in clients]
        refused = statuses.count(b"503")
        check("some requests get their file, the others 503 (H183)",
              0 < refused < len(clients) and refused + statuses.count(b"200") == len(clients), f"{refused} of {len(clients)}")
        check("the server still runs (H183)", server.process.poll() is None)
        for client in clients:
            client.close()
        check("the server sends files again when others are closed (H183)", becomes_true(lambda: answers(server, "/files/large")))


def connections(options, folder):
    """Connections wait when there are no free descriptors, and are accepted when some are free again."""
    with echo(options, folder, 2) as server:
        normal_requests(server, "/", 10)
        # The limit is lowered after the start, because a server reserves descriptors at its start.
        limit = descriptors(server) + SPARE
        lower_limit(server, limit)
        clients = [connect(server, number) for number in range(2 * SPARE)]
        for client in clients:
            client.sendall(head("GET / HTTP/1.1"))
        # How many are accepted varies, because each loop has its own accept queue.
        check("accepted connections are served (H183)", becomes_true(lambda: served(clients) > SPARE // 2), f"{served(clients)}")
        began, spent = time.monotonic(), server.cpu_seconds()
        time.sleep(2)
        share = (server.cpu_seconds() - spent) / (time.monotonic() - began)
        check("a server without descriptors does not spin (H183)", share < 0.5, f"{share:.0%} of a core")
        check("the server still runs (H183)", server.process.poll() is None)
        for client in clients:
            client.close()
        check("the server accepts again when descriptors are free (H183)", becomes_true(lambda: answers(server)))
        connect(server).close()
        check("no descriptor is left open (H191)", becomes_true(lambda: descriptors(server) <= limit - SPARE))


def served(clients):
    """How many clients have an unread answer."""
    readable, _, _ = select.select(clients, [], [], 0)
    return len(readable)


def lower_limit(server, limit):
    """Sets the soft limit of open descriptors of a running server."""
    subprocess.run(["prlimit", "--pid", str(server.process.pid), f"--nofile={limit}:"], check=True)


def answers(server, path="/"):
    """Whether the server answers requests on a new and on a persistent connection with 200."""
    try:
        normal_requests(server, path, 2)
        return True
    except (OSError, RuntimeError):
        return False
