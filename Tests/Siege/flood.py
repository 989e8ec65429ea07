"""Many connections that are opened and closed without a request."""

import socket
import struct

from clients import connect, head
from client_group import normal_requests
from processes import echo
from report import Baseline, check, latencies, show

RESET = struct.pack("ii", 1, 0)


def run(options, folder):
    with echo(options, folder, 2) as server:
        normal_requests(server, "/", 20)
        base = Baseline(server)
        for kind, data, resets in (
            ("send nothing", None, False), ("send part of a head", b"GET / HTT", True),
            ("send part of a body", head("PUT / HTTP/1.1", "Content-Length: 999999") + b"x", True),
            ("do not read the answers", head("GET / HTTP/1.1") * 20, True),
        ):
            count = 400 if options.short else 4000
            for number in range(0, count, 200):
                clients = [connect(server, number + index) for index in range(200)]
                for client in clients:
                    if data:
                        client.sendall(data)
                    if resets:
                        # A reset instead of an orderly close.
                        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                    client.close()
            taken = normal_requests(server, "/", 20)
            show(f"after {count} clients that {kind}: {latencies(taken)}")
            check("a flood leaves no descriptor behind (H191)", base.is_restored(), base.difference())
        if not options.short:
            check("a flood leaves no memory behind (H191)", base.growth() < 16, base.difference())
