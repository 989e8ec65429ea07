#!/usr/bin/env python3
"""Kills a server that sends webhooks repeatedly, and checks what was delivered.

usage: webhooks.py --binary BINARY [--rounds 10] [--database postgres --processes 2]

A receiver accepts most deliveries, answers 500 to some and closes the connection of others. After each
round the server, or a random one of several processes on one PostgreSQL server, is killed with SIGKILL under
load. At the end

- every acknowledged message was delivered with both signatures, also when the webhook was deactivated and
  activated again directly after it;
- no message of a conversation was delivered before all earlier ones were accepted;
- at most CONCURRENCY deliveries were accepted twice for each time that a process was killed.
"""

import argparse
import contextlib
import json
import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Support"))
from clients import BASE, HEADERS, Client, Sender
from postgres import Postgres
from receiver import Receiver, standardwebhooks
from server import PATIENCE, serving

SECRET = "crash-test-secret"
# The most concurrent deliveries of one webhook.
CONCURRENCY = 16
SETTINGS = {
    "PARLEY_WEBHOOKS_ALLOWED_NETWORKS": "127.0.0.0/8",
    "PARLEY_WEBHOOKS_ALLOW_HTTP": "true",
    # The machine is busy with other tests.
    "PARLEY_WEBHOOKS_ANSWER_TIMEOUT": "60s",
    "PARLEY_WEBHOOKS_VERIFY_TIMEOUT": "60s",
    "PARLEY_WEBHOOKS_CONCURRENCY": str(CONCURRENCY),
    "PARLEY_WEBHOOKS_RETRY_SCHEDULE": ",".join(["20ms"] * 50),
}
WEBHOOKS = HEADERS | {"Accept": "application/vnd.layer.webhooks+json; version=2.0"}
# Seconds: more than the lease of a killed process, on a machine that is busy with other tests.
TIMEOUT = 180


def register(server, receiver):
    """Registers the receiver, and waits until it is active."""
    client = Client(server, None)
    draft = {"version": "2.0", "target_url": receiver.url, "events": ["Message.created"], "secret": SECRET}
    answer, body = client.request("POST", BASE + "/webhooks", json.dumps(draft), WEBHOOKS)
    assert answer.status == 201, body
    path = BASE + "/webhooks/" + json.loads(body)["id"].rsplit("/", 1)[1]
    await_active(client, path)
    return path


def await_active(client, path):
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        _, body = client.request("GET", path, None, WEBHOOKS)
        if json.loads(body)["status"] == "active":
            return
        time.sleep(0.02)
    sys.exit(f"the webhook is not active: {body}")


def reactivate(server, path):
    """Deactivates the webhook and activates it again."""
    client = Client(server, None)
    for change in ["deactivate", "activate"]:
        answer, body = client.request("POST", f"{path}/{change}", None, WEBHOOKS)
        assert answer.status < 300, body
    await_active(client, path)


def count(server, path, state):
    """The number of deliveries of a webhook in a state."""
    answer, body = Client(server, None).request("GET", f"{path}/deliveries?state={state}&page_size=1", None, WEBHOOKS)
    assert answer.status == 200, body
    return int(answer.headers["Layer-Count"])


def load(server, seed, seconds):
    """Starts six clients that send messages until the server is killed; returns them after some seconds."""
    clients = [Sender(server, random.Random(f"{seed}/{number}")) for number in range(6)]
    for sender in clients:
        sender.start()
    time.sleep(seconds)
    return clients


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", required=True)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--database", choices=["file", "postgres"], default="file")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    print(f"webhooks: {options.rounds} rounds, {options.processes} processes on {options.database}, "
          f"seed {options.seed}", flush=True)
    if not standardwebhooks():
        print("webhooks: PyPI's standardwebhooks is not installed; signatures are verified by plain HMAC alone")
    generator, outcomes, closed = random.Random(options.seed), random.Random(options.seed), [0]

    def decide():
        outcome = outcomes.random()
        if outcome < 0.05:
            closed[0] += 1
            return None
        return 500 if outcome < 0.15 else 204

    receiver = Receiver(SECRET, decide)
    with contextlib.ExitStack() as stack:
        postgres = stack.enter_context(contextlib.closing(Postgres())) if options.database == "postgres" else None
        schema = postgres and postgres.schema()
        servers = [stack.enter_context(serving(options.binary, schema, SETTINGS)) for _ in range(options.processes)]
        for server in servers:
            server.start()
        path = register(servers[0], receiver)
        senders, kills = [], 0
        for number in range(options.rounds):
            target = generator.choice(servers)
            clients = load(generator.choice(servers), f"{options.seed}/{number}", generator.uniform(0.1, 0.8))
            target.kill()
            kills += 1
            if generator.random() < 0.3:
                # Killed while it starts.
                target.start(wait=False)
                time.sleep(generator.uniform(0, 0.3))
                target.kill()
                kills += 1
            target.start()
            if clients[0].server is not target:
                clients[0].server.kill()
                kills += 1
                clients[0].server.start()
            for sender in clients:
                sender.join(timeout=PATIENCE)
                assert not sender.is_alive(), "a client hangs"
                assert sender.error is None, sender.error
            senders += clients
            if number == options.rounds // 2:
                # The process that read the log was just killed, so not all acknowledged events have been read.
                reactivate(servers[0], path)
        end = time.monotonic() + TIMEOUT
        while count(servers[0], path, "pending") and time.monotonic() < end:
            time.sleep(0.05)
        # A subset, because messages that were committed but not acknowledged are delivered as well.
        acknowledged = {text for sender in senders for text in sender.acknowledged}
        while not acknowledged <= receiver.accepted.keys() and time.monotonic() < end:
            time.sleep(0.05)
        missing = acknowledged - receiver.accepted.keys()
        repeated = sum(number - 1 for number in receiver.accepted.values())
        dead = count(servers[0], path, "dead")
        for server in servers:
            assert server.stop() == 0, "SIGTERM did not end the server with exit code 0"
    failures = receiver.errors[:20]
    if missing:
        failures.append(f"{len(missing)} of {len(acknowledged)} have not arrived")
    if dead:
        failures.append(f"{dead} are dead")
    if repeated > kills * CONCURRENCY:
        failures.append(f"{repeated} were repeated after {kills} kills")
    for failure in failures:
        print(f"FAILED: {failure}", file=sys.stderr)
    if failures:
        sys.exit(f"0 passed, {len(failures)} failed (seed {options.seed})")
    print(f"webhooks: {len(acknowledged)} acknowledged messages arrived, {repeated} of {sum(receiver.accepted.values())} "
          f"repeated after {kills} kills, {closed[0]} connections closed")
    print(f"{options.rounds} passed, 0 failed")


main()
