#!/usr/bin/env python3
"""Several processes on one PostgreSQL server: each serves any request, and one is killed.

usage: cluster.py --binary BINARY [--processes 3] [--s3]

Every request of every client goes to a random process. One is killed with SIGKILL under load, and later
started again; then the one that makes the exports is killed. At the end

- every acknowledged message is there exactly once, also those that were to be sent later;
- a distinct conversation exists once, whichever process created it, and every id proposed for it is its alias;
- no client waited for a killed process;
- the positions of the log have no gaps, and the messages of a conversation descend strictly;
- each export was made by one process, and by another within the time of its lease when that one was killed.

With --s3 they share a bucket, too. Each chunk of an upload goes to a random process, and what was acknowledged
is held whichever process was killed; one upload continues at another process while its own is stopped, and is
unchanged when that one resumes. Every process serves every content, also under URLs that another one signed.
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
from retrying import AnyServerCreator, AnyServerScheduler, AnyServerSender, AnyServerUploader
from postgres import Postgres
from server import APPLICATION, TOKEN, serving
from store import ObjectStore

# Seconds: the longest wait for an answer while a process is killed, on a machine that is busy with other tests.
PATIENCE = 5
# The lease of a killed process, and the time of the work itself.
LEASE = 15 + 15
# The claim of a killed process on an upload that it was finishing, and the time of finishing.
FINISHING = 6 + 6 + 10


def load(servers, seed, seconds, kinds):
    """Writes for a while, kills one process meanwhile and starts it again."""
    clients = []
    for number in range(4 * len(kinds)):
        kind = kinds[number % len(kinds)]
        client = kind(servers[0], random.Random(f"{seed}/{number}"))
        client.servers = servers
        clients.append(client)
    for client in clients:
        client.start()
    time.sleep(seconds)
    servers[1].kill()
    time.sleep(seconds)
    servers[1].start()
    time.sleep(seconds)
    for client in clients:
        client.is_over = True
    for client in clients:
        client.join(timeout=30)
        if client.is_alive():
            sys.exit("a client hangs")
    return clients


def stalled(servers, chance):
    """An upload whose process is stopped continues at another one, and is unchanged when the first resumes."""
    first, second = Client(servers[0], chance), Client(servers[1], chance)
    first.conversation = first.post("/conversations", {"participants": ["stalled"]}, {201})["id"].rsplit("/", 1)[1]
    upload = Upload(first)
    wrong = bytes(upload.size)
    with contextlib.closing(servers[0].connection()) as line:
        line.putrequest("PUT", upload.path)
        line.putheader("Content-Range", f"bytes 0-{upload.size - 1}/{upload.size}")
        line.putheader("Content-Length", str(upload.size))
        line.endheaders()
        line.send(upload.bytes[:upload.size // 2])
        # Some of it is acknowledged by then, and shown to requests that do not interrupt it.
        time.sleep(2)
        servers[0].process.send_signal(signal.SIGSTOP)
        try:
            began = time.monotonic()
            upload.ask(second)
            took = time.monotonic() - began
            assert 0 < upload.offset <= upload.size // 2, upload.offset
            upload.send(second, upload.size * 3 // 4)
        finally:
            servers[0].process.send_signal(signal.SIGCONT)
        # Late bytes on the old connection are discarded.
        with contextlib.suppress(OSError):
            line.send(wrong[upload.size // 2:])
        upload.send(second, upload.size)
    assert upload.is_complete
    expect_everywhere(servers, [upload])
    return took


def expect_everywhere(servers, uploads):
    """Every process answers for every upload, and each download URL works at every process."""
    readers = [Client(server, None) for server in servers]
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


def position_gaps(postgres, schema):
    name = schema.rsplit("D", 1)[1]
    return postgres.run(
        f"SELECT application, COUNT(*), MIN(position), MAX(position) FROM {name}.events "
        "GROUP BY application HAVING COUNT(*) <> MAX(position) OR MIN(position) <> 1")


class Proposer(AnyServerSender):
    """Creates one distinct conversation under its own id, in either way, and sends to it."""

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
        for others in self.proposers:
            if len(self.said) == len(self.proposers) // 10:
                raise ConnectionAbortedError
            conversation = getattr(others, "name_of", self.name_of)
            text = f"{self.name_of}-{len(self.said)}"
            message = {"sender_id": "meg", "parts": [{"mime_type": "text/plain", "body": text}]}
            key = {"Idempotency-Key": text}
            found = self.post(f"/conversations/{conversation}/messages", message, {201}, key)
            assert found["conversation"]["id"].endswith(self.winner)
            self.said.append((text, found["id"]))


def proposals(servers, seed, number):
    """Clients create one conversation concurrently, each under its own id: there is one, and all ids name it."""
    clients = [Proposer(servers[0], random.Random(f"{seed}/proposals/{place}")) for place in range(number)]
    for client in clients:
        client.servers, client.proposers = servers, client.chance.sample(clients, number)
        client.start()
    for client in clients:
        client.join(timeout=60)
        if client.is_alive() or client.complaint:
            sys.exit(f"a client that proposes an id: {client.complaint or 'hangs'}")
    winners = {client.winner for client in clients}
    assert len(winners) == 1, f"{len(winners)} conversations of one set of participants"
    winner = winners.pop()
    caller = Caller(servers[0], APPLICATION, TOKEN)
    for client in clients:
        found = caller.ask("GET", f"/conversations/{client.name_of}")["id"]
        assert found.endswith(winner), f"{client.name_of} leads to {found}"
    said = {message: text for client in clients for text, message in client.said}
    kept, last = {}, ""
    while page := caller.ask("GET", f"/conversations/{winner}/messages?page_size=100{last}"):
        for message in page:
            assert message["id"] not in kept, f"{message['id']} is there twice"
            kept[message["id"]] = message["parts"][0]["body"]
        last = "&from_id=" + page[-1]["id"].rsplit("/", 1)[1]
    assert kept == said, f"{len(said)} messages were acknowledged, {len(kept)} are there"
    aliases = sum(client.name_of != winner for client in clients)
    assert aliases == number - 1, f"{aliases} of {number} ids are aliases"
    return len(said)


def exporting_servers(servers, export):
    return [server for server in servers if any(pathlib.Path(server.data).rglob(export))]


def exports(servers):
    """Each export is made by one process; when that one is killed, another one makes the next."""
    key = servers[0].folder / "key.pem"
    key.write_bytes(openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"))
    first = Caller(servers[0], APPLICATION, TOKEN)
    export = first.request_export(key)
    first.completed(export)
    holders = exporting_servers(servers, export)
    assert len(holders) == 1, f"{len(holders)} processes made one export"
    others = [server for server in servers if server is not holders[0]]
    second = another_application(others[0])
    holders[0].kill()
    began = time.monotonic()
    export = second.request_export(key)
    second.completed(export)
    took = time.monotonic() - began
    assert took < LEASE, f"a killed process held the work for {took:.1f} s"
    assert len(exporting_servers(others, export)) == 1
    holders[0].start()
    return took


def exported(servers):
    """What one process exports, every process serves."""
    key = servers[0].folder / "key.pem"
    key.write_bytes(openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"))
    caller = Caller(servers[0], APPLICATION, TOKEN)
    shown = caller.completed(caller.request_export(key))
    path = "/" + shown["download_url"].split("/", 3)[3]
    archives = set()
    for server in servers:
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
        kinds = [AnyServerSender, AnyServerCreator, AnyServerScheduler]
        settings = {}
        if options.s3:
            settings = stack.enter_context(contextlib.closing(ObjectStore())).settings
            if not settings:
                return print("cluster: with an object store: left out")
            # Of several parts; the last one is short.
            Upload.sizes = [1000, 3_000_003, 17_000_003]
            kinds = [AnyServerUploader, AnyServerSender]
        servers = [stack.enter_context(serving(options.binary, schema, settings=settings))
                 for _ in range(options.processes)]
        # All at once, on a schema without a table.
        for server in servers:
            server.start(wait=False)
        for server in servers:
            server.wait_until_ready()
        clients = load(servers, options.seed, options.seconds, kinds)
        for server in servers:
            checks = Checks(server)
            found = checks.of_round(clients)
            checks.stop_on_failure(options.seed)
        broken = sum(client.broken for client in clients)
        longest = max(client.longest for client in clients)
        assert broken > 0, "no client noticed that a process was killed"
        patience = FINISHING if options.s3 else PATIENCE
        assert longest < patience, f"a client waited {longest:.1f} s"
        assert not position_gaps(postgres, schema), position_gaps(postgres, schema)
        print(f"cluster: {found}; {broken} connections broken, longest wait {longest:.2f} s", flush=True)
        if options.s3:
            whole = [upload for client in clients for upload in getattr(client, "uploads", []) if upload.is_complete]
            expect_everywhere(servers, whole[:10])
            Upload.sizes = [17_000_003]
            took = stalled(servers, random.Random(options.seed))
            print(f"cluster: an upload continues {took:.2f} s after its process was stopped", flush=True)
            exported(servers)
        else:
            sent = proposals(servers, options.seed, 100)
            assert not position_gaps(postgres, schema), position_gaps(postgres, schema)
            print(f"cluster: 100 ids are one conversation with {sent} messages", flush=True)
            took = exports(servers)
            print(f"cluster: another process exports {took:.1f} s after the first one was killed", flush=True)
        for server in servers:
            assert server.stop() == 0


main()
