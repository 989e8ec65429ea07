"""Many connections that are opened and closed without a request."""

import socket
import struct

from clients import connect, head
from client_group import normal_requests
from processes import echo
from report import BaseLine, check, said, show

RESET = struct.pack("ii", 1, 0)


def run(options, folder):
    with echo(options, folder, 2) as server:
        normal_requests(server, "/", 20)
        base = BaseLine(server)
        for kind, say, ends in (
            ("say nothing", None, False), ("break off a head", b"GET / HTT", True),
            ("break off a body", head("PUT / HTTP/1.1", "Content-Length: 999999") + b"x", True),
            ("do not wait for the answer", head("GET / HTTP/1.1") * 20, True),
        ):
            count = 400 if options.short else 4000
            for number in range(0, count, 200):
                clients = [connect(server, number + place) for place in range(200)]
                for client in clients:
                    if say:
                        client.sendall(say)
                    if ends:
                        # A reset instead of an orderly close.
                        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                    client.close()
            taken = normal_requests(server, "/", 20)
            show(f"after {count} clients that {kind}: {said(taken)}")
            check("a flood leaves no descriptor behind (H191)", base.is_back(), base.left())
        if not options.short:
            check("a flood leaves no memory behind (H191)", base.grown() < 16, base.left())
