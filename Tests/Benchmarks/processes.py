"""Starts the measured servers, and reads their CPU time and memory from /proc."""

import http.client
import os
import pathlib
import signal
import socket
import ssl
import subprocess
import time

TICKS = os.sysconf("SC_CLK_TCK")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Process:
    """A server process that listens on its own port within some seconds; as a context manager it ends the process."""

    def __init__(self, command, folder, port, environment=None, secure=False, within=120):
        self.port = port
        self.scheme = "https" if secure else "http"
        self.output = folder / f"{pathlib.Path(command[0]).name}-{port}.log"
        began = time.monotonic()
        with open(self.output, "wb") as output:
            self.process = subprocess.Popen(
                [str(word) for word in command], cwd=folder, stdin=subprocess.DEVNULL,
                stdout=output, stderr=output, env=os.environ | (environment or {}))
        self.wait_until_listening(began + within)

    def wait_until_listening(self, end):
        while time.monotonic() < end:
            if self.process.poll() is not None:
                break
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=60) as client:
                    # Before anything listens, a connection can reach itself, if the system gives it this port.
                    if client.getsockname() != client.getpeername():
                        return
            except OSError:
                time.sleep(0.0005)
        self.stop()
        raise RuntimeError(f"{self.process.args[0]} does not listen: {self.output.read_text()[-2000:]}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout=120)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    @property
    def name(self):
        return pathlib.Path(self.process.args[0]).name

    @property
    def url(self):
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def pids(self):
        """The process and its children, such as the workers of nginx."""
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [self.process.pid, *map(int, children.split())]

    def cpu_seconds(self):
        """User and system time of all processes."""
        total = 0
        for pid in self.pids():
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            total += int(fields[11]) + int(fields[12])
        return total / TICKS

    def memory(self, field):
        """KiB of `VmHWM` (peak), `VmRSS` (now) or `RssAnon` (without files), over all processes."""
        total = 0
        for pid in self.pids():
            for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
                if line.startswith(field + ":"):
                    total += int(line.split()[1])
        return total

    def request(self, method, path, body=None, headers=None):
        if self.scheme == "https":
            # The certificate is self-signed and not verified.
            trusting = ssl._create_unverified_context()
            connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=60, context=trusting)
        else:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, path, body=body, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read()


def nginx(folder, locations, workers=1, certificate=None, log="access_log off;"):
    """nginx with `locations` in its only server; `log` is the directive of its access log."""
    port = free_port()
    path = folder / f"nginx-{port}"
    path.mkdir()
    user = "user root;" if os.geteuid() == 0 else ""
    modules = "\n".join(
        f"load_module {path};" for path in sorted(pathlib.Path("/usr/lib/nginx/modules").glob("ngx_http_dav*.so")))
    paths = "\n".join(
        f"{name}_temp_path {path}/{name};" for name in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
    secured = ""
    if certificate:
        secured = f"ssl_certificate {certificate[0]}; ssl_certificate_key {certificate[1]}; ssl_protocols TLSv1.2 TLSv1.3;"
    (path / "conf").write_text(f"""
{modules}
{user}
daemon off;
worker_processes {workers};
pid {path}/pid;
error_log {path}/error.log;
events {{ worker_connections 12000; }}
http {{
    {log}
    {paths}
    keepalive_requests 1000000000;
    default_type application/json;
    sendfile on;
    tcp_nopush on;
    server {{
        listen 127.0.0.1:{port} {"ssl" if certificate else ""} reuseport backlog=4096;
        {secured}
        root {path};
        client_max_body_size 0;
        {locations}
    }}
}}
""")
    return Process(["nginx", "-p", path, "-c", path / "conf", "-e", path / "error.log"], path, port,
                   secure=certificate is not None)


def echo(options, folder, loops=1, *flags, certificate=None):
    port = free_port()
    if certificate:
        flags += ("--tls-cert", certificate[0], "--tls-key", certificate[1])
    return Process(
        [options.build / "parley-echo", "--listen", f"127.0.0.1:{port}", "--loops", loops, "--json",
         "--max-requests", 1_000_000_000, *flags], folder, port,
        secure=certificate is not None)


def certify(folder):
    """A P-256 certificate for localhost, signed by itself: the paths of certificate and key."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
         "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
         "-keyout", key, "-out", certificate], check=True, capture_output=True)
    key.chmod(0o600)
    return certificate, key


APPLICATION = "7b2e4c1a-50f3-4a8e-9f6d-2c1d8e3b4a55"
TOKEN = "benchmark-token-0123456789"


def parley(options, folder, port=None, **settings):
    port = port or free_port()
    environment = {
        "PARLEY_APP_ID": APPLICATION, "PARLEY_APP_TOKEN": TOKEN,
        "PARLEY_PUBLIC_URL": f"http://127.0.0.1:{port}",
        "PARLEY_HTTP_MAX_REQUESTS_PER_CONNECTION": "1000000000",
        "PARLEY_API_RATE_LIMIT": "0",
    } | settings
    return Process(
        [options.build / "parley", "serve", "--listen", f"127.0.0.1:{port}", "--data", folder / "data"],
        folder, port, environment)
