"""Downloads of a file of one MiB, plain and over TLS, against nginx."""

import random

from load import wrk
from processes import certify, echo, nginx

SIZE = 1 << 20


def measure(options, folder, table):
    files = folder / "files"
    files.mkdir()
    (files / "film.bin").write_bytes(random.Random(1).randbytes(SIZE))
    for kind, certificate in (("plain", None), ("TLS", certify(folder))):
        with echo(options, folder, 1, "--files", files, certificate=certificate) as ours:
            with nginx(folder, f"location /files/ {{ alias {files}/; }}", 1, certificate) as theirs:
                runs = ([], [])
                for number in range(options.rounds):
                    pair = list(enumerate((ours, theirs)))
                    for index, server in pair if number % 2 == 0 else pair[::-1]:
                        runs[index].append(wrk(server, "/files/film.bin", 16, options.seconds))
        table.add_comparison(f"GET a file of 1 MiB, {kind}, 16 connections, 1 loop", *runs)
