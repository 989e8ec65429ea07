#!/usr/bin/env python3
"""Kills the server under load repeatedly, and checks that it lost nothing acknowledged.

Each round starts the real binary on the same folder, lets clients write for a random short time,
kills it with SIGKILL, starts it again and checks:

- every acknowledged message and conversation is there exactly once, every other at most once, also
  scheduled messages; in half of the rounds the server is killed while it sends them;
- what was sent under an Idempotency-Key and is sent again is there exactly once, whether its answer
  came or not;
- the messages of a conversation carry strictly descending positions;
- every upload holds at least the offset that was acknowledged, and once it is finished its content
  is, byte by byte, what was sent; in all four protocols, with and without checksums, and also when
  it was made of parts.

With `--database postgres` the rows lie on a PostgreSQL server, which in some of the rounds is killed
together with the binary.

Failures are reproduced by --seed: choices of clients come from it, timing does not.
"""

import argparse
import contextlib
import pathlib
import random
import sys
import time

from checks import Checks
from clients import Creator, KeyedSender, Scheduler, Sender, Upload, Uploader
from draft import DraftUploader
from server import serving
from tus import TusUploader

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Support"))
from store import ObjectStore
from postgres import Postgres


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", required=True)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--clients", type=int, default=14)
    parser.add_argument("--database", choices=["file", "postgres"], default="file")
    parser.add_argument("--s3", action="store_true", help="contents lie in an object store, in parts where they are long")
    return parser.parse_args()


def load(server, seed, number, count, seconds):
    """Writes from several threads until the server is killed, and returns the clients."""
    kinds = [Sender, Creator, Uploader, KeyedSender, Scheduler, TusUploader, DraftUploader]
    clients = [kinds[i % len(kinds)](server, random.Random(f"{seed}/{number}/{i}")) for i in range(count)]
    for client in clients:
        client.start()
    time.sleep(seconds)
    server.kill()
    for client in clients:
        client.join(timeout=30)
        if client.is_alive():
            sys.exit("a client hangs: a connection was not closed when the server was killed")
    return clients


def main():
    options = arguments()
    print(f"crash test: {options.rounds} rounds on {options.database}, seed {options.seed}", flush=True)
    chance = random.Random(options.seed)
    with contextlib.ExitStack() as stack:
        postgres = stack.enter_context(contextlib.closing(Postgres())) if options.database == "postgres" else None
        store = stack.enter_context(contextlib.closing(ObjectStore())) if options.s3 else None
        if store and not store.settings:
            return print("crash test with an object store: left out")
        if store:
            # Of several parts; the last one is short.
            Upload.sizes = [1000, 3_000_003, 17_000_003]
        server = stack.enter_context(
            serving(options.binary, postgres and postgres.schema(), settings=store.settings if store else {}))
        checks = Checks(server)
        for number in range(1, options.rounds + 1):
            if chance.random() < 0.3:
                # Being killed while it starts must do no harm either.
                server.start(wait=False)
                time.sleep(chance.uniform(0, 0.08))
                server.kill()
            server.start()
            clients = load(server, options.seed, number, options.clients, chance.uniform(0.05, 0.9))
            if postgres and chance.random() < 0.3:
                postgres.send("crash")
                postgres.send("start")
            if chance.random() < 0.5:
                # The same applies while it sends scheduled messages.
                server.start()
                time.sleep(chance.uniform(0.2, 1.6))
                server.kill()
            server.start()
            found = checks.of_round(clients)
            server.kill()
            print(f"round {number}: {found}", flush=True)
            checks.stop_on_failure(options.seed)
        server.start()
        print(f"at the end: {checks.of_everything()}", flush=True)
        if server.stop() != 0:
            checks.fail("SIGTERM did not end the server with exit code 0")
        checks.stop_on_failure(options.seed)
    print(f"{options.rounds} passed, 0 failed")


if __name__ == "__main__":
    main()
