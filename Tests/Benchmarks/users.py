"""Users' devices: the cost of a session, reading a feed, idle streams, deliveries, and reconnecting all at once.

Deliveries are measured from the time at which a message was sent to its arrival at each device of ten participants; that
includes the answer's way and the cost of senders and readers, which share the cores with the server.
"""

import json
import multiprocessing
import re
import resource
import selectors
import threading
import time

from clients import connect, head, read_answer
from load import Run, wrk
from messages import CONVERSATIONS, HEADERS, create_conversation, fill_messages, post
from processes import APPLICATION, parley
from streams import paced, percentile

SETTINGS = {
    "PARLEY_HTTP_MAX_CONNECTIONS": "15000", "PARLEY_EVENTS_MAX_STREAMS": "15000",
    "PARLEY_EVENTS_MAX_STREAMS_PER_USER": "1000", "PARLEY_API_DEV_LOGIN": "true",
}
IDLE = 10_000
# Connections that are open before memory is measured.
WARM = 200
USERS, CONVERSATION_COUNT, RATE, SENDERS = 1000, 100, 500, 4
SENT_AT = re.compile(rb"t=([0-9.]+);")


def measure(options, folder, table):
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    for number, part in enumerate((reading, idle_feeds, idle_sockets, deliver_feeds, deliver_sockets, reconnecting)):
        path = folder / str(number)
        path.mkdir()
        with parley(options, path, **SETTINGS) as ours:
            part(options, ours, table)


def reading(options, server, table):
    """The cost of a session beside a token, and a feed of 1,000 messages."""
    path = create_conversation(server)
    message = post(server, path, {"sender_id": "ana", "parts": [{"mime_type": "a/b", "body": "t"}]})["id"].rsplit("/", 1)[1]
    session = log_in(server, ["ana"])["ana"]
    with_session = HEADERS | {"Authorization": f'Layer session-token="{session}"'}
    user = f"/apps/{APPLICATION}/users/ana"
    runs = [
        (wrk(server, f"/messages/{message}", 64, options.seconds, headers=with_session),
         wrk(server, f"{user}/messages/{message}", 64, options.seconds, headers=HEADERS))
        for _ in range(options.rounds)]
    table.add_comparison("GET a message with a session, against the same with a token", *zip(*runs))
    fill_messages(server, path, 1000)
    feed = [
        wrk(server, "/events?history=all&limit=1000", 1, options.seconds, headers=with_session)
        for _ in range(options.rounds)]
    table.add_runs("A feed of 1,000 messages from nothing, 1 connection", feed)


def idle_feeds(options, server, table):
    idle(options, server, table, "event stream", open_feed)


def idle_sockets(options, server, table):
    idle(options, server, table, "WebSocket", open_socket)


