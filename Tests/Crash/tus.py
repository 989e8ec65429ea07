"""A client that uploads with tus until the server is killed, and records what it acknowledged."""

import base64
import hashlib
import random

from clients import HEADERS, Client, Unexpected

VERSION = {"Tus-Resumable": "1.0.0"}


class TusUploader(Client):
    """Uploads contents in chunks of random sizes, half of them with a checksum, and concatenates some."""

    kind = "tus uploads"

    def prepare(self):
        self.uploads, self.joined = [], []

    def work(self):
        if self.generator.random() < 0.7:
            self.fill(TusUpload(self))
        else:
            parts = [self.fill(TusUpload(self, {"Upload-Concat": "partial"}))
                     for _ in range(self.generator.randint(1, 3))]
            self.joined.append(Concatenation(self, parts))

    def fill(self, upload):
        self.uploads.append(upload)
        while upload.offset < upload.size:
            upload.send(self, min(upload.offset + self.generator.randint(1, 700_000), upload.size))
        return upload


class TusUpload:
    """An unfinished upload and its highest acknowledged offset."""

    def __init__(self, client, fields={}):
        self.size = client.generator.choice([1, 1000, 262_144, 1_000_000, 3_000_003])
        self.seed = client.generator.getrandbits(32)
        self.offset = 0
        self.begin(client, fields)

    def begin(self, client, fields):
        answer, _ = create(client, fields | {"Upload-Length": str(self.size)})
        self.path, self.content = location_path(answer), content(answer)

    @property
    def bytes(self):
        return random.Random(self.seed).randbytes(self.size)

    def send(self, client, end):
        """Sends all bytes up to `end` and records what the answer acknowledges."""
        chunk = self.bytes[self.offset:end]
        headers = VERSION | {"Content-Type": "application/offset+octet-stream",
                             "Upload-Offset": str(self.offset)}
        if client.generator and client.generator.random() < 0.5:
            digest = base64.b64encode(hashlib.sha1(chunk).digest()).decode()
            headers["Upload-Checksum"] = f"sha1 {digest}"
        answer, body = client.request("PATCH", self.path, chunk, headers)
        if answer.status != 204 or int(answer.headers["Upload-Offset"]) != end:
            raise Unexpected(f"a PATCH answered {answer.status}: {body[:300]!r}")
        self.offset = end

    def query_offset(self, client):
        """Queries the offset; returns the one acknowledged before."""
        previous_offset = self.offset
        answer, _ = client.request("HEAD", self.path, None, VERSION)
        if answer.status != 200:
            raise Unexpected(f"a HEAD answered {answer.status}")
        self.offset = int(answer.headers["Upload-Offset"])
        return previous_offset


class Concatenation:
    """A content concatenated from parts, whose creation was acknowledged."""

    def __init__(self, client, parts):
        self.parts = parts
        paths = " ".join(part.path for part in parts)
        answer, _ = create(client, {"Upload-Concat": f"final;{paths}"})
        self.path, self.content = location_path(answer), content(answer)

    @property
    def bytes(self):
        return b"".join(part.bytes for part in self.parts)


def create(client, fields):
    headers = VERSION | {"Authorization": HEADERS["Authorization"]} | fields
    answer, body = client.request("POST", "/uploads", None, headers)
    if answer.status != 201:
        raise Unexpected(f"POST /uploads answered {answer.status}: {body[:300]!r}")
    return answer, body


def location_path(answer):
    return "/" + answer.headers["Location"].split("/", 3)[3]


def content(answer):
    """The content's identifier; a part of a concatenation has none."""
    named = answer.headers.get("Parley-Content-Id")
    return named and named.rsplit("/", 1)[1]
