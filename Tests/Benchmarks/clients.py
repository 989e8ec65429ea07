"""Clients made of plain sockets, which send exactly the octets they are told to."""

import socket

# Not in every Python's socket module.
IP_BIND_ADDRESS_NO_PORT = 24


def connect(server, number=0, receive=None, timeout=30):
    """A connection; every two hundred of them come from another address, as real crowds do."""
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
    octets = b""
    while b"\r\n\r\n" not in octets:
        piece = client.recv(65536)
        if not piece:
            return None
        octets += piece
    front, content = octets.split(b"\r\n\r\n", 1)
    lines = front.decode("latin-1").split("\r\n")
    fields = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines[1:])}
    while len(content) < int(fields.get("content-length", 0)):
        piece = client.recv(65536)
        if not piece:
            return None
        content += piece
    return int(lines[0].split()[1]), content
