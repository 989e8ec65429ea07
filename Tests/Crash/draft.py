"""A client that uploads by the IETF protocol until the server is killed, and records what it acknowledged."""

import base64
import hashlib

from clients import HEADERS, Unexpected
from tus import TusUpload, TusUploader, content, place

VERSIONS = [3, 4, 5, 6, 7, 8, None]


class DraftUploader(TusUploader):
    """Uploads contents in chunks of random sizes, each in one of the versions, half of them with a digest."""

    kind = "IETF uploads"

    def work(self):
        self.fill(DraftUpload(self))


class DraftUpload(TusUpload):
    """An unfinished upload and its highest acknowledged offset."""

    def begin(self, client, fields):
        self.version = client.chance.choice(VERSIONS)
        self.is_complete = False
        # Created without a version: `http.client` takes a 104 for the answer.
        answer, body = client.request("POST", "/uploads", None, fields | {
            "Authorization": HEADERS["Authorization"], "Upload-Complete": "?0", "Upload-Length": str(self.size)})
        if answer.status != 201:
            raise Unexpected(f"POST /uploads answered {answer.status}: {body[:300]!r}")
        self.path, self.content = place(answer), content(answer)

    @property
    def number(self):
        return {} if self.version is None else {"Upload-Draft-Interop-Version": str(self.version)}

    def whole(self, is_complete):
        """The field of completeness, which was inverted once."""
        if self.version == 3:
            return "Upload-Incomplete", "?0" if is_complete else "?1"
        return "Upload-Complete", "?1" if is_complete else "?0"

    def send(self, client, end):
        """Sends all bytes up to `end` and records what the answer acknowledges."""
        if self.is_complete:
            return
        chunk = self.bytes[self.offset:end]
        ends = end == self.size
        headers = self.number | dict([self.whole(ends)]) | {
            "Content-Type": "application/partial-upload", "Upload-Offset": str(self.offset)}
        if client.chance and client.chance.random() < 0.5:
            digest = base64.b64encode(hashlib.sha256(chunk).digest()).decode()
            headers["Content-Digest"] = f"sha-256=:{digest}:"
        answer, body = client.request("PATCH", self.path, chunk, headers)
        if ends and answer.status == 400:
            # It was being finished since the server came back, and is by now.
            self.ask(client)
        elif answer.status not in ((200, 201) if ends else (201, 204)):
            raise Unexpected(f"a PATCH of version {self.version} answered {answer.status}: {body[:300]!r}")
        else:
            self.is_complete = ends
        if ends and not self.is_complete:
            raise Unexpected(f"a PATCH of version {self.version} does not end: {body[:300]!r}")
        self.offset = end

    def ask(self, client):
        """Asks for the offset; returns the one acknowledged before."""
        before = self.offset
        answer, _ = client.request("HEAD", self.path, None, self.number)
        if answer.status not in (200, 204):
            raise Unexpected(f"a HEAD of version {self.version} answered {answer.status}")
        self.offset = int(answer.headers["Upload-Offset"])
        name, value = self.whole(True)
        self.is_complete = answer.headers[name] == value
        return before
