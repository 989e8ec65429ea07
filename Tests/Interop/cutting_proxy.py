"""A proxy that resets connections."""

import contextlib
import socket
import struct
import threading


class CuttingProxy:
    """Forwards bytes between clients and a server on loopback, and resets connections during a transfer.

    `plan` has the numbers of bytes that clients send, over all their connections, from one reset to the next one;
    when it is empty no connection is reset any more. With `counts_answers` it counts what they receive, too.
    """

    def __init__(self, counts_answers=False):
        self.counts_answers = counts_answers
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.lock = threading.Lock()
        self.plan = []
        # The number of reset connections.
        self.count = 0

    def forward_to(self, port):
        threading.Thread(target=self.listen, args=(port,), daemon=True).start()

    def listen(self, port):
        with contextlib.suppress(OSError):
            while True:
                client = self.listener.accept()[0]
                server = socket.create_connection(("127.0.0.1", port))
                threading.Thread(target=self.forward_requests, args=(client, server), daemon=True).start()
                threading.Thread(target=self.forward_responses, args=(server, client), daemon=True).start()

    def close(self):
        self.listener.close()

    def forward_requests(self, client, server):
        """Forwards what the client sends, up to the next reset."""
        with contextlib.suppress(OSError):
            while data := client.recv(64 << 10):
                allowed, is_cut = self.take(len(data))
                server.sendall(data[:allowed])
                if is_cut:
                    return reset(client, server)
            server.shutdown(socket.SHUT_WR)

    def forward_responses(self, server, client):
        """Forwards what the server answers, until the connection ends or, if answers are counted, the next reset."""
        with contextlib.suppress(OSError):
            while data := server.recv(256 << 10):
                allowed, is_cut = self.take(len(data)) if self.counts_answers else (len(data), False)
                client.sendall(data[:allowed])
                if is_cut:
                    return reset(client, server)
        for end in (client, server):
            end.close()

    def take(self, count):
        """How many of these bytes are forwarded, and whether the connection is reset after them."""
        with self.lock:
            if not self.plan or self.plan[0] > count:
                if self.plan:
                    self.plan[0] -= count
                return count, False
            self.count += 1
            return self.plan.pop(0), True


def reset(*ends):
    """Resets connections, as a failing network does."""
    for end in ends:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RD)
        end.close()
