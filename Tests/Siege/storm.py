"""Everything a head or a body can be wrong in: one answer with the right status, then as http §24 says."""

import socket

from broken import BAD_CHUNKS, BROKEN, CLOSE
from clients import connect, head
from crowd import normal_requests, read_all
from processes import echo, parley
from report import BaseLine, check, tell

NEXT = head("GET / HTTP/1.1", "Connection: close")


def run(options, folder):
    with echo(options, folder, 2) as server:
        # `/` reads its body, so its chunks are looked at.
        besiege(options, server, "/", BROKEN + [(octets, 400, CLOSE) for octets in BAD_CHUNKS])
    with parley(options, folder) as server:
        besiege(options, server, "/health/live", BROKEN)


def besiege(options, server, path, broken):
    normal_requests(server, path, 20)
    base = BaseLine(server)
    wrong = []
    for number, (octets, status, keeps) in enumerate(broken):
        for octet_by_octet in (False, True) if len(octets) < 300 else (False,):
            statuses = exchange(server, number, octets, octet_by_octet)
            # A kept connection answers the next request too; a closed one never does.
            if statuses[:1] != [status] or len(statuses) != (2 if keeps else 1):
                wrong.append(f"{octets[:80]!r}: {statuses} instead of {status}, {'keep' if keeps else 'close'}")
    tell(f"{server.name}: {len(broken)} broken requests, each followed by a sound one")
    check("one answer with its status, then close or keep (H6, H7, H191)", not wrong, "\n    ".join(wrong))
    rounds = 1 if options.short else 20
    for number in range(rounds):
        crowd = [connect(server, place) for place in range(len(broken))]
        for client, (octets, _, _) in zip(crowd, broken):
            try:
                client.sendall(octets + NEXT)
            except ConnectionError:
                pass
        for client in crowd:
            client.close()
    normal_requests(server, path, 20)
    check("broken requests leave no descriptor behind (H191)", base.is_back(), base.left())
    if not options.short:
        check("nor memory (H191)", base.grown() < 16, base.left())


def exchange(server, number, octets, octet_by_octet):
    """The statuses of all answers to these octets and a sound request after them."""
    client = connect(server, number)
    try:
        if octet_by_octet:
            for place in range(len(octets)):
                client.sendall(octets[place:place + 1])
            client.sendall(NEXT)
        else:
            client.sendall(octets + NEXT)
        client.shutdown(socket.SHUT_WR)
    except OSError:
        # The answer came before all was sent.
        pass
    answers = read_all(client)
    client.close()
    return statuses(answers)


def statuses(answers):
    """Reads answers one after another, so that content that looks like one is not taken for it."""
    found = []
    while answers:
        front, _, rest = answers.partition(b"\r\n\r\n")
        lines = front.decode("latin-1").split("\r\n")
        if not lines[0].startswith("HTTP/1.1 "):
            return found + [lines[0][:40]]
        found.append(int(lines[0].split()[1]))
        length = [int(line[15:]) for line in lines if line.lower().startswith("content-length:")]
        answers = rest[length[0] if length else 0:]
    return found
