#!/usr/bin/env python3
"""Several servers at one PostgreSQL server, of which any takes any request, and any may die.

usage: cluster.py --binary BINARY [--processes 3] [--s3]

Every request of every client goes to a random process. One is killed with SIGKILL under load, and later
started again; then the one that makes the exports is. In the end

- every acknowledged message is there exactly once, also those that were to be sent later;
- a distinct conversation exists once, whoever created it where, and every id proposed for it leads to it;
- nobody waited for a process that was dead;
- the positions of the log have no gaps, and the messages of a conversation descend strictly;
- each export was made by one process, and by another within the time of its lease when that one died.

With --s3 they share a bucket, too. Each chunk of an upload goes to a random process, and what was acknowledged
is held whoever died; one upload goes on elsewhere while its process stands still, and stays as it was when that
one wakes up. Every process hands out every content, also under URLs that another one has signed.
"""

import argparse
import contextlib
import json
import pathlib
import random
import signal
import sys
import time
import uuid

tests = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(tests / "Support"), str(tests / "Commands")]
from checks import Checks
from clients import HEADERS, Client, Upload
from exports import Caller, another_application, openssl
from patient import RoamingCreator, RoamingScheduler, RoamingSender, RoamingUploader
from postgres import Postgres
from server import APPLICATION, TOKEN, serving
from store import ObjectStore

# Seconds: nobody waits longer for an answer, whoever dies, on a machine that is busy with other tests.
PATIENCE = 5
# What a dead holder of a lease keeps it for, and what the work itself may take.
LEASE = 15 + 15
# What a dead process keeps an upload for that it was finishing, and what finishing takes.
FINISHING = 6 + 6 + 10


def load(crowd, seed, seconds, kinds):
    """Writes for a while; in the midst of it one process dies, and it comes back."""
    crew = []
    for number in range(4 * len(kinds)):
        kind = kinds[number % len(kinds)]
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


