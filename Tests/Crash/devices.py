#!/usr/bin/env python3
"""Devices that follow what a user sees, while connections are cut and servers are killed.

    devices.py --binary BINARY [--changes 1000] [--cuts 40] [--database postgres --processes 2]

Writers change conversations of three users: they send, delete and receive messages, and change metadata and
participants. The users' devices follow by event stream, by long poll, and by WebSocket with `Event.replay`. Each request
and each new connection goes to a random process. Connections of random devices are cut, and each process is killed with
SIGKILL once and started again; sessions last. At the end

- each device of a feed has exactly what a new device of that user reads;
- each WebSocket has told of exactly the messages that the user sees, and of each conversation's metadata;
- the counters of a connection have no gap.

The time from sending a message to its arrival at devices is printed.
"""

import argparse
import contextlib
import http.client
import json
import pathlib
import random
import socket
import sys
import threading
import time
import urllib.parse

tests = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(tests / "Support")]
import websockets.exceptions
import websockets.sync.client

from clients import BASE, HEADERS, Client, Unexpected
from postgres import Postgres
from retrying import AnyServer
from server import APPLICATION, serving

USERS = ["ana", "bo", "cy"]
CONVERSATIONS = 4
# Seconds: how long a device may need to have everything, on a machine that is busy with other tests.
PATIENCE = 180
RECEIPT_MEMBERS = {"recipient_status", "is_unread"}
LOST = (OSError, EOFError, http.client.HTTPException, ValueError)


class Writer(AnyServer, Client):
    """Makes `remaining` random changes by the Platform API; a request is repeated with its key until it is answered."""

    def __init__(self, servers, generator, conversations, count, sent_at):
        super().__init__(servers[0], generator)
        self.servers, self.conversations = servers, conversations
        self.remaining, self.sent_at = count, sent_at
        self.message_ids = []

    def call(self, method, path, value=None, headers={}):
        body = None if value is None else json.dumps(value)
        key = {"Idempotency-Key": self.name("key")} if method == "POST" else {}
        answer, content = self.request(method, BASE + path, body, HEADERS | key | headers)
        # A change whose answer was lost may have been made.
        if answer.status >= 400 and answer.status not in (404, 409, 410):
            raise Unexpected(f"{method} {path} answered {answer.status}: {content[:300]!r}")
        return json.loads(content) if content else None

    def work(self):
        if self.remaining == 0:
            raise ConnectionAbortedError
        self.change()
        self.remaining -= 1

    def change(self):
        conversation = self.generator.choice(self.conversations)
        kind = self.generator.random()
        if kind < 0.6 or not self.message_ids:
            text = f"{self.generator.getrandbits(64):016x}"
            self.sent_at[text] = time.monotonic()
            message = {"sender_id": self.generator.choice(USERS), "parts": [{"mime_type": "text/plain", "body": text}]}
            self.message_ids.append(self.call("POST", f"/conversations/{conversation}/messages", message)["id"][-36:])
        elif kind < 0.75:
            user, message = self.generator.choice(USERS), self.generator.choice(self.message_ids)
            receipt = {"type": self.generator.choice(["read", "delivery"])}
            self.call("POST", f"/users/{user}/messages/{message}/receipts", receipt)
        elif kind < 0.85:
            message = self.message_ids.pop(self.generator.randrange(len(self.message_ids)))
            user = self.generator.choice(USERS)
            mode = self.generator.choice(["all_participants", "my_devices"])
            self.call("DELETE", f"/users/{user}/messages/{message}?mode={mode}")
        elif kind < 0.95:
            self.patch(conversation, {"operation": "set", "property": f"metadata.topic{self.generator.randrange(3)}",
                                      "value": f"{self.generator.getrandbits(64):016x}"})
        else:
            operation = self.generator.choice(["add", "remove"])
            self.patch(conversation, {"operation": operation, "property": "participants", "id": "layer:///identities/guest"})

    def patch(self, conversation, operation):
        self.call("PATCH", f"/conversations/{conversation}", [operation],
                  {"Content-Type": "application/vnd.layer-patch+json"})