def idle(options, server, table, what, opened):
    """The memory of an idle device, and what the server does while nothing happens."""
    create_conversation(server)
    sessions = list(log_in(server, [f"user-{number}" for number in range(IDLE // 100)]).values())
    clients = [opened(server, sessions[number % len(sessions)], number) for number in range(WARM)]
    before = server.memory("RssAnon")
    clients += [opened(server, sessions[number % len(sessions)], number) for number in range(WARM, IDLE)]
    grown = (server.memory("RssAnon") - before) * 1024 / (IDLE - WARM)
    spent = server.cpu_seconds()
    time.sleep(10)
    spent = server.cpu_seconds() - spent
    table.add_text(f"Memory of an idle {what}, of {IDLE}; CPU in 10 s", f"{grown:,.0f} B; {spent:.2f} s")
    for client in clients: client.close()


def deliver_feeds(options, server, table):
    deliver(options, server, table, "event streams", open_feed)


def deliver_sockets(options, server, table):
    deliver(options, server, table, "WebSockets", open_socket)


def deliver(options, server, table, what, opened):
    """Sends to conversations of ten users who are all connected."""
    users = [f"user-{number}" for number in range(USERS)]
    sessions = log_in(server, users)
    size = USERS // CONVERSATION_COUNT
    conversations = [
        post(server, CONVERSATIONS, {"participants": users[first:first + size]})["id"].rsplit("/", 1)[1]
        for first in range(0, USERS, size)]
    ours, theirs = multiprocessing.Pipe()
    reader = multiprocessing.get_context("fork").Process(
        target=read, args=(server, list(sessions.values()), opened, theirs))
    reader.start()
    theirs.close()
    assert ours.recv() == "open"
    before = server.cpu_seconds()
    end = time.monotonic() + options.seconds
    sent = [0] * SENDERS
    senders = [
        threading.Thread(target=send, args=(server, conversations, users, size, RATE / SENDERS, end, sent, number))
        for number in range(SENDERS)]
    for sender in senders: sender.start()
    for sender in senders: sender.join()
    ours.send(sum(sent) * size)
    delays, took = ours.recv()
    reader.join()
    spent = server.cpu_seconds() - before
    table.add_runs(
        f"{USERS} users with {what}, {CONVERSATION_COUNT} conversations of {size}, {RATE} messages/s requested: deliveries",
        [Run(len(delays) / (options.seconds + took), percentile(delays, 0.5), percentile(delays, 0.99),
             spent * 1e6 / len(delays), len(delays))],
        f", {sum(sent) / options.seconds:,.0f} messages/s sent")


def send(server, conversations, users, size, rate, end, sent, number):
    client = connect(server, 1_000_000 + number)
    for _ in paced(rate, end):
        chosen = (sent[number] * SENDERS + number) % len(conversations)
        send_message(
            client, f"{CONVERSATIONS}/{conversations[chosen]}/messages", users[chosen * size], f"t={time.monotonic():.6f};")
        sent[number] += 1
    client.close()


def send_message(client, path, sender, text):
    body = json.dumps({"sender_id": sender, "parts": [{"mime_type": "a/b", "body": text}]}).encode()
    fields = [f"{name}: {value}" for name, value in HEADERS.items()]
    client.sendall(head(f"POST {path} HTTP/1.1", *fields, f"Content-Length: {len(body)}") + body)
    status, answer = read_answer(client)
    assert status == 201, answer


def read(server, sessions, opened, pipe):
    """Opens a device for each session, and reads until all deliveries have arrived."""
    selector = selectors.DefaultSelector()
    for number, session in enumerate(sessions):
        client = opened(server, session, number)
        client.setblocking(False)
        selector.register(client, selectors.EVENT_READ, [client, b""])
    pipe.send("open")
    delays, wanted, received_at, deadline = [], None, 0, time.monotonic() + 120
    while wanted is None or len(delays) < wanted:
        if time.monotonic() > deadline: raise RuntimeError(f"{len(delays)} of {wanted} deliveries have arrived")
        for key, _ in selector.select(0.1):
            client, rest = key.data
            received = client.recv(1 << 20)
            if not received: raise RuntimeError("a device was disconnected")
            now, data, end = time.monotonic(), rest + received, 0
            for found in SENT_AT.finditer(data):
                delays.append((now - float(found[1]), 1))
                end = found.end()
            key.data[1] = data[max(end, len(data) - 32):]
        if wanted is None and pipe.poll():
            wanted, received_at = pipe.recv(), time.monotonic()
    pipe.send((delays, time.monotonic() - received_at))


def reconnecting(options, server, table):
    """The time until devices that reconnect all at once have everything, and of sending a message meanwhile."""
    messages = create_conversation(server)
    sessions = list(log_in(server, [f"user-{number}" for number in range(IDLE // 50)]).values())
    cursors = {session: read_cursor(server, session) for session in sessions}
    # A process of its own: as a thread, the sender would wait for the interpreter while devices connect.
    ours, theirs = multiprocessing.Pipe()
    sender = multiprocessing.get_context("fork").Process(target=send_meanwhile, args=(server, messages, theirs))
    sender.start()
    theirs.close()
    selector = selectors.DefaultSelector()
    began = time.monotonic()
    for number in range(IDLE):
        session = sessions[number % len(sessions)]
        client = connect(server, number)
        client.sendall(head(f"GET /events?session_token={session}&after={cursors[session]} HTTP/1.1", "Accept: text/event-stream"))
        client.setblocking(False)
        selector.register(client, selectors.EVENT_READ, [client, b""])
    missing = IDLE
    while missing:
        for key, _ in selector.select(30):
            received = key.data[0].recv(65536)
            if not received: raise RuntimeError("a device was disconnected")
            key.data[1] += received
            if b"event: ready" in key.data[1]:
                selector.unregister(key.fileobj)
                missing -= 1
    took = time.monotonic() - began
    ours.send("over")
    times = ours.recv()
    sender.join()
    table.add_text(
        f"{IDLE} event streams that reconnect at once: until all are live; sending meanwhile, p50 / p99",
        f"{took:.1f} s; {percentile(times, 0.5) / 1000:.1f} / {percentile(times, 0.99) / 1000:.1f} ms")


def send_meanwhile(server, messages, pipe):
    """Sends one message after another until told to stop, and answers how long each took."""
    client, times = connect(server, 1_000_000), []
    while not pipe.poll():
        began = time.monotonic()
        send_message(client, messages, "ana", "a")
        times.append((time.monotonic() - began, 1))
    pipe.send(times)


# Devices

def log_in(server, users):
    """Session tokens of users. Each logs in from an address of its own, because an address may log in ten times a second."""
    sessions = {}
    for number, user in enumerate(users):
        body = json.dumps({"user_id": user}).encode()
        client = connect(server, (number + 100) * 200)
        client.sendall(head(
            "POST /dev/login HTTP/1.1", "Content-Type: application/json", f"Content-Length: {len(body)}") + body)
        status, answer = read_answer(client)
        assert status == 201, answer
        sessions[user] = json.loads(answer)["session_token"]
        client.close()
    return sessions


def read_cursor(server, session, history=25):
    status, answer = server.request("GET", f"/events?session_token={session}&history={history}")
    assert status == 200, answer
    return json.loads(answer)["cursor"]


def open_feed(server, session, number):
    """An event stream that has everything."""
    return opened(server, number, head(
        f"GET /events?session_token={session} HTTP/1.1", "Accept: text/event-stream"), b"event: ready")


def open_socket(server, session, number):
    """A WebSocket that has answered a request, so that it is told of what follows."""
    client = opened(server, number, head(
        f"GET /websocket?session_token={session} HTTP/1.1", "Upgrade: websocket", "Connection: Upgrade",
        "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol: layer-3.0"),
        b"\r\n\r\n")
    request = b'{"type":"request","body":{"request_id":"a","method":"Counter.read"}}'
    # A masked text frame whose mask is zero.
    client.sendall(bytes([0x81, 0x80 | len(request), 0, 0, 0, 0]) + request)
    await_bytes(client, b'"counter":')
    return client


def opened(server, number, request, mark):
    client = connect(server, number)
    client.sendall(request)
    await_bytes(client, mark)
    return client


def await_bytes(client, mark):
    data = b""
    while mark not in data:
        received = client.recv(65536)
        if not received:
            raise RuntimeError(f"the connection ended after {data[:200]!r}")
        data += received
