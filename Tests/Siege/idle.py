"""Ten thousand connections that only exist, and what each of them costs."""

from crowd import normal_requests
from memory import HOUR, asked, streaming, upgraded
from processes import echo
from report import BaseLine, check, said, tell


def run(options, folder):
    count = 1000 if options.short else 10_000
    with echo(options, folder, 2, "--max-connections", count + 500) as server:
        measure(options, server, count, "idle keep-alive connection", 512, asked)
    for kind, begin in (("event stream", streaming), ("WebSocket", upgraded)):
        with echo(options, folder, 2, "--max-connections", count + 500, "--event-interval", HOUR) as server:
            measure(options, server, count, f"idle {kind}", 2048, begin)


def measure(options, server, count, kind, goal, begin):
    """Opens so many, asks for their memory, and whether the server still answers."""
    # What the first hundred bring along is not theirs alone.
    warm = [begin(server, number) for number in range(100)]
    base = BaseLine(server)
    crowd = [begin(server, number) for number in range(100, count)]
    octets = base.grown() * (1 << 20) / len(crowd)
    taken = normal_requests(server, "/", 100)
    tell(f"{count} × {kind}: {octets:.0f} octets each; meanwhile {said(taken)}")
    if not options.short:
        check(f"an {kind} costs little (H59)", octets <= goal * 1.25, f"{octets:.0f} of {goal} octets")
    for client in crowd:
        client.close()
    check("idle connections leave nothing behind (H191)", base.is_back(), base.left())
    for client in warm:
        client.close()