class Device(threading.Thread):
    """A device of a user, which connects again when its connection ends."""

    def __init__(self, servers, generator, user, token, sent_at, arrivals):
        super().__init__(daemon=True)
        self.servers, self.generator, self.user, self.token = servers, generator, user, token
        self.sent_at, self.arrivals = sent_at, arrivals
        self.socket = None
        self.connections = 0
        self.is_stopped = False
        self.error = None

    def run(self):
        try:
            while not self.is_stopped:
                with contextlib.suppress(*LOST):
                    self.connections += 1
                    self.follow(self.generator.choice(self.servers))
                time.sleep(self.generator.random() / 20)
        except Exception as error:
            self.error = f"{type(self).__name__} of {self.user}: {error!r}"

    def cut(self):
        current = self.socket
        if current is not None:
            with contextlib.suppress(OSError):
                current.shutdown(socket.SHUT_RDWR)

    def arrived(self, message):
        """Records how long ago a message was sent, unless this device connected after that or had it before."""
        text = (message.get("parts") or [{}])[0].get("body")
        sent = self.sent_at.get(text)
        if sent is not None and sent > self.ready_at:
            self.arrivals.append(time.monotonic() - sent)

    def get(self, server, path, accept="application/vnd.layer+json; version=3.0", timeout=120):
        connection = server.connection(timeout=timeout)
        connection.connect()
        self.socket = connection.sock
        connection.request("GET", path, headers={
            "Accept": accept, "Authorization": f'Layer session-token="{self.token}"'})
        answer = connection.getresponse()
        # 429 and 503 are retried.
        assert answer.status in (200, 429, 503), f"{path} answered {answer.status}: {answer.read()[:300]!r}"
        if answer.status != 200:
            raise ConnectionError
        return connection, answer


