"""A thousand idle connections, and two hundred each with slow heads, slow bodies and slow readers (H216)."""

import time

from clients import connect, head, read_answer
from client_group import ClientGroup, normal_requests
from processes import echo, parley
from report import Baseline, check, latencies, percentiles, show


def run(options, folder):
    with echo(options, folder, 2) as server:
        attack(options, server, "/", "PUT / HTTP/1.1")
    with parley(options, folder) as server:
        attack(options, server, "/health/live", "POST /apps HTTP/1.1")


def attack(options, server, path, upload):
    name = server.name
    idle, slow = (150, 30) if options.short else (1000, 200)
    normal_requests(server, path, 20)
    base = Baseline(server)
    with ClientGroup() as clients:
        number = 0
        for _ in range(idle):
            client = connect(server, number := number + 1)
            client.sendall(head(f"GET {path} HTTP/1.1"))
            read_answer(client)
            clients.add(client)
        for _ in range(slow):
            client = connect(server, number := number + 1)
            client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ")
            clients.add(client, lambda client: client.send(b"x"))
        for _ in range(slow):
            client = connect(server, number := number + 1)
            client.sendall(head(upload, "Content-Length: 500000"))
            # Slightly above the minimum rate.
            clients.add(client, lambda client: client.send(b"x" * 400))
        requests = head(f"GET {path} HTTP/1.1") * 4000
        for _ in range(slow):
            client = connect(server, number := number + 1, receive=4096)
            clients.add(client, Reader(requests).act)
        time.sleep(2)
        taken = normal_requests(server, path, 60 if options.short else 300, 0.02)
        growth = base.growth()
        show(f"{name} among {idle} idle and 3 × {slow} slow clients: {latencies(taken)}; {growth:+.1f} MiB")
        p50, p90, _, _ = percentiles(taken)
        if options.short:
            check("a normal request is answered among slow clients (H216)", p50 < 1000)
        else:
            check("nine of ten normal requests take less than 200 ms (H216)", p90 < 200, f"{p90:.1f} ms")
            check("memory grows by less than 64 MiB (H216)", growth < 64, f"{growth:.1f} MiB")
    check("slow clients leave no descriptors behind (H191)", base.is_restored(), base.difference())


class Reader:
    """Sends requests as fast as the server reads them, and reads a kilobyte a second."""

    def __init__(self, requests):
        self.requests = requests
        self.sent = 0

    def act(self, client):
        try:
            self.sent += client.send(self.requests[self.sent:])
        except BlockingIOError:
            pass
        client.recv(1024)
