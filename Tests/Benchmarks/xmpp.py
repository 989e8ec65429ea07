"""XMPP clients over plain sockets, which parse no more than they need, and a closed loop of many of them."""

import base64
import selectors
import socket
import time

from load import Run
from messengers import NoResult

STREAM = ("<stream:stream to='localhost' version='1.0' xmlns='jabber:client' "
          "xmlns:stream='http://etherx.jabber.org/streams'>")


class Connection:
    """A connection of a user, authenticated and bound to a resource."""

    def __init__(self, port, user, resource):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.user, self.received = user, b""
        self.ask(STREAM, b"</stream:features>")
        secret = base64.b64encode(f"\0{user}\0sesame".encode()).decode()
        self.ask(f"<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>{secret}</auth>", b"<success")
        self.ask(STREAM, b"</stream:features>")
        self.ask(
            "<iq type='set' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>"
            f"<resource>{resource}</resource></bind></iq>", b"</iq>")

    def write(self, text):
        self.socket.sendall(text.encode())

    def ask(self, text, end):
        """Sends text; returns what arrives, up to the end of it."""
        self.received = b""
        self.write(text)
        return self.read_until(end)

    def read_until(self, end):
        while not self.has_received(end): self.receive()
        return self.received

    def receive(self):
        data = self.socket.recv(1 << 18)
        if not data: raise ConnectionError("the stream has ended")
        self.received += data

    def has_received(self, end):
        if end in self.received: return True
        if b"type='error'" in self.received or b"<stream:error" in self.received or b"<failure" in self.received:
            raise NoResult(f"failed: {self.received[-600:]!r}")
        return False

    def close(self):
        self.socket.close()


class PairClient(Connection):
    """Sends messages to another user, each with a request for an acknowledgement of XEP-0198."""

    # The address of the archive in a query; without it, that of the user.
    archive = ""

    def __init__(self, port, user, resource, to):
        super().__init__(port, user, resource)
        self.to, self.sent = to, 0
        self.enter()

    def enter(self):
        self.ask("<enable xmlns='urn:xmpp:sm:3'/>", b"<enabled")

    def next_message(self, text):
        """A message, and the bytes that acknowledge it."""
        self.sent += 1
        return (f"<message type='chat' to='{self.to}' id='m{self.sent}'><body>{text}</body></message>"
                "<r xmlns='urn:xmpp:sm:3'/>"), f"<a h='{self.sent}'".encode()

    def send(self, text):
        self.ask(*self.next_message(text))

    def query(self, before):
        """A query for the page of 100 archived messages before one, and the bytes that end its answer."""
        self.sent += 1
        return (f"<iq type='set' id='q{self.sent}'{self.archive}><query xmlns='urn:xmpp:mam:2'>"
                "<x xmlns='jabber:x:data' type='submit'><field var='FORM_TYPE' type='hidden'>"
                f"<value>urn:xmpp:mam:2</value></field>{self.condition()}</x>"
                "<set xmlns='http://jabber.org/protocol/rsm'><max>100</max>"
                f"<before>{before}</before></set></query></iq>"), b"</fin></iq>"

    def condition(self):
        return f"<field var='with'><value>{self.to}</value></field>"


class GroupClient(PairClient):
    """Sends messages to a group chat, which sends each of them back to its sender, too."""

    def enter(self):
        self.archive = f" to='{self.to}'"
        self.ask(
            f"<presence to='{self.to}/{self.user}'><x xmlns='http://jabber.org/protocol/muc'>"
            "<history maxstanzas='0'/></x></presence>", b"<subject")

    def next_message(self, text):
        self.sent += 1
        message = f"{self.user}-{self.sent}"
        return (f"<message type='groupchat' to='{self.to}' id='{message}'><body>{text}</body></message>",
                f"id='{message}'".encode())

    def condition(self):
        return ""


def closed_loop(server, clients, seconds, request):
    """Each client sends a request when the last one is answered; returns a run of them."""
    selector, latencies = selectors.DefaultSelector(), []

    def send(client):
        text, client.wanted = request(client)
        client.received = b""
        client.began = time.monotonic()
        client.write(text)

    before, began = server.cpu_seconds(), time.monotonic()
    for client in clients:
        selector.register(client.socket, selectors.EVENT_READ, client)
        send(client)
    while (now := time.monotonic()) < began + seconds:
        for key, _ in selector.select(0.1):
            client = key.data
            client.receive()
            if client.has_received(client.wanted):
                latencies.append(time.monotonic() - client.began)
                send(client)
    spent = server.cpu_seconds() - before
    for client in clients: client.close()
    if not latencies: raise NoResult("failed: no answer")
    latencies.sort()
    at = lambda share: latencies[min(len(latencies) - 1, int(len(latencies) * share))] * 1e6
    count = len(latencies)
    return Run(count / (now - began), at(0.5), at(0.99), spent * 1e6 / count, count)
