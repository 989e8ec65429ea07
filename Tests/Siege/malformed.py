"""Malformed heads and bodies: one answer with the status, then a closed or kept connection (http §24)."""

import socket

from malformed_requests import BAD_CHUNKS, MALFORMED, CLOSE
from clients import connect, head
from client_group import normal_requests, read_all
from processes import echo, parley
from report import Baseline, check, show

NEXT = head("GET / HTTP/1.1", "Connection: close")


def run(options, folder):
    with echo(options, folder, 2) as server:
        # `/` reads its body, so its chunks are parsed.
        attack(options, server, "/", MALFORMED + [(data, 400, CLOSE) for data in BAD_CHUNKS])
    with parley(options, folder) as server:
        attack(options, server, "/health/live", MALFORMED)


def attack(options, server, path, malformed):
    normal_requests(server, path, 20)
    base = Baseline(server)
    failures = []
    for number, (data, status, is_kept) in enumerate(malformed):
        for byte_by_byte in (False, True) if len(data) < 300 else (False,):
            statuses = exchange(server, number, data, byte_by_byte)
            # A kept connection answers the next request too; a closed one never does.
            if statuses[:1] != [status] or len(statuses) != (2 if is_kept else 1):
                failures.append(f"{data[:80]!r}: {statuses} instead of {status}, {'keep' if is_kept else 'close'}")
    show(f"{server.name}: {len(malformed)} malformed requests, each followed by a valid one")
    check("one answer with its status, then close or keep (H6, H7, H191)", not failures, "\n    ".join(failures))
    rounds = 1 if options.short else 20
    for number in range(rounds):
        clients = [connect(server, index) for index in range(len(malformed))]
        for client, (data, _, _) in zip(clients, malformed):
            try:
                client.sendall(data + NEXT)
            except ConnectionError:
                pass
        for client in clients:
            client.close()
    normal_requests(server, path, 20)
    check("malformed requests leave no descriptor behind (H191)", base.is_restored(), base.difference())
    if not options.short:
        check("malformed requests leave no memory behind (H191)", base.growth() < 16, base.difference())


def exchange(server, number, data, byte_by_byte):
    """The statuses of all answers to these bytes and a valid request after them."""
    client = connect(server, number)
    try:
        if byte_by_byte:
            for index in range(len(data)):
                client.sendall(data[index:index + 1])
            client.sendall(NEXT)
        else:
            client.sendall(data + NEXT)
        client.shutdown(socket.SHUT_WR)
    except OSError:
        # The answer arrived before everything was sent.
        pass
    answers = read_all(client)
    client.close()
    return statuses(answers)


def statuses(answers):
    """The statuses of consecutive answers; content is skipped, as it may look like an answer."""
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