class Feed(Device):
    """A device with a copy of every object of the feed."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.objects, self.cursor = {}, None
        self.named = None

    def apply(self, item):
        key = (item["type"], item["id"])
        if self.named is not None:
            self.named.add(key)
        if item["data"] is None:
            self.objects.pop(key, None)
        else:
            if key not in self.objects and item["type"] == "message":
                self.arrived(item["data"])
            # `receipts` say these; a message is not sent again when they change.
            new = {name: value for name, value in item["data"].items() if name not in RECEIPT_MEMBERS}
            old = self.objects.get(key)
            if old and item["type"] == "conversation" and new["window_from"] <= old["top"] + 1:
                new["window_from"] = min(old["window_from"], new["window_from"])
            self.objects[key] = new

    def reset(self):
        self.named = set()

    def ready(self):
        """Drops what the snapshot that has ended did not name."""
        if self.named is not None:
            self.objects = {key: value for key, value in self.objects.items() if key in self.named}
            self.named = None

    def query(self, **parameters):
        parameters |= {"history": "all"} | ({"after": self.cursor} if self.cursor else {})
        return "/events?" + urllib.parse.urlencode(parameters)


class StreamDevice(Feed):
    """Follows the event stream."""

    def follow(self, server):
        self.ready_at = float("inf")
        connection, answer = self.get(server, self.query(), accept="text/event-stream")
        with contextlib.closing(connection):
            event = {}
            while line := answer.readline():
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name:
                    event[name] = value
                    continue
                match event.get("event"):
                    case "reset": self.reset()
                    case "item": self.apply(json.loads(event["data"]))
                    case "ready":
                        self.ready()
                        if self.ready_at == float("inf"): self.ready_at = time.monotonic()
                if "id" in event: self.cursor = event["id"]
                event = {}


class PollDevice(Feed):
    """Follows by long poll."""

    def follow(self, server):
        self.ready_at = float("inf")
        connection, answer = self.get(server, self.query(wait=5, limit=50))
        with contextlib.closing(connection):
            page = json.loads(answer.read())
        if page["reset"]: self.reset()
        for item in page["items"]: self.apply(item)
        if not page["more"]: self.ready()
        self.cursor = page["cursor"]


class SocketDevice(Device):
    """Applies the change packets of a WebSocket to message ids and metadata."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.messages, self.metadata, self.last = set(), {}, None

    def follow(self, server):
        try:
            self.receive(server)
        except (websockets.exceptions.WebSocketException, TimeoutError) as error:
            raise ConnectionError from error

    def receive(self, server):
        self.ready_at = float("inf")
        # The first connection is made before any change.
        address = f"ws://127.0.0.1:{server.port}/websocket?session_token={self.token}"
        with websockets.sync.client.connect(
                address, subprotocols=["layer-3.0"], open_timeout=120, close_timeout=1, proxy=None) as connection:
            self.socket = connection.socket
            if self.last:
                connection.send(json.dumps({"type": "request", "body": {
                    "request_id": "replay", "method": "Event.replay", "data": {"from_timestamp": self.last}}}))
            else:
                # Asks for the time from which changes follow.
                connection.send(json.dumps({"type": "request", "body": {"request_id": "replay", "method": "Counter.read"}}))
            expected = 0
            while True:
                packet = json.loads(connection.recv())
                assert packet["counter"] == expected, f"counter {packet['counter']} after {expected - 1}"
                expected += 1
                body = packet["body"]
                if packet["type"] == "response":
                    assert body["success"], body
                    self.ready_at = time.monotonic()
                elif packet["type"] == "change":
                    self.apply(body)
                # What comes live before the replay has ended must not move its beginning.
                if self.ready_at < float("inf"): self.last = packet["timestamp"]

    def apply(self, change):
        object, operation = change["object"], change["operation"]
        if object["type"] == "Message":
            if operation == "create":
                if object["id"] not in self.messages: self.arrived(change["data"])
                self.messages.add(object["id"])
            elif operation == "delete":
                self.messages.discard(object["id"])
        elif object["type"] == "Conversation" and operation == "update":
            for update in change["data"]:
                if update["property"].startswith("metadata."):
                    self.metadata[object["id"], update["property"][9:]] = update.get("value")


def login(servers, user):
    """A session token of a user."""
    with contextlib.closing(servers[0].connection()) as connection:
        body = json.dumps({"user_id": user, "app_id": f"layer:///apps/production/{APPLICATION}"})
        connection.request("POST", "/dev/login", body, {"Content-Type": "application/json"})
        return json.loads(connection.getresponse().read())["session_token"]


def current(servers, user, token):
    """What a new device of the user reads: its objects, and the cursor of its snapshot."""
    device = PollDevice(servers, random.Random(0), user, token, {}, [])
    while True:
        connection, answer = device.get(servers[0], device.query(limit=1000))
        with contextlib.closing(connection):
            page = json.loads(answer.read())
        for item in page["items"]: device.apply(item)
        device.cursor = page["cursor"]
        if not page["more"]: return device.objects


def members(object, other):
    """The members of an object that another one does not have."""
    return object and {name: value for name, value in object.items() if not other or other.get(name) != value}


def difference(device, objects):
    """How a device differs from what a new device reads; empty if it does not."""
    if isinstance(device, Feed):
        have = dict(device.objects)
        keys = [key for key in have.keys() | objects.keys() if have.get(key) != objects.get(key)]
        return [f"{key}: {members(have.get(key), objects.get(key))} instead of {members(objects.get(key), have.get(key))}"
                for key in keys]
    messages = {id for type, id in objects if type == "message"}
    metadata = {
        (id, name): value for (type, id), object in objects.items() if type == "conversation"
        for name, value in object["metadata"].items()}
    have = set(device.messages)
    return ([f"message {id} is missing" for id in messages - have] + [f"message {id} is not there" for id in have - messages]
            + [f"{key} is {value}" for key, value in metadata.items() if device.metadata.get(key) != value])


