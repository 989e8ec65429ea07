"""Groups of hostile clients, and a normal client beside them."""

import threading
import time

from clients import connect, head, read_answer


def read_all(client):
    """All bytes until the peer ends or resets the connection."""
    data = b""
    try:
        while piece := client.recv(65536):
            data += piece
    except ConnectionError:
        pass
    return data


def normal_requests(server, path, count, pause=0.0):
    """Seconds of each of so many requests, half of them on a new connection, half on a kept one."""
    taken = []
    kept = connect(server)
    for number in range(count):
        began = time.monotonic()
        client = connect(server) if number % 2 else kept
        client.sendall(head(f"GET {path} HTTP/1.1"))
        answer = read_answer(client)
        if answer is None or answer[0] != 200:
            raise RuntimeError(f"a normal request was answered {answer}")
        taken.append(time.monotonic() - began)
        if client is not kept:
            client.close()
        time.sleep(pause)
    kept.close()
    return taken


class ClientGroup:
    """Connections, with an action of each about once a second."""

    def __init__(self):
        self.members = []
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.live, daemon=True)

    def add(self, client, act=None):
        client.setblocking(False)
        self.members.append((client, act))

    def live(self):
        while not self.over.wait(1):
            for client, act in self.members:
                if act:
                    try:
                        act(client)
                    except OSError:
                        # The server closes connections that are too slow, as it should.
                        pass

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()
        for client, _ in self.members:
            client.close()
