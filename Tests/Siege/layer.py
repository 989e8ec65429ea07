"""Checks parley-echo, a server of the HTTP layer only: content, fields, events, messages (H213)."""

from clients import connect, head, read_answer
from client_group import read_all
from memory import opened, upgraded
from processes import echo
from report import check

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]


def run(options, folder):
    with echo(options, folder, 1, "--event-interval", 20) as server:
        echoes = all(exchange(server, method, "/", "hello") == (200, b"" if method == "HEAD" else b"hello") for method in METHODS)
        offered = fields(server, "OPTIONS", "/").get("allow", "").split(", ")
        shown = exchange(server, "GET", "/echo", "", "X-Word: hello")[1]
        check("every method echoes its content (H213)", echoes)
        check("OPTIONS lists the methods (H213)", set(METHODS) <= set(offered), ", ".join(offered))
        check("/echo shows the fields of the request (H213)", b"X-Word: hello\n" in shown)
        check("other paths are 404 (H213)", exchange(server, "GET", "/else")[0] == 404)
        check("/sse counts events (H213)", events(server))
        check("/ws echoes messages (H213)", message(server))
    with echo(options, folder, 1, "--header-timeout", 200) as server:
        client = connect(server)
        client.sendall(b"GET / HTTP/1.1\r\nHost")
        late = read_all(client).startswith(b"HTTP/1.1 408 ")
        check("a timeout can be set for a test (H213)", late)


def exchange(server, method, path, content="", *more):
    client = connect(server)
    client.sendall(head(f"{method} {path} HTTP/1.1", f"Content-Length: {len(content)}", "Connection: close", *more))
    client.sendall(content.encode())
    if method == "HEAD":
        return int(read_all(client).split()[1]), b""
    return read_answer(client)


def fields(server, method, path):
    client = connect(server)
    client.sendall(head(f"{method} {path} HTTP/1.1", "Connection: close"))
    lines = read_all(client).split(b"\r\n\r\n")[0].decode().split("\r\n")[1:]
    return {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}


def events(server):
    """Whether three numbered events arrive in order."""
    client = opened(server, 0, head("GET /sse HTTP/1.1"), b"HTTP/1.1 200")
    data = b""
    while b"data: 3" not in data:
        piece = client.recv(4096)
        if not piece:
            return False
        data += piece
    return data.index(b"data: 1") < data.index(b"data: 2") if b"data: 1" in data else b"data: 2" in data


def message(server):
    """Whether a masked text is echoed unmasked."""
    client = upgraded(server, 0)
    key = b"\x37\xfa\x21\x3d"
    client.sendall(b"\x81\x85" + key + bytes(byte ^ key[index % 4] for index, byte in enumerate(b"hello")))
    data = b""
    while len(data) < 7:
        piece = client.recv(4096)
        if not piece:
            return False
        data += piece
    return data == b"\x81\x05hello"
