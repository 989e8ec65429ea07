#!/usr/bin/env python3
"""Several servers at one PostgreSQL server, of which any takes any request, and any may die.

usage: cluster.py --binary BINARY [--processes 3]

Every request of every client goes to a random process. One is killed with SIGKILL under load, and later
started again; then the one that makes the exports is. In the end

- every acknowledged message is there exactly once, also those that were to be sent later;
- a distinct conversation exists once, whoever created it where;
- nobody waited for a process that was dead;
- the positions of the log have no gaps, and the messages of a conversation descend strictly;
- each export was made by one process, and by another within the time of its lease when that one died.
"""

import argparse
import contextlib
import pathlib
import random
import sys
import time

tests = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(tests / "Support"), str(tests / "Commands")]
from checks import Checks
from exports import Caller, another_application, openssl
from patient import RoamingCreator, RoamingScheduler, RoamingSender
from postgres import Postgres
from server import APPLICATION, TOKEN, serving

# Seconds: nobody waits longer for an answer, whoever dies, on a machine that is busy with other tests.
PATIENCE = 5
# What a dead holder of a lease keeps it for, and what the work itself may take.
LEASE = 15 + 15


def load(crowd, seed, seconds):
    """Writes for a while; in the midst of it one process dies, and it comes back."""
    crew = []
    for number in range(12):
        kind = [RoamingSender, RoamingCreator, RoamingScheduler][number % 3]
        client = kind(crowd[0], random.Random(f"{seed}/{number}"))
        client.crowd = crowd
        crew.append(client)
    for client in crew:
        client.start()
    time.sleep(seconds)
    crowd[1].kill()
    time.sleep(seconds)
    crowd[1].start()
    time.sleep(seconds)
    for client in crew:
        client.is_over = True
    for client in crew:
        client.join(timeout=30)
        if client.is_alive():
            sys.exit("a client hangs")
    return crew


def gaps(postgres, schema):
    name = schema.rsplit("D", 1)[1]
    return postgres.run(
        f"SELECT application, COUNT(*), MIN(position), MAX(position) FROM {name}.events "
        "GROUP BY application HAVING COUNT(*) <> MAX(position) OR MIN(position) <> 1")


def makers(crowd, export):
    return [server for server in crowd if any(pathlib.Path(server.data).rglob(export))]


def exports(crowd):
    """Each is made by one process; when that one dies, another one makes the next."""
    key = crowd[0].folder / "key.pem"
    key.write_bytes(openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"))
    first = Caller(crowd[0], APPLICATION, TOKEN)
    export = first.request_export(key)
    first.completed(export)
    holders = makers(crowd, export)
    assert len(holders) == 1, f"{len(holders)} processes made one export"
    others = [server for server in crowd if server is not holders[0]]
    second = another_application(others[0])
    holders[0].kill()
    began = time.monotonic()
    export = second.request_export(key)
    second.completed(export)
    took = time.monotonic() - began
    assert took < LEASE, f"a dead process kept the work for {took:.1f} s"
    assert len(makers(others, export)) == 1
    holders[0].start()
    return took


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", required=True)
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--seconds", type=float, default=1.5)
    options = parser.parse_args()
    print(f"cluster: {options.processes} processes, seed {options.seed}", flush=True)
    with contextlib.ExitStack() as stack:
        postgres = stack.enter_context(contextlib.closing(Postgres()))
        schema = postgres.schema()
        crowd = [stack.enter_context(serving(options.binary, schema)) for _ in range(options.processes)]
        # All at once, on a schema without a table.
        for server in crowd:
            server.start(wait=False)
        for server in crowd:
            server.wait_until_ready()
        crew = load(crowd, options.seed, options.seconds)
        for server in crowd:
            checks = Checks(server)
            found = checks.of_round(crew)
            checks.stop_on_failure(options.seed)
        broken = sum(client.broken for client in crew)
        longest = max(client.longest for client in crew)
        assert broken > 0, "nobody noticed that a process died"
        assert longest < PATIENCE, f"somebody waited {longest:.1f} s"
        assert not gaps(postgres, schema), gaps(postgres, schema)
        print(f"cluster: {found}; {broken} connections broken, longest wait {longest:.2f} s", flush=True)
        took = exports(crowd)
        print(f"cluster: another process exports {took:.1f} s after the first one's death", flush=True)
        for server in crowd:
            assert server.stop() == 0


main()
