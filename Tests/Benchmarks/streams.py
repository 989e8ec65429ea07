"""Live streams: the delay between the answer to a sent message and its arrival at all streams.

The sender writes the time into each message, and one process reads all streams. The delay includes the cost of sender
and reader, which share the cores with the server.
"""

import json
import multiprocessing
import selectors
import socket
import threading
import time

from clients import head, read_answer
from load import Run
from messages import CONVERSATIONS, HEADERS
from processes import APPLICATION, TOKEN, parley

PATH = f"/apps/{APPLICATION}/events?after=now&types=message.sent"
SENDERS = 8
# The start of an event; longer than necessary, because a long pattern is found faster.
MARK = b"event: message.sent\nid: "
# One receive buffer for all readers, so that it stays in the cache of the processor.
BUFFER = bytearray(1 << 20)
BUFFER_VIEW = memoryview(BUFFER)


def measure(options, folder, table):
    count, rate = options.streams, options.stream_rate
    runs, note = [], ""
    for round in range(options.rounds):
        path = folder / str(round)
        path.mkdir()
        with parley(
            options, path, PARLEY_HTTP_MAX_CONNECTIONS_PER_ADDRESS="100000",
            PARLEY_EVENTS_MAX_STREAMS_PER_TOKEN="100000",
        ) as ours:
            run, note = deliver(ours, count, rate, options.seconds)
            runs.append(run)
    table.add_runs(f"{count} live streams, {rate} messages/s requested: deliveries", runs, note)


def deliver(server, count, rate, seconds):
    """Sends messages while `count` streams are open; returns the run and a note for the table."""
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
        Run(total / (seconds + took), percentile(delays, 0.5), percentile(delays, 0.99), spent * 1e6 / total, total),
        f", {sum(sent) / seconds:,.0f} messages/s sent, {total / len(delays):.0f} events at once")


def percentile(delays, share):
    """A percentile in microseconds of delays, which are pairs of seconds and a number of events."""
    wanted = sum(number for _, number in delays) * share
    for delay, number in sorted(delays):
        wanted -= number
        if wanted <= 0: return delay * 1e6


def send(port, path, rate, end, sent, number):
    """Sends at a rate, without a library, to leave the processor to the server and the readers."""
    client = socket.create_connection(("127.0.0.1", port), timeout=60)
    front = head(f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in HEADERS.items()))[:-2]
    for _ in paced(rate, end):
        body = b'{"sender_id":"layer:///identities/ana","parts":[{"mime_type":"a/b","body":"t=%f;"}]}' % time.monotonic()
        client.sendall(front + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        status, answer = read_answer(client)
        assert status == 201, answer
        sent[number] += 1
    client.close()


def paced(rate, end):
    """Yields at a rate until a moment; after a delay it catches up with a tenth of a second at most."""
    due = time.monotonic()
    while (now := time.monotonic()) < end:
        if now < due: time.sleep(due - now)
        due = max(due + 1 / rate, now - 0.1)
        yield


def read(port, count, pipe):
    """Opens all streams, and reads until all sent events have arrived."""
    readers = [Reader(port) for _ in range(count)]
    for reader in readers: reader.read_head()
    selector = selectors.DefaultSelector()
    for reader in readers: selector.register(reader.socket, selectors.EVENT_READ, reader)
    pipe.send("open")
    delays, wanted, count_received_at, deadline = [], None, 0, time.monotonic() + 120
    while time.monotonic() < deadline:
        for key, _ in selector.select(0.1): key.data.read(delays)
        if wanted is None and pipe.poll():
            wanted, count_received_at = pipe.recv(), time.monotonic()
        if wanted is not None and all(reader.number == wanted for reader in readers):
            return pipe.send((delays, time.monotonic() - count_received_at))
    raise RuntimeError("some events have not arrived")


class Reader:
    """One stream: its incomplete event, the number of received events, and the position of the last one."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.socket.sendall(
            f"GET {PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n"
            "Accept: text/event-stream\r\n\r\n".encode())
        self.rest = b""
        self.number = 0
        self.last_position = None

    def read_head(self):
        received = b""
        while b"retry:" not in received:
            received += self.socket.recv(65536)
        assert received.startswith(b"HTTP/1.1 200"), received
        self.socket.setblocking(False)

    def read(self, delays):
        """Reads the available bytes; the delay of the oldest event counts for all events in them."""
        count = len(self.rest)
        BUFFER[:count] = self.rest
        try:
            received = self.socket.recv_into(BUFFER_VIEW[count:])
        except BlockingIOError:
            return
        if not received: raise RuntimeError("a stream has ended")
        now = time.monotonic()
        # Chunk headers are between events, so no complete event is split; an incomplete one is kept for later.
        end = BUFFER.rfind(b"\n\n", 0, count + received)
        self.rest = bytes(BUFFER_VIEW[end + 2:count + received]) if end >= 0 else bytes(BUFFER_VIEW[:count + received])
        number = BUFFER.count(MARK, 0, max(end, 0))
        if not number: return
        first, last = event_position(BUFFER.find(MARK)), event_position(BUFFER.rfind(MARK, 0, end))
        assert last - first + 1 == number and self.last_position in (None, first - 1), "an event is missing or repeated"
        self.number += number
        self.last_position = last
        when = BUFFER.find(b"t=")
        delays.append((now - float(BUFFER[when + 2:BUFFER.index(b";", when)]), number))


def event_position(start):
    digits = start + len(MARK)
    return int(BUFFER[digits:BUFFER.index(b"\n", digits)])
