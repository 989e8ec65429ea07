"""A receiver of webhooks that answers challenges, verifies signatures, and checks the order.

It records an error for an event that arrives before an earlier event of its conversation was accepted.
"""

import base64
import hashlib
import hmac
import http.server
import json
import socket
import threading
import time
import urllib.parse

# Seconds by which a timestamp may differ from the clock, as in the libraries of Standard Webhooks.
TOLERANCE = 300


def signatures(secret, identifier, timestamp, body):
    """The signatures that a delivery must have: Layer's and that of Standard Webhooks."""
    key = base64.b64decode(secret[6:]) if secret.startswith("whsec_") else secret.encode()
    signed = b".".join([identifier.encode(), timestamp.encode(), body])
    return (hmac.new(secret.encode(), body, hashlib.sha1).hexdigest(),
            "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode())


def verify(secret, headers, body):
    """Raises unless the signatures match the secret, by HMAC and by the library if it is installed."""
    layer, standard = signatures(secret, headers["webhook-id"], headers["webhook-timestamp"], body)
    assert hmac.compare_digest(headers["layer-webhook-signature"], layer), "Layer's signature is wrong"
    given = headers["webhook-signature"].split(" ")
    assert any(hmac.compare_digest(one, standard) for one in given), "the standard's signature is wrong"
    assert abs(int(headers["webhook-timestamp"]) - time.time()) < TOLERANCE
    if library := standardwebhooks():
        library.Webhook(base64.b64encode(secret.encode()).decode()).verify(body, dict(headers))


def standardwebhooks():
    """PyPI's library; `None` if it is not installed."""
    try:
        import standardwebhooks
        return standardwebhooks
    except ImportError:
        return None


class Receiver(http.server.ThreadingHTTPServer):
    """A receiver on its own port; `decide` returns the status of a delivery, or `None` to close the connection."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, secret, decide=lambda: 204):
        super().__init__(("127.0.0.1", 0), Handler)
        self.secret, self.decide = secret, decide
        self.lock = threading.Lock()
        self.errors = []
        # The number of the last accepted message of each conversation, and how often each text was accepted.
        self.positions, self.accepted = {}, {}
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/in"

    def handle_error(self, *_):
        pass  # A killed server closes its connections.

    def answer_to(self, headers, body):
        """Checks a delivery and returns the status of the answer."""
        event = json.loads(body)
        assert event["event"]["id"] == headers["webhook-id"] == headers["layer-webhook-request-id"]
        verify(self.secret, headers, body)
        message = event["message"]
        # Positions in JSON are the numbers of messages × 65,536.
        position, text = message["position"] // 65536, message["parts"][0]["body"]
        conversation = message["conversation"]["id"]
        with self.lock:
            status = self.decide()
            before = self.positions.get(conversation, 0)
            if position > before + 1:
                self.errors.append(f"{conversation}: {position} was delivered after {before}")
            if status and 200 <= status < 300:
                self.positions[conversation] = max(before, position)
                self.accepted[text] = self.accepted.get(text, 0) + 1
            return status


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def log_message(self, *_):
        pass

    def do_GET(self):
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        challenge = query["verification_challenge"][0].encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(challenge)))
        self.end_headers()
        self.wfile.write(challenge)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            status = self.server.answer_to(self.headers, body)
        except (AssertionError, KeyError) as error:
            self.server.errors.append(repr(error))
            status = 500
        if status is None:
            self.close_connection = True
            return
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()