def stalled(crowd, chance):
    """An upload whose process stands still goes on at another one, and stays what it is when that one wakes."""
    first, second = Client(crowd[0], chance), Client(crowd[1], chance)
    first.conversation = first.post("/conversations", {"participants": ["stalled"]}, {201})["id"].rsplit("/", 1)[1]
    upload = Upload(first)
    wrong = bytes(upload.size)
    with contextlib.closing(crowd[0].connection()) as line:
        line.putrequest("PUT", upload.path)
        line.putheader("Content-Range", f"bytes 0-{upload.size - 1}/{upload.size}")
        line.putheader("Content-Length", str(upload.size))
        line.endheaders()
        line.send(upload.bytes[:upload.size // 2])
        # Some of it is acknowledged by then, and shown to whoever asks without disturbing.
        time.sleep(2)
        crowd[0].process.send_signal(signal.SIGSTOP)
        try:
            began = time.monotonic()
            upload.ask(second)
            took = time.monotonic() - began
            assert 0 < upload.offset <= upload.size // 2, upload.offset
            upload.send(second, upload.size * 3 // 4)
        finally:
            crowd[0].process.send_signal(signal.SIGCONT)
        # What comes late by the old way is nobody's.
        with contextlib.suppress(OSError):
            line.send(wrong[upload.size // 2:])
        upload.send(second, upload.size)
    assert upload.is_complete
    look(crowd, [upload])
    return took


def look(crowd, uploads):
    """Every process answers for every upload, and its URLs open at every other one."""
    readers = [Client(server, None) for server in crowd]
    for upload in uploads:
        upload.is_complete = False
        for reader in readers:
            upload.ask(reader)
            assert upload.is_complete, f"{upload.identifier} is not complete everywhere"
        urls = []
        for reader in readers:
            answer, body = reader.request("GET", f"{upload.place}/{upload.identifier}", headers=HEADERS)
            assert answer.status == 200, answer.status
            urls.append("/" + json.loads(body)["download_url"].split("/", 3)[3])
        for url in set(urls):
            for reader in readers:
                answer, body = reader.request("GET", url, headers={})
                assert answer.status == 200 and body == upload.bytes, f"{answer.status} for a content"


def gaps(postgres, schema):
    name = schema.rsplit("D", 1)[1]
    return postgres.run(
        f"SELECT application, COUNT(*), MIN(position), MAX(position) FROM {name}.events "
        "GROUP BY application HAVING COUNT(*) <> MAX(position) OR MIN(position) <> 1")


class Proposer(RoamingSender):
    """Creates the one conversation of two under an id of his own, by either way, and talks to it."""

    def prepare(self):
        name = str(uuid.UUID(int=self.chance.getrandbits(128), version=4))
        draft = {"participants": ["meg", "nat"], "distinct": True}
        if self.chance.random() < 0.5:
            made = self.post("/conversations", draft | {"id": name}, {200, 201})
        else:
            made = self.post("/conversations", draft, {200, 201}, {"If-None-Match": name})
        self.name_of, self.winner = name, made["id"].rsplit("/", 1)[1]
        self.said = []

    def work(self):
        for others in self.crew:
            if len(self.said) == len(self.crew) // 10:
                raise ConnectionAbortedError
            home = getattr(others, "name_of", self.name_of)
            text = f"{self.name_of}-{len(self.said)}"
            message = {"sender_id": "meg", "parts": [{"mime_type": "text/plain", "body": text}]}
            key = {"Idempotency-Key": text}
            found = self.post(f"/conversations/{home}/messages", message, {201}, key)
            assert found["conversation"]["id"].endswith(self.winner)
            self.said.append((text, found["id"]))


def meeting(crowd, seed, number):
    """So many create one conversation at once, each under its own id: there is one, by all these names."""
    crew = [Proposer(crowd[0], random.Random(f"{seed}/meeting/{place}")) for place in range(number)]
    for client in crew:
        client.crowd, client.crew = crowd, client.chance.sample(crew, number)
        client.start()
    for client in crew:
        client.join(timeout=60)
        if client.is_alive() or client.complaint:
            sys.exit(f"who proposes an id: {client.complaint or 'hangs'}")
    winners = {client.winner for client in crew}
    assert len(winners) == 1, f"{len(winners)} conversations of one set of participants"
    winner = winners.pop()
    caller = Caller(crowd[0], APPLICATION, TOKEN)
    for client in crew:
        found = caller.ask("GET", f"/conversations/{client.name_of}")["id"]
        assert found.endswith(winner), f"{client.name_of} leads to {found}"
    said = {message: text for client in crew for text, message in client.said}
    kept, last = {}, ""
    while page := caller.ask("GET", f"/conversations/{winner}/messages?page_size=100{last}"):
        for message in page:
            assert message["id"] not in kept, f"{message['id']} stands twice"
            kept[message["id"]] = message["parts"][0]["body"]
        last = "&from_id=" + page[-1]["id"].rsplit("/", 1)[1]
    assert kept == said, f"{len(said)} messages were acknowledged, {len(kept)} are there"
    aliases = sum(client.name_of != winner for client in crew)
    assert aliases == number - 1, f"{aliases} of {number} ids are aliases"
    return len(said)


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


def exported(crowd):
    """What one process exports, every process hands out."""
    key = crowd[0].folder / "key.pem"
    key.write_bytes(openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"))
    caller = Caller(crowd[0], APPLICATION, TOKEN)
    shown = caller.completed(caller.request_export(key))
    path = "/" + shown["download_url"].split("/", 3)[3]
    archives = set()
    for server in crowd:
        answer, body = Client(server, None).request("GET", path, headers={})
        assert answer.status == 200, f"an archive answered {answer.status}"
        archives.add(body)
    assert len(archives) == 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", required=True)
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--s3", action="store_true", help="they share a bucket, too")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--seconds", type=float, default=1.5)
    options = parser.parse_args()
    print(f"cluster: {options.processes} processes, seed {options.seed}", flush=True)
    with contextlib.ExitStack() as stack:
        postgres = stack.enter_context(contextlib.closing(Postgres()))
        schema = postgres.schema()
        kinds = [RoamingSender, RoamingCreator, RoamingScheduler]
        settings = {}
        if options.s3:
            settings = stack.enter_context(contextlib.closing(ObjectStore())).settings
            if not settings:
                return print("cluster: with an object store: left out")
            # Of several parts; the last one is short.
            Upload.sizes = [1000, 3_000_003, 17_000_003]
            kinds = [RoamingUploader, RoamingSender]
        crowd = [stack.enter_context(serving(options.binary, schema, settings=settings))
                 for _ in range(options.processes)]
        # All at once, on a schema without a table.
        for server in crowd:
            server.start(wait=False)
        for server in crowd:
            server.wait_until_ready()
        crew = load(crowd, options.seed, options.seconds, kinds)
        for server in crowd:
            checks = Checks(server)
            found = checks.of_round(crew)
            checks.stop_on_failure(options.seed)
        broken = sum(client.broken for client in crew)
        longest = max(client.longest for client in crew)
        assert broken > 0, "nobody noticed that a process died"
        patience = FINISHING if options.s3 else PATIENCE
        assert longest < patience, f"somebody waited {longest:.1f} s"
        assert not gaps(postgres, schema), gaps(postgres, schema)
        print(f"cluster: {found}; {broken} connections broken, longest wait {longest:.2f} s", flush=True)
        if options.s3:
            whole = [upload for client in crew for upload in getattr(client, "uploads", []) if upload.is_complete]
            look(crowd, whole[:10])
            Upload.sizes = [17_000_003]
            took = stalled(crowd, random.Random(options.seed))
            print(f"cluster: an upload goes on {took:.2f} s after its process stood still", flush=True)
            exported(crowd)
        else:
            met = meeting(crowd, options.seed, 100)
            assert not gaps(postgres, schema), gaps(postgres, schema)
            print(f"cluster: 100 ids are one conversation with {met} messages", flush=True)
            took = exports(crowd)
            print(f"cluster: another process exports {took:.1f} s after the first one's death", flush=True)
        for server in crowd:
            assert server.stop() == 0


main()
