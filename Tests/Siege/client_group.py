"""Groups of hostile clients, and requests of a normal client."""

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
    """The duration in seconds of each request; half of them use a new connection, half a persistent one."""
    taken = []
    persistent = connect(server)
    for number in range(count):
        began = time.monotonic()
        client = connect(server) if number % 2 else persistent
        client.sendall(head(f"GET {path} HTTP/1.1"))
        answer = read_answer(client)
        if answer is None or answer[0] != 200:
            raise RuntimeError(f"a normal request was answered {answer}")
        taken.append(time.monotonic() - began)
        if client is not persistent:
            client.close()
        time.sleep(pause)
    persistent.close()
    return taken


class ClientGroup:
    """Connections, each with an action that runs about once a second."""

    def __init__(self):
        self.members = []
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.act_every_second, daemon=True)

    def add(self, client, act=None):
        client.setblocking(False)
        self.members.append((client, act))

    def act_every_second(self):
        while not self.stopped.wait(1):
            for client, act in self.members:
                if act:
                    try:
                        act(client)
                    except OSError:
                        # The server has closed a connection that was too slow.
                        pass

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.thread.join()
        for client, _ in self.members:
            client.close()
