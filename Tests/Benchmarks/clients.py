"""Clients over plain sockets, which send exactly the given bytes."""

import socket

# Not in every Python's socket module.
IP_BIND_ADDRESS_NO_PORT = 24


def connect(server, number=0, receive=None, timeout=30):
    """A connection; each group of two hundred comes from another address, as many real clients do."""
    client = socket.socket()
    client.settimeout(timeout)
    if receive:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
    client.setsockopt(socket.IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1)
    place = number // 200
    client.bind((f"127.1.{place // 250}.{place % 250 + 1}", 0))
    client.connect(("127.0.0.1", server.port))
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return client


def head(line, *fields):
    return "\r\n".join([line, "Host: localhost", *fields, "", ""]).encode()


def read_answer(client):
    """One answer with a Content-Length: its status and content; `None` at the end of the stream."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = client.recv(65536)
        if not piece:
            return None
        data += piece
    front, content = data.split(b"\r\n\r\n", 1)
    lines = front.decode("latin-1").split("\r\n")
    fields = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines[1:])}
    while len(content) < int(fields.get("content-length", 0)):
        piece = client.recv(65536)
        if not piece:
            return None
        content += piece
    return int(lines[0].split()[1]), content
