#!/usr/bin/env python3
"""Several processes on one PostgreSQL server: each serves any request, and one is killed.

usage: cluster.py --binary BINARY [--processes 3] [--s3]

Every request of every client goes to a random process. One process is killed with SIGKILL under load and
started again; then the process that makes the exports is killed. At the end

- every acknowledged message is stored exactly once, scheduled ones included;
- a distinct conversation exists once, whichever process created it, and every id proposed for it is its alias;
- no client waited for a killed process;
- the positions of the log have no gaps, and the positions of a conversation's messages, newest first, descend strictly;
- one process makes each export; after it is killed, another one makes the next export once the lease has expired.

With --s3 the processes share a bucket. Each chunk of an upload goes to a random process, and acknowledged bytes are
stored whichever process was killed; one upload continues at another process while its own is stopped, and is
unchanged when that one resumes. Every process serves every content, also at URLs that another process signed.
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
from postgres import Postgres, schema_of
from server import APPLICATION, PATIENCE, TOKEN, serving
from store import ObjectStore

# Seconds: the longest wait for an answer while a process is killed, on a machine that is busy with other tests. A
# handler that waits for something else ends after 30 s.
MAX_WAIT = 20
# Seconds: the lease of a killed process, and the time of an export on such a machine.
LEASE = 15 + 60
# Seconds: twice the claim of a killed process on an upload that it was finishing, and the time of finishing. A request
# waits 30 s for the end.
FINISHING = 6 + 6 + 16


def load(servers, seed, seconds, kinds):
    """Writes from several clients while one process is killed and started again; returns the clients."""
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
        client.is_stopped = True
    for client in clients:
        client.join(timeout=PATIENCE)
        if client.is_alive():
            sys.exit("a client hangs")
    return clients


def stalled(servers, generator):
    """Expects that an upload continues at another process while its own is stopped.

    Expects also that the content does not change when the first process resumes. Returns the seconds that the query
    of the offset took.
    """
    first, second = Client(servers[0], generator), Client(servers[1], generator)
    first.conversation = first.post("/conversations", {"participants": ["stalled"]}, {201})["id"].rsplit("/", 1)[1]
    upload = Upload(first)
    wrong = bytes(upload.size)
    with contextlib.closing(servers[0].connection()) as connection:
        connection.putrequest("PUT", upload.path)
        connection.putheader("Content-Range", f"bytes 0-{upload.size - 1}/{upload.size}")
        connection.putheader("Content-Length", str(upload.size))
        connection.endheaders()
        connection.send(upload.bytes[:upload.size // 2])
        # Until some bytes are acknowledged; a HEAD without fields does not interrupt the upload.
        deadline = time.monotonic() + PATIENCE
        while int(second.request("HEAD", upload.path, None, {})[0].headers["Upload-Offset"] or 0) == 0:
            assert time.monotonic() < deadline, "no byte is acknowledged"
            time.sleep(0.1)
        servers[0].process.send_signal(signal.SIGSTOP)
        try:
            began = time.monotonic()
            upload.query_offset(second)
            took = time.monotonic() - began
            assert 0 < upload.offset <= upload.size // 2, upload.offset
            upload.send(second, upload.size * 3 // 4)
        finally:
            servers[0].process.send_signal(signal.SIGCONT)
        # Late bytes on the old connection are discarded.
        with contextlib.suppress(OSError):
            connection.send(wrong[upload.size // 2:])
        upload.send(second, upload.size)
    assert upload.is_complete
    expect_everywhere(servers, [upload])
    return took


def expect_everywhere(servers, uploads):
    """Expects that each process answers for each upload, and that each download URL works at each process."""
    readers = [Client(server, None) for server in servers]
    for upload in uploads:
        upload.is_complete = False
        for reader in readers:
            upload.query_offset(reader)
            assert upload.is_complete, f"{upload.identifier} is not complete at every process"
        urls = []
        for reader in readers:
            answer, body = reader.request("GET", f"{upload.contents_path}/{upload.identifier}", headers=HEADERS)
            assert answer.status == 200, answer.status
            urls.append("/" + json.loads(body)["download_url"].split("/", 3)[3])
        for url in set(urls):
            for reader in readers:
                answer, body = reader.request("GET", url, headers={})
                assert answer.status == 200 and body == upload.bytes, f"{answer.status} for a content"


def position_gaps(postgres, schema):
    """The applications whose log positions have gaps; empty without gaps."""
    name = schema_of(schema)
    return postgres.run(
        f"SELECT application, COUNT(*), MIN(position), MAX(position) FROM {name}.events "
        "GROUP BY application HAVING COUNT(*) <> MAX(position) OR MIN(position) <> 1")


class Proposer(AnyServerSender):
    """Creates the distinct conversation of all proposers with its own proposed id, and sends messages to it.

    The id is in the body or in `If-None-Match`.
    """

    def prepare(self):
        name = str(uuid.UUID(int=self.generator.getrandbits(128), version=4))
        draft = {"participants": ["meg", "nat"], "distinct": True}
        if self.generator.random() < 0.5:
            made = self.post("/conversations", draft | {"id": name}, {200, 201})
        else:
            made = self.post("/conversations", draft, {200, 201}, {"If-None-Match": name})
        self.proposed_id, self.conversation_id = name, made["id"].rsplit("/", 1)[1]
        self.sent = []

    def work(self):
        for other in self.proposers:
            if len(self.sent) == len(self.proposers) // 10:
                raise ConnectionAbortedError
            conversation = getattr(other, "proposed_id", self.proposed_id)
            text = f"{self.proposed_id}-{len(self.sent)}"
            message = {"sender_id": "meg", "parts": [{"mime_type": "text/plain", "body": text}]}
            key = {"Idempotency-Key": text}
            found = self.post(f"/conversations/{conversation}/messages", message, {201}, key)
            assert found["conversation"]["id"].endswith(self.conversation_id)
            self.sent.append((text, found["id"]))


def proposals(servers, seed, number):
    """Lets clients create one distinct conversation concurrently, each with its own id.

    Expects that one conversation exists and that all ids resolve to it. Returns the number of its messages.
    """
    clients = [Proposer(servers[0], random.Random(f"{seed}/proposals/{index}")) for index in range(number)]
    for client in clients:
        client.servers, client.proposers = servers, client.generator.sample(clients, number)
        client.start()
    for client in clients:
        client.join(timeout=PATIENCE)
        if client.is_alive() or client.error:
            sys.exit(f"a client that proposes an id failed: {client.error or 'it hangs'}")
    conversation_ids = {client.conversation_id for client in clients}
    assert len(conversation_ids) == 1, f"{len(conversation_ids)} conversations of one set of participants"
    conversation_id = conversation_ids.pop()
    caller = Caller(servers[0], APPLICATION, TOKEN)
    for client in clients:
        found = caller.send("GET", f"/conversations/{client.proposed_id}")["id"]
        assert found.endswith(conversation_id), f"{client.proposed_id} resolves to {found}"
    sent = {message: text for client in clients for text, message in client.sent}
    stored, last = {}, ""
    while page := caller.send("GET", f"/conversations/{conversation_id}/messages?page_size=100{last}"):
        for message in page:
            assert message["id"] not in stored, f"{message['id']} exists twice"
            stored[message["id"]] = message["parts"][0]["body"]
        last = "&from_id=" + page[-1]["id"].rsplit("/", 1)[1]
    assert stored == sent, f"{len(sent)} messages were acknowledged, {len(stored)} are stored"
    aliases = sum(client.proposed_id != conversation_id for client in clients)
    assert aliases == number - 1, f"{aliases} of {number} ids are aliases"
    return len(sent)


def exporting_servers(servers, export):
    """The servers that have the file of an export in their data folder."""
    return [server for server in servers if any(pathlib.Path(server.data).rglob(export))]


def exports(servers):
    """Expects that one process makes an export, and that another one makes the next export after the first is killed.

    Returns the seconds of the second export.
    """
    key = servers[0].folder / "key.pem"
    key.write_bytes(openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"))
    first = Caller(servers[0], APPLICATION, TOKEN)
    export = first.request_export(key)
    first.completed(export)
    exporting = exporting_servers(servers, export)
    assert len(exporting) == 1, f"{len(exporting)} processes made one export"
    others = [server for server in servers if server is not exporting[0]]
    second = another_application(others[0])
    exporting[0].kill()
    began = time.monotonic()
    export = second.request_export(key)
    second.completed(export)
    took = time.monotonic() - began
    assert took < LEASE, f"the export took {took:.1f} s after a process was killed"
    assert len(exporting_servers(others, export)) == 1
    exporting[0].start()
    return took


def exported(servers):
    """Expects that every process serves the same archive of an export."""
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
    parser.add_argument("--s3", action="store_true", help="the processes share a bucket")
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
                return print("cluster: skipped: there is no object store")
            # The largest has several parts, of which the last one is short.
            Upload.sizes = [1000, 3_000_003, 17_000_003]
            kinds = [AnyServerUploader, AnyServerSender]
        servers = [stack.enter_context(serving(options.binary, schema, settings=settings))
                 for _ in range(options.processes)]
        # All at the same time, on an empty schema.
        for server in servers:
            server.start(wait=False)
        for server in servers:
            server.wait_until_ready()
        clients = load(servers, options.seed, options.seconds, kinds)
        for server in servers:
            checks = Checks(server)
            found = checks.check_round(clients)
            checks.stop_on_failure(options.seed)
        broken = sum(client.broken for client in clients)
        longest_wait = max(client.longest_wait for client in clients)
        assert broken > 0, "no client noticed that a process was killed"
        limit = FINISHING if options.s3 else MAX_WAIT
        assert longest_wait < limit, f"a client waited {longest_wait:.1f} s"
        assert not position_gaps(postgres, schema), position_gaps(postgres, schema)
        print(f"cluster: {found}; {broken} connections broken, longest wait {longest_wait:.2f} s", flush=True)
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
            print(f"cluster: 100 proposed ids resolve to one conversation with {sent} messages", flush=True)
            took = exports(servers)
            print(f"cluster: another process exports {took:.1f} s after the first one was killed", flush=True)
        for server in servers:
            assert server.stop() == 0


main()
