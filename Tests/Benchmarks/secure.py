"""TLS: requests on persistent connections, and handshakes, against nginx with the same certificate."""

from load import wrk
from processes import certify, echo, nginx


def measure(options, folder, table):
    certificate = certify(folder)
    with echo(options, folder, 1, certificate=certificate) as ours:
        body = ours.request("GET", "/")[1].decode()
        with nginx(folder, f"location / {{ return 200 '{body}'; }}", 1, certificate) as theirs:
            persistent, fresh = ([], []), ([], [])
            for number in range(options.rounds):
                # The order alternates, because the second run benefits from warm caches.
                pair = list(enumerate((ours, theirs)))
                for index, server in pair if number % 2 == 0 else pair[::-1]:
                    persistent[index].append(wrk(server, "/", 64, options.seconds))
                    fresh[index].append(wrk(server, "/", 32, options.seconds, headers={"Connection": "close"}))
    table.add_comparison(f"TLS: GET, {len(body)} B of JSON, 64 connections, 1 loop", *persistent)
    table.add_comparison("TLS: a new handshake for each GET, 32 connections, 1 loop", *fresh)
