"""The memory of ten thousand idle connections."""

from client_group import normal_requests
from memory import HOUR, answered, streaming, upgraded
from processes import echo
from report import Baseline, check, latencies, show


def run(options, folder):
    count = 1000 if options.short else 10_000
    with echo(options, folder, 2, "--max-connections", count + 500) as server:
        measure(options, server, count, "idle keep-alive connection", 512, answered)
    for kind, begin in (("event stream", streaming), ("WebSocket", upgraded)):
        with echo(options, folder, 2, "--max-connections", count + 500, "--event-interval", HOUR) as server:
            measure(options, server, count, f"idle {kind}", 2048, begin)


def measure(options, server, count, kind, goal, begin):
    """Opens `count` connections, and checks that the server still answers and that memory is within `goal`.

    `goal` is in bytes per connection; a quarter more is tolerated.
    """
    # The first hundred connections also cause one-time allocations.
    warm = [begin(server, number) for number in range(100)]
    base = Baseline(server)
    clients = [begin(server, number) for number in range(100, count)]
    bytes_each = base.growth() * (1 << 20) / len(clients)
    taken = normal_requests(server, "/", 100)
    show(f"{count} × {kind}: {bytes_each:.0f} bytes each; meanwhile {latencies(taken)}")
    if not options.short:
        check(f"an {kind} costs little (H59)", bytes_each <= goal * 1.25, f"{bytes_each:.0f} of {goal} bytes")
    for client in clients:
        client.close()
    check("idle connections leave nothing behind (H191)", base.is_restored(), base.difference())
    for client in warm:
        client.close()
