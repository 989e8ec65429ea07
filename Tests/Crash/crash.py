#!/usr/bin/env python3
"""Kills the server under load repeatedly, and checks that no acknowledged data is lost.

Each round starts the real binary on the same folder, lets clients write for a random short time,
kills it with SIGKILL, starts it again and checks:

- every acknowledged message and conversation exists exactly once, every other one at most once,
  scheduled messages included; in half of the rounds the server is killed while it sends them;
- a request with an Idempotency-Key that is sent again takes effect exactly once, whether its first
  answer arrived or not;
- the messages of a conversation have strictly descending positions;
- every upload has at least the acknowledged offset, and a finished content equals what was sent,
  in all four protocols, with and without checksums, and also when it is a concatenation.

With `--database postgres` the rows are on a PostgreSQL server, which is killed together with the binary
in some rounds.

--seed reproduces the choices of the clients, but not the timing.
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
from server import PATIENCE, serving
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
    parser.add_argument("--s3", action="store_true", help="store contents in an object store, long ones in parts")
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
        client.join(timeout=PATIENCE)
        if client.is_alive():
            sys.exit("a client hangs: a connection was not closed when the server was killed")
    return clients


def main():
    options = arguments()
    print(f"crash test: {options.rounds} rounds on {options.database}, seed {options.seed}", flush=True)
    generator = random.Random(options.seed)
    with contextlib.ExitStack() as stack:
        postgres = stack.enter_context(contextlib.closing(Postgres())) if options.database == "postgres" else None
        store = stack.enter_context(contextlib.closing(ObjectStore())) if options.s3 else None
        if store and not store.settings:
            return print("crash test: skipped: there is no object store")
        settings = {}
        if store:
            # The store is slow while the machine is busy with other tests.
            settings = store.settings | {"PARLEY_UPLOADS_FINALIZE_WAIT": "100s"}
            # The largest has several parts, of which the last one is short.
            Upload.sizes = [1000, 3_000_003, 17_000_003]
        server = stack.enter_context(
            serving(options.binary, postgres and postgres.schema(), settings=settings))
        checks = Checks(server)
        for number in range(1, options.rounds + 1):
            if generator.random() < 0.3:
                # Killed while it starts.
                server.start(wait=False)
                time.sleep(generator.uniform(0, 0.08))
                server.kill()
            server.start()
            clients = load(server, options.seed, number, options.clients, generator.uniform(0.05, 0.9))
            if postgres and generator.random() < 0.3:
                postgres.send("crash")
                postgres.send("start")
            if generator.random() < 0.5:
                # Killed while it sends scheduled messages.
                server.start()
                time.sleep(generator.uniform(0.2, 1.6))
                server.kill()
            server.start()
            found = checks.check_round(clients)
            server.kill()
            print(f"round {number}: {found}", flush=True)
            checks.stop_on_failure(options.seed)
        server.start()
        print(f"at the end: {checks.check_all()}", flush=True)
        if server.stop() != 0:
            checks.fail("SIGTERM did not end the server with exit code 0")
        checks.stop_on_failure(options.seed)
    print(f"{options.rounds} passed, 0 failed")


if __name__ == "__main__":
    main()
