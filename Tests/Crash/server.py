"""Runs the server under test."""

import contextlib
import http.client
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time

APPLICATION = "7b2e4c1a-50f3-4a8e-9f6d-2c1d8e3b4a55"
TOKEN = "crash-test-token-0123456789"
# Seconds: the longest wait for an answer or a state, on a machine that is busy with other tests.
PATIENCE = 120


def fixed_port():
    """An unused port that stays free across restarts: the system assigns no port below 32768 to the thousands of
    outgoing connections of the tests."""
    while True:
        port = random.randrange(10_000, 32_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


class Server:
    """Starts and stops the binary; ends only processes that it started."""

    def __init__(self, binary, folder, database=None, settings=None):
        """`database` is the URL of a PostgreSQL server; without it the database is a file in the data folder.

        `settings` are further environment variables.
        """
        self.binary = os.path.abspath(binary)
        self.folder = folder
        self.database = database
        self.settings = settings or {}
        self.data = str(folder / "data")
        self.log = folder / "log"
        self.process = None
        self.port = fixed_port()

    def start(self, wait=True):
        environment = {
            "PATH": os.environ.get("PATH", ""),
            "SWIFT_BACKTRACE": "enable=no",
            "PARLEY_APP_ID": APPLICATION,
            "PARLEY_APP_TOKEN": TOKEN,
            "PARLEY_PUBLIC_URL": f"http://127.0.0.1:{self.port}",
            "PARLEY_LOG_REQUESTS": "false",
            "PARLEY_API_RATE_LIMIT": "0",
            # Every round of the crash test leaves unfinished uploads.
            "PARLEY_UPLOADS_MAX_OPEN_UPLOADS_PER_OWNER": "100000",
        }
        if self.database:
            environment["PARLEY_DATABASE_URL"] = self.database
        environment |= self.settings
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [self.binary, "serve", "--listen", f"127.0.0.1:{self.port}",
                 "--data", self.data],
                env=environment, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        if wait:
            self.wait_until_ready()

    def wait_until_ready(self):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise RuntimeError(f"the server ended with {self.process.returncode} at start")
            try:
                connection = self.connection()
                connection.request("GET", "/health/ready")
                if connection.getresponse().status == 200:
                    return
            except OSError:
                pass
            time.sleep(0.01)
        raise RuntimeError(f"the server was not ready within {PATIENCE} s")

    def connection(self, timeout=PATIENCE):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def stop(self):
        """Sends SIGTERM; returns the exit code."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=PATIENCE)
        self.process = None
        return code

    def last_log_lines(self):
        lines = self.log.read_bytes().decode(errors="replace").splitlines() if self.log.exists() else []
        return "\n".join(["last lines of the server:"] + lines[-20:])


@contextlib.contextmanager
def serving(binary, database=None, settings=None):
    """A server on a temporary folder, not started yet.

    When the block fails, the last log lines are printed. The server and the folder are removed after the block.
    """
    with tempfile.TemporaryDirectory(prefix="parley-", ignore_cleanup_errors=True) as name:
        server = Server(binary, pathlib.Path(name), database, settings=settings)
        try:
            yield server
        except BaseException:
            print(server.last_log_lines(), file=sys.stderr)
            raise
        finally:
            server.kill()
