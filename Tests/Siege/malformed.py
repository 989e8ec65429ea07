"""Malformed headers and bodies: one answer with its status, then the connection as http §24 says."""

import socket

from malformed_requests import BAD_CHUNKS, BROKEN, CLOSE
from clients import connect, head
from client_group import normal_requests, read_all
from processes import echo, parley
from report import BaseLine, check, show

NEXT = head("GET / HTTP/1.1", "Connection: close")


def run(options, folder):
    with echo(options, folder, 2) as server:
        # `/` reads its body, so its chunks are looked at.
        attack(options, server, "/", BROKEN + [(data, 400, CLOSE) for data in BAD_CHUNKS])
    with parley(options, folder) as server:
        attack(options, server, "/health/live", BROKEN)


def attack(options, server, path, broken):
    normal_requests(server, path, 20)
    base = BaseLine(server)
    wrong = []
    for number, (data, status, keeps) in enumerate(broken):
        for byte_by_byte in (False, True) if len(data) < 300 else (False,):
            statuses = exchange(server, number, data, byte_by_byte)
            # A kept connection answers the next request too; a closed one never does.
            if statuses[:1] != [status] or len(statuses) != (2 if keeps else 1):
                wrong.append(f"{data[:80]!r}: {statuses} instead of {status}, {'keep' if keeps else 'close'}")
    show(f"{server.name}: {len(broken)} broken requests, each followed by a sound one")
    check("one answer with its status, then close or keep (H6, H7, H191)", not wrong, "\n    ".join(wrong))
    rounds = 1 if options.short else 20
    for number in range(rounds):
        clients = [connect(server, place) for place in range(len(broken))]
        for client, (data, _, _) in zip(clients, broken):
            try:
                client.sendall(data + NEXT)
            except ConnectionError:
                pass
        for client in clients:
            client.close()
    normal_requests(server, path, 20)
    check("broken requests leave no descriptor behind (H191)", base.is_back(), base.left())
    if not options.short:
        check("nor memory (H191)", base.grown() < 16, base.left())


def exchange(server, number, data, byte_by_byte):
    """The statuses of all answers to these bytes and a sound request after them."""
    client = connect(server, number)
    try:
        if byte_by_byte:
            for place in range(len(data)):
                client.sendall(data[place:place + 1])
            client.sendall(NEXT)
        else:
            client.sendall(data + NEXT)
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