def run(servers, options):
    generator = random.Random(options.seed)
    for server in servers: server.start()
    tokens = {user: login(servers, user) for user in USERS}
    sent_at, arrivals = {}, []
    setup = Writer(servers, generator, [], 0, sent_at)
    conversations = [
        setup.call("POST", "/conversations", {"participants": USERS, "distinct": False})["id"][-36:]
        for _ in range(CONVERSATIONS)]
    devices = [
        kind(servers, random.Random(f"{options.seed}/{user}/{kind.__name__}"), user, tokens[user], sent_at, arrivals)
        for user in USERS for kind in (StreamDevice, PollDevice, SocketDevice)]
    for device in devices: device.start()
    deadline = time.monotonic() + PATIENCE
    while any(isinstance(device, SocketDevice) and not device.last for device in devices):
        assert time.monotonic() < deadline, "the WebSockets did not open"
        time.sleep(0.05)
    writers = [
        Writer(servers, random.Random(f"{options.seed}/writer/{number}"), conversations, options.changes // 4, sent_at)
        for number in range(4)]
    for writer in writers: writer.start()
    cuts, kills = 0, 0
    done, changed_at = 0, time.monotonic()
    while any(writer.is_alive() for writer in writers):
        before, done = done, 1 - sum(writer.remaining for writer in writers) / (options.changes // 4 * 4)
        if done > before: changed_at = time.monotonic()
        assert time.monotonic() < changed_at + PATIENCE, f"no change was made for {PATIENCE} s"
        if cuts < options.cuts * done:
            generator.choice(devices).cut()
            cuts += 1
        # Each process is killed once, at equal distances.
        if kills < len(servers) and done > (kills + 0.5) / len(servers):
            servers[kills].kill()
            time.sleep(0.5)
            servers[kills].start()
            kills += 1
        time.sleep(0.01)
    for writer in writers:
        assert not writer.error, writer.error
    deadline = time.monotonic() + PATIENCE
    remaining = list(devices)
    while remaining:
        for device in remaining: assert not device.error, device.error
        objects = {user: current(servers, user, tokens[user]) for user in USERS}
        remaining = [device for device in remaining if difference(device, objects[device.user])]
        if remaining and time.monotonic() > deadline:
            for device in remaining:
                print(f"{type(device).__name__} of {device.user}:", *difference(device, objects[device.user])[:5],
                      sep="\n  ", file=sys.stderr)
            sys.exit(f"{len(remaining)} devices differ from new ones")
        time.sleep(0.1)
    for device in devices:
        device.is_stopped = True
        device.cut()
    times = sorted(arrivals)
    assert times, "no message arrived at a connected device"
    print(f"devices: {options.changes} changes, {cuts} cuts and {kills} kills, "
          f"{sum(device.connections for device in devices)} connections of {len(devices)} devices; "
          f"{len(times)} arrivals, p50 {1000 * times[len(times) // 2]:.0f} ms, p99 {1000 * times[len(times) * 99 // 100]:.0f} ms "
          "after the request began")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", required=True)
    parser.add_argument("--changes", type=int, default=1000)
    parser.add_argument("--cuts", type=int, default=40)
    parser.add_argument("--database", choices=["postgres"])
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seed", type=int, default=time.time_ns() & 0xffff_ffff)
    options = parser.parse_args()
    print(f"devices: seed {options.seed}", flush=True)
    with contextlib.ExitStack() as stack:
        url = None
        if options.database:
            postgres = stack.enter_context(contextlib.closing(Postgres()))
            url = postgres.schema()
        # URLs are the same at each process.
        settings = {"PARLEY_API_DEV_LOGIN": "true", "PARLEY_PUBLIC_URL": "http://parley.example"}
        servers = [
            stack.enter_context(serving(options.binary, url, settings))
            for _ in range(options.processes)]
        run(servers, options)


if __name__ == "__main__":
    main()
