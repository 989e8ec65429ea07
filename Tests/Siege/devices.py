"""Devices of users: more than the server has descriptors for, one that sends without end, and some that never read."""

import select
import time

from client_group import normal_requests
from clients import connect, head
from exhaustion import lower_limit
from messages import create_conversation
from processes import parley
from report import Baseline, becomes_true, check, descriptors
from users import log_in, open_socket, send_message

SETTINGS = {
    "PARLEY_HTTP_MAX_CONNECTIONS": "15000", "PARLEY_EVENTS_MAX_STREAMS": "15000",
    "PARLEY_EVENTS_MAX_STREAMS_PER_USER": "15000", "PARLEY_API_DEV_LOGIN": "true",
}
# How many descriptors are missing.
MISSING = 256
REQUEST = b'{"type":"request","body":{"request_id":"a","method":"Counter.read"}}'
# A masked text frame whose mask is zero.
FRAME = bytes([0x81, 0x80 | len(REQUEST), 0, 0, 0, 0]) + REQUEST


def run(options, folder):
    for attack in (missing_descriptors, endless_requests, absent_readers):
        path = folder / attack.__name__
        path.mkdir()
        with parley(options, path, **SETTINGS) as server:
            attack(options, server)


def missing_descriptors(options, server):
    """Devices beyond the descriptors wait; the others receive messages, and those are served when some leave."""
    count = 600 if options.short else 10_000
    conversation = create_conversation(server)
    sessions = list(log_in(server, ["ana", "bo"]).values())
    sender = connect(server, 1_000_000)
    send_message(sender, conversation, "ana", "before")
    base = descriptors(server)
    lower_limit(server, base + count - MISSING)
    with Devices() as devices:
        for number in range(count):
            devices.open(server, sessions[number % 2], number)
        # Each loop has its own accept queue, so that not all descriptors need be used.
        check("devices up to the limit are served (H183)",
              becomes_true(lambda: devices.served() >= count - 2 * MISSING, 300), f"{devices.served()} of {count}")
        began, spent = time.monotonic(), server.cpu_seconds()
        time.sleep(2)
        share = (server.cpu_seconds() - spent) / (time.monotonic() - began)
        check("a server without descriptors does not spin (H183)", share < 0.5, f"{share:.0%} of a core")
        served = devices.served()
        check("those beyond the limit wait or are refused", served <= count - MISSING // 2, f"{served} of {count} are served")
        send_message(sender, conversation, "ana", "while none is free")
        check("a message reaches every device that is served (H183)",
              becomes_true(lambda: devices.received(b"while none is free") >= served),
              f"{devices.received(b'while none is free')} of {served}")
        devices.close(2 * MISSING)
        check("the others are served when descriptors are free again (H183)",
              becomes_true(lambda: devices.served() == len(devices.data), 300), f"{devices.served()} of {len(devices.data)}")
        send_message(sender, conversation, "ana", "with all of them")
        check("a message reaches all of them",
              becomes_true(lambda: devices.received(b"with all of them") == len(devices.data)))
        # One connection at a time may be closed to free its descriptor.
        check("none that was served was disconnected (H183)", devices.lost == 0, f"{devices.lost}, {devices.refused} were refused")
    sender.close()
    normal_requests(server, "/", 10)
    check("no descriptor is left open (H191)", becomes_true(lambda: descriptors(server) <= base), f"{descriptors(server)} of {base}")


def endless_requests(options, server):
    """A device that sends 100,000 requests at once is slowed down and then disconnected."""
    session = log_in(server, ["ana"])["ana"]
    open_socket(server, session, 0).close()
    normal_requests(server, "/", 10)
    base = Baseline(server)
    client = open_socket(server, session, 1)
    client.settimeout(180)
    began, sent = time.monotonic(), 0
    try:
        for _ in range(100):
            client.sendall(FRAME * 1000)
            sent += 1000
            client.setblocking(False)
            try:
                while client.recv(1 << 16):
                    pass
            except BlockingIOError:
                pass
            client.settimeout(180)
        while client.recv(1 << 16):
            pass
    except ConnectionError:
        pass
    took = time.monotonic() - began
    check("a device that sends without end is disconnected (H145)", took < 180, f"{took:.0f} s, {sent:,} requests sent")
    check("it costs little memory", base.growth() < 16, f"{base.growth():.1f} MiB")
    normal_requests(server, "/", 10)
    client.close()
    check("nothing is left behind (H191)", base.is_restored(), base.difference())


def absent_readers(options, server):
    """Devices that never read cost a bounded queue each, and no other device waits for them."""
    count, messages = (20, 100) if options.short else (500, 300)
    conversation = create_conversation(server)
    sessions = list(log_in(server, ["ana", "bo"]).values())
    sender = connect(server, 1_000_000)
    open_socket(server, sessions[1], 0).close()
    base = Baseline(server)
    readers = [open_socket(server, sessions[1], number) for number in range(count)]
    with Devices() as devices:
        devices.open(server, sessions[0], 0)
        check("a device is served", becomes_true(lambda: devices.served() == 1))
        for number in range(messages):
            send_message(sender, conversation, "ana", f"{number}:" + "a" * 2000)
            devices.read()
        last = f"{messages - 1}:a".encode()
        check("a device that reads waits for none that does not (H144)",
              becomes_true(lambda: devices.received(last) == 1), f"{devices.received(last)}")
    # The queue of a socket and a page of changes.
    bound = 32 + count * 0.5
    check("devices that never read cost little (H144)", base.growth() < bound, f"{base.growth():.1f} of {bound:.0f} MiB")
    for client in readers:
        client.close()
    sender.close()
    check("nothing is left behind (H191)", base.is_restored(), base.difference())


class Devices:
    """WebSockets and event streams that were opened without waiting for the answer; what each has received lately."""

    # More than a packet or an item has.
    KEPT = 8192

    def __init__(self):
        self.data = {}
        self.is_served = set()
        self.poll = select.epoll()
        # Connections that the server has ended: of devices that were served, and of others.
        self.lost, self.refused = 0, 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close(len(self.data))
        self.poll.close()

    def open(self, server, session, number):
        client = connect(server, number)
        if number % 2:
            client.sendall(head(f"GET /events?session_token={session} HTTP/1.1", "Accept: text/event-stream"))
        else:
            client.sendall(head(
                f"GET /websocket?session_token={session} HTTP/1.1", "Upgrade: websocket", "Connection: Upgrade",
                "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
                "Sec-WebSocket-Protocol: layer-3.0") + FRAME)
        client.setblocking(False)
        self.data[client.fileno()] = [client, b""]
        self.poll.register(client, select.EPOLLIN)

    def read(self):
        """Reads what has arrived."""
        while events := self.poll.poll(0):
            for number, _ in events:
                client, data = self.data[number]
                try:
                    received = client.recv(1 << 16)
                except BlockingIOError:
                    continue
                except ConnectionError:
                    received = b""
                if not received:
                    if number in self.is_served:
                        self.lost += 1
                    else:
                        self.refused += 1
                    self.remove(number)
                    continue
                data += received
                # A socket has started when it answers, a stream when it has everything.
                if b'"counter":' in data or b"event: ready" in data:
                    self.is_served.add(number)
                self.data[number][1] = data[-self.KEPT:]

    def served(self):
        """How many have everything and receive what follows."""
        self.read()
        return len(self.is_served)

    def received(self, text):
        """How many have received a text."""
        self.read()
        return sum(text in data for _, data in self.data.values())

    def close(self, count):
        """Closes some of those that are served, and then of the others."""
        numbers = sorted(self.data, key=lambda number: number not in self.is_served)[:count]
        for number in numbers:
            self.remove(number)

    def remove(self, number):
        client, _ = self.data.pop(number)
        self.is_served.discard(number)
        client.close()
