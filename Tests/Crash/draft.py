"""A client that uploads with the IETF protocol until the server is killed, and records what it acknowledged."""

import base64
import hashlib

from clients import HEADERS, Unexpected
from tus import TusUpload, TusUploader, content, location_path

# Values of `Upload-Draft-Interop-Version`; `None` sends no such field.
VERSIONS = [3, 4, 5, 6, 7, 8, None]


class DraftUploader(TusUploader):
    """Uploads contents in chunks of random sizes, each upload in a random version; half of the chunks have a digest."""

    kind = "IETF uploads"

    def work(self):
        self.fill(DraftUpload(self))


class DraftUpload(TusUpload):
    """An unfinished upload and its highest acknowledged offset."""

    def begin(self, client, fields):
        self.version = client.generator.choice(VERSIONS)
        self.is_complete = False
        # Created without a version, because `http.client` takes the interim answer 104 for the final one.
        answer, body = client.request("POST", "/uploads", None, fields | {
            "Authorization": HEADERS["Authorization"], "Upload-Complete": "?0", "Upload-Length": str(self.size)})
        if answer.status != 201:
            raise Unexpected(f"POST /uploads answered {answer.status}: {body[:300]!r}")
        self.path, self.content = location_path(answer), content(answer)

    @property
    def number(self):
        """The field with the version, if there is one."""
        return {} if self.version is None else {"Upload-Draft-Interop-Version": str(self.version)}

    def completeness(self, is_complete):
        """The name and value of the field that says whether the upload is complete; version 3 inverts it."""
        if self.version == 3:
            return "Upload-Incomplete", "?0" if is_complete else "?1"
        return "Upload-Complete", "?1" if is_complete else "?0"

    def send(self, client, end):
        """Sends all bytes up to `end` and records what the answer acknowledges."""
        if self.is_complete:
            return
        chunk = self.bytes[self.offset:end]
        is_last = end == self.size
        headers = self.number | dict([self.completeness(is_last)]) | {
            "Content-Type": "application/partial-upload", "Upload-Offset": str(self.offset)}
        if client.generator and client.generator.random() < 0.5:
            digest = base64.b64encode(hashlib.sha256(chunk).digest()).decode()
            headers["Content-Digest"] = f"sha-256=:{digest}:"
        answer, body = client.request("PATCH", self.path, chunk, headers)
        if is_last and answer.status == 400:
            # The server finished the upload after its restart.
            self.query_offset(client)
        elif answer.status not in ((200, 201) if is_last else (201, 204)):
            raise Unexpected(f"a PATCH of version {self.version} answered {answer.status}: {body[:300]!r}")
        else:
            self.is_complete = is_last
        if is_last and not self.is_complete:
            raise Unexpected(f"a PATCH of version {self.version} does not end: {body[:300]!r}")
        self.offset = end

    def query_offset(self, client):
        """Queries the offset; returns the one acknowledged before."""
        previous_offset = self.offset
        answer, _ = client.request("HEAD", self.path, None, self.number)
        if answer.status not in (200, 204):
            raise Unexpected(f"a HEAD of version {self.version} answered {answer.status}")
        self.offset = int(answer.headers["Upload-Offset"])
        name, value = self.completeness(True)
        self.is_complete = answer.headers[name] == value
        return previous_offset
