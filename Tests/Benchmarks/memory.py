"""The memory of an idle connection."""

import resource

from clients import connect, head, read_answer
from processes import echo, nginx

COUNT = 4000
# Milliseconds: no event disturbs the silence.
HOUR = 3_600_000
WARM = 200


def measure(options, folder, table):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with echo(options, folder, 1, "--event-interval", HOUR) as ours, nginx(
            folder, "location / { return 200 '{}'; }") as theirs:
        costs = [f"{each(server, asked):,.0f} B" for server in (ours, theirs)]
        table.say("Memory per idle keep-alive connection", *costs)
        table.say("Memory per idle event stream", f"{each(ours, streaming):,.0f} B")
        table.say("Memory per idle WebSocket", f"{each(ours, upgraded):,.0f} B")


def each(server, begin):
    """Bytes of memory per connection; the first ones are not counted, as they cause one-time allocations."""
    warm = [begin(server, number) for number in range(WARM)]
    before = server.memory("RssAnon")
    measured = [begin(server, number) for number in range(WARM, COUNT)]
    grown = server.memory("RssAnon") - before
    for client in warm + measured:
        client.close()
    return grown * 1024 / len(measured)


def asked(server, number):
    """A connection that had its answer."""
    client = connect(server, number)
    client.sendall(head("GET / HTTP/1.1"))
    read_answer(client)
    return client


def streaming(server, number):
    """A connection on which an event stream has begun."""
    return begun(server, number, head("GET /sse HTTP/1.1"), b"HTTP/1.1 200")


def upgraded(server, number):
    """A connection that is a WebSocket."""
    fields = ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
              "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="]
    return begun(server, number, head("GET /ws HTTP/1.1", *fields), b"HTTP/1.1 101")


def begun(server, number, request, status):
    client = connect(server, number)
    client.sendall(request)
    data = b""
    while b"\r\n\r\n" not in data:
        piece = client.recv(4096)
        if not piece:
            break
        data += piece
    if not data.startswith(status):
        raise RuntimeError(f"{request[:40]!r} was answered {data[:200]!r}")
    return client
