"""Clients over plain sockets, which send exactly the given bytes."""

import socket

# Not defined in the socket module of every Python.
IP_BIND_ADDRESS_NO_PORT = 24


def connect(server, number=0, receive=None, timeout=120):
    """A connection; each 200 of them come from another loopback address, because servers limit those of one address.

    `receive` is the size of the receive buffer in bytes.
    """
    client = socket.socket()
    client.settimeout(timeout)
    if receive:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
    client.setsockopt(socket.IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1)
    group = number // 200
    client.bind((f"127.1.{group // 250}.{group % 250 + 1}", 0))
    client.connect(("127.0.0.1", server.port))
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return client


def head(line, *fields):
    return "\r\n".join([line, "Host: localhost", *fields, "", ""]).encode()


def read_answer(client):
    """One answer with a Content-Length: its status and content; `None` at the end of the stream."""
    data = b""
    while b"\r\n\r\n" not in data:
        received = client.recv(65536)
        if not received:
            return None
        data += received
    front, content = data.split(b"\r\n\r\n", 1)
    lines = front.decode("latin-1").split("\r\n")
    fields = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines[1:])}
    length = int(fields.get("content-length", 0))
    # Appending to `bytes` would copy a large content with each piece.
    content = bytearray(content)
    while len(content) < length:
        received = client.recv(65536)
        if not received:
            return None
        content += received
    return int(lines[0].split()[1]), bytes(content)
