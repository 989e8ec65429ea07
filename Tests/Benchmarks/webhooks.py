"""Webhooks: the rate of deliveries, their delay after the message was sent, and the cost of a dead receiver.

The receivers are coroutines of one process and answer after a millisecond; they share the cores with the server
and limit its rate.
"""

import asyncio
import http.client
import json
import multiprocessing
import re
import socket
import threading
import time

from messages import CONVERSATIONS, HEADERS
from processes import APPLICATION, parley
from streams import Run, percentile, send

RECEIVERS = 16
SENDERS = 8
CONVERSATION_COUNT = 64
QUIET_RATE = 50
PENDING = 100_000
WEBHOOKS = f"/apps/{APPLICATION}/webhooks"
SETTINGS = {
    "PARLEY_WEBHOOKS_ALLOWED_NETWORKS": "127.0.0.0/8", "PARLEY_WEBHOOKS_ALLOW_HTTP": "true",
    "PARLEY_WEBHOOKS_ANSWER_TIMEOUT": "10s",
}


def measure(options, folder, table):
    busy, beside, beside_more, quiet = [], [], [], []
    for round in range(options.rounds):
        # Every additional receiver adds rows, so one that never answers is compared with one that does.
        for runs, dead, more in [(busy, 0, 0), (beside, 1, 0), (beside_more, 0, 1)]:
            path = folder / f"{round}-{dead}-{more}"
            path.mkdir()
            with parley(options, path, **SETTINGS) as ours:
                busy_run, quiet_run = deliver(ours, options.seconds, dead, RECEIVERS + more)
                runs.append(busy_run)
                if runs is busy: quiet.append(quiet_run)
    table.add_runs(f"webhooks, {RECEIVERS} receivers at 1 ms: deliveries", busy)
    table.add_runs("the same beside a receiver that never answers", beside)
    table.add_runs("the same beside one more that answers", beside_more)
    table.add_runs(f"webhooks at {QUIET_RATE} messages/s: deliveries", quiet)
    before, after = pending(options, folder)
    table.add_text(f"memory with {PENDING:,} pending deliveries", f"{after / 1024:.1f} MiB", f"{before / 1024:.1f} MiB with 1,000")


def deliver(server, seconds, dead, alive):
    """Sends messages as fast as possible and then at QUIET_RATE; returns both runs.

    `alive` receivers answer, `dead` ones (0 or 1) never do. The rates are those of RECEIVERS receivers.
    """
    ours, theirs = multiprocessing.Pipe()
    receiving = multiprocessing.get_context("fork").Process(target=receive, args=(alive, theirs))
    receiving.start()
    theirs.close()
    with UnansweringReceiver() as unanswering:
        for port in ours.recv() + [unanswering] * dead: register(server, port)
        wait_until_active(server, alive + dead)
        conversations = [conversation(server) for _ in range(CONVERSATION_COUNT)]
        runs = []
        for rate in [None, QUIET_RATE]:
            before, began = server.cpu_seconds(), time.monotonic()
            sent = send_load(server, conversations, seconds, rate)
            ours.send(sent * alive)
            delays = ours.recv()
            took = time.monotonic() - began
            spent, ones = server.cpu_seconds() - before, [(delay, 1) for delay in delays]
            count = len(delays) * RECEIVERS // alive
            runs.append(Run(count / took, percentile(ones, 0.5), percentile(ones, 0.99), spent * 1e6 / count, count))
    ours.send(None)
    receiving.join()
    return runs


def send_load(server, conversations, seconds, rate):
    """Sends messages from SENDERS threads; returns how many. `None` is a rate above any that the server reaches."""
    end, sent = time.monotonic() + seconds, [0] * SENDERS
    senders = [
        threading.Thread(target=send, args=(
            server.port, conversations[number % len(conversations)] + "/messages", (rate or 1e6) / SENDERS, end, sent, number))
        for number in range(SENDERS)
    ]
    for sender in senders: sender.start()
    for sender in senders: sender.join()
    return sum(sent)


def pending(options, folder):
    """Memory in KiB with few and with many pending deliveries to a receiver that never answers."""
    path = folder / "pending"
    path.mkdir()
    with parley(options, path, **SETTINGS) as ours, UnansweringReceiver() as unanswering:
        register(ours, unanswering)
        wait_until_active(ours, 1)
        conversations, sizes = [conversation(ours) for _ in range(CONVERSATION_COUNT)], []
        for wanted in [1000, PENDING]:
            while pending_deliveries(ours) < wanted: send_load(ours, conversations, 2, None)
            sizes.append(ours.memory("RssAnon"))
        return sizes


def conversation(server):
    status, made = server.request("POST", CONVERSATIONS, json.dumps({"participants": ["ana", "bo"]}), HEADERS)
    assert status == 201, made
    return CONVERSATIONS + "/" + json.loads(made)["id"].rsplit("/", 1)[1]


def request(server, method, path, body=None):
    fields = HEADERS | {"Accept": "application/vnd.layer.webhooks+json; version=2.0"}
    status, answer = server.request(method, path, body and json.dumps(body), fields)
    assert status < 300, answer
    return json.loads(answer)


def register(server, port):
    request(server, "POST", WEBHOOKS, {
        "version": "2.0", "target_url": f"http://127.0.0.1:{port}/in", "events": ["Message.created"], "secret": "s3cret"})


def wait_until_active(server, count):
    while sum(webhook["status"] == "active" for webhook in request(server, "GET", WEBHOOKS)) < count: time.sleep(0.02)


def pending_deliveries(server):
    """The number of pending deliveries of the first webhook."""
    fields = HEADERS | {"Accept": "application/vnd.layer.webhooks+json; version=2.0"}
    path = f"{WEBHOOKS}/{request(server, 'GET', WEBHOOKS)[0]['id'].rsplit('/', 1)[1]}/deliveries?state=pending&page_size=1"
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", path, headers=fields)
    answer = connection.getresponse()
    answer.read()
    return int(answer.headers["Layer-Count"])


class UnansweringReceiver:
    """A receiver that answers the challenge but no delivery; yields its port."""

    def __enter__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        threading.Thread(target=self.serve, daemon=True).start()
        return self.listener.getsockname()[1]

    def __exit__(self, *_):
        self.listener.close()

    def serve(self):
        held = []
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            held.append(connection)
            if head := connection.recv(65536):
                if found := re.search(rb"verification_challenge=([\w-]+)", head):
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(found[1]), found[1]))


def receive(count, pipe):
    asyncio.run(receiving(count, pipe))


async def receiving(count, pipe):
    """Answers each delivery after a millisecond; sends the delays when all deliveries have arrived."""
    delays = []

    async def serve(reader, writer):
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                if found := re.search(rb"verification_challenge=([\w-]+)", head):
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(found[1]), found[1]))
                    continue
                length = int(re.search(rb"(?i)content-length: (\d+)", head)[1])
                body = await reader.readexactly(length)
                delays.append(time.monotonic() - float(re.search(rb"t=([\d.]+);", body)[1]))
                await asyncio.sleep(0.001)
                writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            # The server closed the connection, or the run is over.
            pass
        writer.close()

    servers = [await asyncio.start_server(serve, "127.0.0.1", 0) for _ in range(count)]
    pipe.send([server.sockets[0].getsockname()[1] for server in servers])
    while True:
        while not pipe.poll(): await asyncio.sleep(0.01)
        if (wanted := pipe.recv()) is None: return
        while len(delays) < wanted: await asyncio.sleep(0.005)
        pipe.send(list(delays))
        delays.clear()
