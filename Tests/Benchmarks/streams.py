"""Live streams: how long after its commit's answer begins a message takes to reach all who stream the log.

The sender writes the time into each message, and one thread reads all streams, so the figure holds what
the reader costs as well: it shares the cores with the server.
"""

import dataclasses
import http.client
import json
import selectors
import socket
import threading
import time

from messages import CONVERSATIONS, HEADERS
from processes import APPLICATION, TOKEN, parley

PATH = f"/apps/{APPLICATION}/events?after=now&types=message.sent"
SENDERS = 8


@dataclasses.dataclass
class Run:
    """What `Table.alone` shows: deliveries a second, microseconds, CPU of the server for each."""

    rate: float
    p50: float
    p99: float
    cpu: float


def measure(options, folder, table):
    count, rate = options.streams, options.stream_rate
    runs, note = [], ""
    for round in range(options.rounds):
        place = folder / str(round)
        place.mkdir()
        with parley(
            options, place, PARLEY_HTTP_MAX_CONNECTIONS_PER_ADDRESS="100000",
            PARLEY_EVENTS_MAX_STREAMS_PER_TOKEN="100000",
        ) as ours:
            run, note = deliver(ours, count, rate, options.seconds)
            runs.append(run)
    table.alone(f"{count} live streams, {rate} messages/s wanted: deliveries", runs, note)


def deliver(server, count, rate, seconds):
    status, made = server.request(
        "POST", CONVERSATIONS, json.dumps({"participants": ["ana", "bo"]}), HEADERS)
    assert status == 201, made
    messages = CONVERSATIONS + "/" + json.loads(made)["id"].rsplit("/", 1)[1] + "/messages"
    readers = [Reader(server.port) for _ in range(count)]
    for reader in readers: reader.greet()
    before = server.cpu_seconds()
    end = time.monotonic() + seconds
    sent = [0] * SENDERS
    senders = [
        threading.Thread(target=send, args=(server.port, messages, rate / SENDERS, end, sent, number))
        for number in range(SENDERS)
    ]
    for sender in senders: sender.start()
    delays = read(readers, senders, sent)
    spent = server.cpu_seconds() - before
    for reader in readers:
        places = reader.places
        assert places == list(range(places[0], places[0] + sum(sent))), "a gap or a double"
        reader.socket.close()
    delays.sort()
    total = len(delays)
    at = lambda share: delays[min(total - 1, int(total * share))] * 1e6
    return (
        Run(total / seconds, at(0.5), at(0.99), spent * 1e6 / total),
        f", {sum(sent) / seconds:,.0f} messages/s sent")


def send(port, path, rate, end, sent, number):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    due = time.monotonic()
    while (now := time.monotonic()) < end:
        if now < due: time.sleep(due - now)
        due = max(due + 1 / rate, now - 0.1)
        body = f'{{"sender_id":"layer:///identities/ana","parts":[{{"mime_type":"a/b","body":"t={time.monotonic():.6f};"}}]}}'
        connection.request("POST", path, body, HEADERS)
        answer = connection.getresponse()
        assert answer.status == 201, answer.read()
        answer.read()
        sent[number] += 1
    connection.close()


def read(readers, senders, sent):
    """Reads until the senders have ended and everything has come."""
    selector = selectors.DefaultSelector()
    for reader in readers: selector.register(reader.socket, selectors.EVENT_READ, reader)
    delays, patience = [], time.monotonic() + 120
    while time.monotonic() < patience:
        for key, _ in selector.select(0.1): key.data.take(delays)
        if not any(sender.is_alive() for sender in senders):
            if all(len(reader.places) == sum(sent) for reader in readers): return delays
    raise RuntimeError("not everything has come")


class Reader:
    """One stream: the positions it was sent, in order."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.socket.sendall(
            f"GET {PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n"
            "Accept: text/event-stream\r\n\r\n".encode())
        self.rest = b""
        self.places = []

    def greet(self):
        head = b""
        while b"retry:" not in head:
            head += self.socket.recv(65536)
        assert head.startswith(b"HTTP/1.1 200"), head
        self.socket.setblocking(False)

    def take(self, delays):
        try:
            octets = self.socket.recv(1 << 20)
        except BlockingIOError:
            return
        if not octets: raise RuntimeError("a stream has ended")
        now = time.monotonic()
        # Frames of chunks lie between events or inside one; neither mark below is ever cut by one that
        # matters: what is incomplete waits for the rest.
        self.rest += octets
        *whole, self.rest = self.rest.split(b"\n\n")
        for event in whole:
            place, when = event.find(b"id: "), event.find(b"t=")
            if place < 0: continue
            self.places.append(int(event[place + 4:event.index(b"\n", place)]))
            delays.append(now - float(event[when + 2:event.index(b";", when)]))
