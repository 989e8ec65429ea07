"""TLS: requests on kept connections, and handshakes, against nginx with the same certificate."""

from load import wrk
from processes import certify, echo, nginx


def measure(options, folder, table):
    certificate = certify(folder)
    with echo(options, folder, 1, certificate=certificate) as ours:
        body = ours.request("GET", "/")[1].decode()
        with nginx(folder, f"location / {{ return 200 '{body}'; }}", 1, certificate) as theirs:
            kept, fresh = ([], []), ([], [])
            for number in range(options.rounds):
                # The second run finds a warmer machine, so the order alternates.
                pair = list(enumerate((ours, theirs)))
                for place, server in pair if number % 2 == 0 else pair[::-1]:
                    kept[place].append(wrk(server, "/", 64, options.seconds))
                    fresh[place].append(wrk(server, "/", 32, options.seconds, headers={"Connection": "close"}))
    table.compare(f"TLS: GET, {len(body)} B of JSON, 64 connections, 1 loop", *kept)
    table.compare("TLS: a new handshake for each GET, 32 connections, 1 loop", *fresh)
