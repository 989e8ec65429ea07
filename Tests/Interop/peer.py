"""A client over a plain socket that sends exactly the given bytes."""

import socket
import time

from server import PATIENCE


class Answer:
    """An answer: the status line, the fields by their lower-case names, the content."""

    def __init__(self, head, content):
        lines = head.decode("latin-1").split("\r\n")
        self.line = lines[0]
        self.status = int(lines[0].split(" ")[1])
        self.fields = {}
        for line in lines[1:]:
            name, value = line.split(":", 1)
            self.fields[name.lower()] = value.strip()
        self.content = content

    def __getitem__(self, name):
        return self.fields.get(name.lower())

    def __repr__(self):
        return f"{self.line} {self.fields} {self.content[:200]!r}"


class Peer:
    """One connection; a call that takes longer than `PATIENCE` fails."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self.port = port
        self.buffered = b""

    def send_request(self, line, fields=(), body=None, framed=True):
        """Sends a request; a body is framed by its length unless its framing is among the fields."""
        lines = [f"{line} HTTP/1.1", f"Host: 127.0.0.1:{self.port}"]
        lines += [f"{name}: {value}" for name, value in fields]
        if body is not None and framed:
            lines.append(f"Content-Length: {len(body)}")
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + (body or b""))

    def send(self, data):
        self.socket.sendall(data)

    def wait_until_read(self):
        """Waits until the server has read everything that was sent, and a tenth of a second to process it."""
        ends = (self.socket.getsockname()[1], self.port)
        end = time.monotonic() + PATIENCE
        while True:
            queues = 0
            with open("/proc/net/tcp", encoding="ascii") as table:
                for local, remote, _, waiting in (line.split()[1:5] for line in table.readlines()[1:]):
                    sent, received = (int(size, 16) for size in waiting.split(":"))
                    ports = tuple(int(address.split(":")[1], 16) for address in (local, remote))
                    queues += sent if ports == ends else received if ports == ends[::-1] else 0
            if queues == 0:
                break
            if time.monotonic() > end:
                raise AssertionError("the server does not read what was sent")
            time.sleep(0.02)
        time.sleep(0.1)

    def read_answer(self, to_head=False):
        """The next answer, without interim ones."""
        head = self.until(b"\r\n\r\n")[:-4]
        answer = Answer(head, b"")
        if to_head or answer.status in (100, 204, 304):
            return answer
        answer.content = self.count(int(answer["Content-Length"] or 0))
        return answer

    def has_ended(self):
        """Whether the server has closed, without another byte."""
        try:
            return self.buffered == b"" and self.socket.recv(1) == b""
        except ConnectionResetError:
            return True

    def until(self, end):
        """The next bytes up to and including `end`."""
        while end not in self.buffered:
            self.more()
        cut = self.buffered.index(end) + len(end)
        taken, self.buffered = self.buffered[:cut], self.buffered[cut:]
        return taken

    def count(self, length):
        """The next `length` bytes."""
        while len(self.buffered) < length:
            self.more()
        taken, self.buffered = self.buffered[:length], self.buffered[length:]
        return taken

    def more(self):
        data = self.socket.recv(1 << 20)
        if not data:
            raise ConnectionError(f"the server closed after {self.buffered[:200]!r}")
        self.buffered += data

    def close(self):
        self.socket.close()
