"""A relay of HTTP between a browser and a server, which can answer itself, delay requests and cut connections."""

import contextlib
import http.server
import socket
import threading
import time


class Relay(http.server.ThreadingHTTPServer):
    """Forwards requests to a server.

    `plans` are by parts of paths: a number of seconds by which a request is delayed, or status, headers and body of an
    answer that is sent instead.
    """

    daemon_threads = True

    def __init__(self, server):
        super().__init__(("127.0.0.1", 0), Handler)
        self.target = server
        self.base = f"http://127.0.0.1:{self.server_port}"
        self.plans = {}
        self.open = set()
        self.flowing = threading.Event()
        self.flowing.set()
        self.thread = threading.Thread(target=self.serve_forever)
        self.thread.start()

    def cut(self):
        """Ends all connections."""
        for connection in list(self.open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    @contextlib.contextmanager
    def frozen(self):
        """Within the block nothing is forwarded, and all connections stay open."""
        self.flowing.clear()
        try:
            yield
        finally:
            self.flowing.set()

    def close(self):
        self.cut()
        self.shutdown()
        self.thread.join()
        self.server_close()

    def handle_error(self, *_):
        """Browsers end connections at any time."""


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self):
        self.server.open.add(self.connection)
        try:
            self.server.flowing.wait()
            plan = next((plan for part, plan in self.server.plans.items() if part in self.path), 0)
            if isinstance(plan, tuple):
                self.reply(*plan)
            else:
                time.sleep(plan)
                self.forward()
        finally:
            self.server.open.discard(self.connection)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = answer

    def reply(self, status, headers, body):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body.encode())

    def forward(self):
        connection = self.server.target.connection()
        with contextlib.closing(connection):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            connection.request(self.command, self.path, body or None, dict(self.headers))
            answer = connection.getresponse()
            self.send_response_only(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("connection", "transfer-encoding"):
                    self.send_header(name, value)
            self.end_headers()
            while piece := answer.read1(65_536):
                self.server.flowing.wait()
                self.wfile.write(piece)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def relayed(server):
    relay = Relay(server)
    try:
        yield relay
    finally:
        relay.close()
