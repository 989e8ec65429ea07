"""Live streams: how long after its commit's answer begins a message takes to reach all who stream the log.

The sender writes the time into each message, and one process reads all streams, so the figure holds what
sender and reader cost as well: they share the cores with the server.
"""

import http.client
import json
import multiprocessing
import selectors
import socket
import threading
import time

from load import Run
from messages import CONVERSATIONS, HEADERS
from processes import APPLICATION, TOKEN, parley

PATH = f"/apps/{APPLICATION}/events?after=now&types=message.sent"
SENDERS = 8


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
    ours, theirs = multiprocessing.Pipe()
    reading = multiprocessing.get_context("fork").Process(target=read, args=(server.port, count, theirs))
    reading.start()
    theirs.close()
    assert ours.recv() == "open"
    before = server.cpu_seconds()
    end = time.monotonic() + seconds
    sent = [0] * SENDERS
    senders = [
        threading.Thread(target=send, args=(server.port, messages, rate / SENDERS, end, sent, number))
        for number in range(SENDERS)
    ]
    for sender in senders: sender.start()
    for sender in senders: sender.join()
    ours.send(sum(sent))
    delays, took = ours.recv()
    reading.join()
    spent = server.cpu_seconds() - before
    total = sum(number for _, number in delays)
    assert total == count * sum(sent), (total, count, sum(sent))
    return (
        Run(total / (seconds + took), at(delays, 0.5), at(delays, 0.99), spent * 1e6 / total, total),
        f", {sum(sent) / seconds:,.0f} messages/s sent, {total / len(delays):.0f} events at once")


def at(delays, share):
    """The delay in microseconds below which a share of the events lies."""
    wanted = sum(number for _, number in delays) * share
    for delay, number in sorted(delays):
        wanted -= number
        if wanted <= 0: return delay * 1e6


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


def read(port, count, pipe):
    """Opens all streams, and reads until it is told how much was sent and everything has come."""
    readers = [Reader(port) for _ in range(count)]
    for reader in readers: reader.greet()
    selector = selectors.DefaultSelector()
    for reader in readers: selector.register(reader.socket, selectors.EVENT_READ, reader)
    pipe.send("open")
    delays, wanted, told, patience = [], None, 0, time.monotonic() + 120
    while time.monotonic() < patience:
        for key, _ in selector.select(0.1): key.data.take(delays)
        if wanted is None and pipe.poll():
            wanted, told = pipe.recv(), time.monotonic()
        if wanted is not None and all(reader.number == wanted for reader in readers):
            return pipe.send((delays, time.monotonic() - told))
    raise RuntimeError("not everything has come")


class Reader:
    """One stream: how many events it was sent, and where it is."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.socket.sendall(
            f"GET {PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n"
            "Accept: text/event-stream\r\n\r\n".encode())
        self.rest = b""
        self.number = 0
        self.place = None

    def greet(self):
        head = b""
        while b"retry:" not in head:
            head += self.socket.recv(65536)
        assert head.startswith(b"HTTP/1.1 200"), head
        self.socket.setblocking(False)

    def take(self, delays):
        """What has come at once; the oldest of it stands for the delay of all."""
        try:
            octets = self.socket.recv(1 << 20)
        except BlockingIOError:
            return
        if not octets: raise RuntimeError("a stream has ended")
        now = time.monotonic()
        # Frames of chunks lie between events, so no mark below is ever cut: what is incomplete waits.
        whole, end, rest = (self.rest + octets).rpartition(b"\n\n")
        self.rest = rest
        number = whole.count(b"\nid: ")
        if not number: return
        first, last = place(whole, whole.find(b"\nid: ")), place(whole, whole.rfind(b"\nid: "))
        assert last - first + 1 == number and self.place in (None, first - 1), "a gap or a double"
        self.number += number
        self.place = last
        when = whole.find(b"t=")
        delays.append((now - float(whole[when + 2:whole.index(b";", when)]), number))


def place(text, start):
    return int(text[start + 5:text.index(b"\n", start + 1)])
