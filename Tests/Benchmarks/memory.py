"""The memory of an idle connection."""

import resource

from clients import connect, head, read_answer
from processes import echo, nginx

COUNT = 4000
# Connections that are open before the measurement begins.
WARM = 200
# In milliseconds: an event interval so long that no event is sent.
HOUR = 3_600_000


def measure(options, folder, table):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with echo(options, folder, 1, "--event-interval", HOUR) as ours, nginx(
            folder, "location / { return 200 '{}'; }") as theirs:
        costs = [f"{bytes_per_connection(server, answered):,.0f} B" for server in (ours, theirs)]
        table.add_text("Memory per idle keep-alive connection", *costs)
        table.add_text("Memory per idle event stream", f"{bytes_per_connection(ours, streaming):,.0f} B")
        table.add_text("Memory per idle WebSocket", f"{bytes_per_connection(ours, upgraded):,.0f} B")


def bytes_per_connection(server, begin):
    """Bytes of memory per connection, without the first connections, which cause one-time allocations."""
    warm = [begin(server, number) for number in range(WARM)]
    before = server.memory("RssAnon")
    measured = [begin(server, number) for number in range(WARM, COUNT)]
    grown = server.memory("RssAnon") - before
    for client in warm + measured:
        client.close()
    return grown * 1024 / len(measured)


def answered(server, number):
    """A connection after its first answer."""
    client = connect(server, number)
    client.sendall(head("GET / HTTP/1.1"))
    read_answer(client)
    return client


def streaming(server, number):
    """A connection with an event stream."""
    return opened(server, number, head("GET /sse HTTP/1.1"), b"HTTP/1.1 200")


def upgraded(server, number):
    """A connection that is a WebSocket."""
    fields = ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
              "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="]
    return opened(server, number, head("GET /ws HTTP/1.1", *fields), b"HTTP/1.1 101")


def opened(server, number, request, status):
    client = connect(server, number)
    client.sendall(request)
    data = b""
    while b"\r\n\r\n" not in data:
        received = client.recv(4096)
        if not received:
            break
        data += received
    if not data.startswith(status):
        raise RuntimeError(f"{request[:40]!r} was answered {data[:200]!r}")
    return client
