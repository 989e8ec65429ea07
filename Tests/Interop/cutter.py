"""A way to a server that breaks off now and then, as networks do."""

import contextlib
import socket
import struct
import threading


class Cutter:
    """Passes octets on between clients and a server on loopback, and resets connections in their midst.

    `plan` is how many octets clients send, over all their connections, from one cut to the next one; when
    it is used up nothing is cut any more.
    """

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.lock = threading.Lock()
        self.plan = []
        # How often a connection was cut.
        self.count = 0

    def lead_to(self, port):
        threading.Thread(target=self.listen, args=(port,), daemon=True).start()

    def listen(self, port):
        with contextlib.suppress(OSError):
            while True:
                client = self.listener.accept()[0]
                server = socket.create_connection(("127.0.0.1", port))
                threading.Thread(target=self.bring, args=(client, server), daemon=True).start()
                threading.Thread(target=self.fetch, args=(server, client), daemon=True).start()

    def close(self):
        self.listener.close()

    def bring(self, client, server):
        """What the client sends, up to the next cut."""
        with contextlib.suppress(OSError):
            while octets := client.recv(64 << 10):
                allowed, is_cut = self.take(len(octets))
                server.sendall(octets[:allowed])
                if is_cut:
                    return reset(client, server)
            server.shutdown(socket.SHUT_WR)

    def fetch(self, server, client):
        """What the server answers; it is what ends a connection."""
        with contextlib.suppress(OSError):
            while octets := server.recv(256 << 10):
                client.sendall(octets)
        for end in (client, server):
            end.close()

    def take(self, count):
        """How many of these octets pass, and whether a cut comes behind them."""
        with self.lock:
            if not self.plan or self.plan[0] > count:
                if self.plan:
                    self.plan[0] -= count
                return count, False
            self.count += 1
            return self.plan.pop(0), True


def reset(*ends):
    """Ends connections as a network that is gone does."""
    for end in ends:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RD)
        end.close()
