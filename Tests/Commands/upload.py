"""`parley upload` against a server of its own: interrupted by SIGINT, killed, without a server, concurrent.

usage: upload.py BINARY
"""

import hashlib
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Crash"))
from server import APPLICATION, TOKEN, serving

SIZE = 300_000_000


class Uploader:
    """Runs the command with a separate cache folder."""

    def __init__(self, server):
        self.server = server
        self.memos = server.folder / "cache" / "parley" / "uploads"

    def ask(self, method, path, body=None):
        connection = self.server.connection()
        connection.request(
            method, f"/apps/{APPLICATION}{path}", None if body is None else json.dumps(body),
            {"Authorization": f"Bearer {TOKEN}", "Accept": "application/vnd.layer+json; version=3.0",
             "Content-Type": "application/json"})
        answer = connection.getresponse()
        assert answer.status in (200, 201), (method, path, answer.status)
        return json.load(answer)

    def conversation(self):
        return self.ask("POST", "/conversations", {"participants": ["ana", "bo"]})["id"]

    def start(self, file, conversation, *more, stderr=subprocess.PIPE, **variables):
        environment = {
            "PARLEY_APP_ID": APPLICATION, "PARLEY_APP_TOKEN": TOKEN,
            "PARLEY_PUBLIC_URL": f"http://127.0.0.1:{self.server.port}",
            "XDG_CACHE_HOME": str(self.server.folder / "cache"), "SWIFT_BACKTRACE": "enable=no"}
        return subprocess.Popen(
            [self.server.binary, "upload", str(file), "--conversation", conversation, *more],
            env=environment | variables, cwd=self.server.folder, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=stderr)

    def expect_refused(self, words, *call, **variables):
        said = self.start(*call, **variables)
        output, complaint = said.communicate(timeout=60)
        assert said.returncode == 1 and output == "", (said.returncode, output)
        assert complaint.startswith("parley: ") and words in complaint and complaint.count("\n") == 1, complaint

    def memo(self):
        """The upload URL in the resume file."""
        [memo] = self.memos.iterdir()
        assert memo.stat().st_mode & 0o777 == 0o600 and self.memos.stat().st_mode & 0o777 == 0o700
        return memo.read_text().splitlines()[1]

    def offset(self):
        """The offset of the upload in the resume file; 0 without one."""
        try:
            url = urllib.parse.urlsplit(self.memo())
        except (ValueError, IndexError):
            return 0
        connection = self.server.connection()
        connection.request("HEAD", url.path)
        return int(connection.getresponse().headers["Upload-Offset"])

    def wait_for(self, count, process):
        deadline = time.monotonic() + 60
        while self.offset() < count:
            assert process.poll() is None, f"it ended by itself: {process.communicate()}"
            assert time.monotonic() < deadline, f"{count} bytes never came"
            time.sleep(0.005)

    def expect_uploaded(self, file, process):
        output, complaint = process.communicate(timeout=120)
        assert process.returncode == 0 and complaint == "", (process.returncode, complaint)
        assert output.startswith("CONTENT=layer:///content/") and output.count("\n") == 1, output
        content = self.ask("GET", f"/content/{output.strip().rsplit('/', 1)[1]}")
        url = urllib.parse.urlsplit(content["download_url"])
        connection = self.server.connection()
        connection.request("GET", f"{url.path}?{url.query}")
        answer = connection.getresponse()
        named = f"filename*=UTF-8''{urllib.parse.quote(file.name)}"
        assert named in answer.headers["Content-Disposition"], answer.headers["Content-Disposition"]
        arrived = hashlib.file_digest(answer, "sha256").digest()
        with open(file, "rb") as sent:
            assert arrived == hashlib.file_digest(sent, "sha256").digest(), "what arrived is not what was sent"


def made(folder, name, size):
    file = folder / name
    chance = random.Random(name)
    with open(file, "wb") as stream:
        for left in range(size, 0, -1 << 20):
            stream.write(chance.randbytes(min(left, 1 << 20)))
    return file


def cuts(uploader, server):
    """Interrupted by SIGINT, by SIGKILL, and by two crashes of the server: one upload, and nothing is lost."""
    file = made(server.folder, "film.mp4", SIZE)
    conversation = uploader.conversation()
    process = uploader.start(file, conversation)
    uploader.wait_for(SIZE // 8, process)
    process.send_signal(signal.SIGINT)
    output, complaint = process.communicate(timeout=20)
    assert (process.returncode, output) == (130, ""), (process.returncode, output)
    assert complaint == "parley: interrupted; run the same command again to resume\n", complaint
    url, held = uploader.memo(), uploader.offset()
    assert SIZE // 8 <= held < SIZE, held

    process = uploader.start(file, conversation)
    uploader.wait_for(held + SIZE // 8, process)
    process.kill()
    process.communicate()
    assert uploader.memo() == url, "another upload was begun"
    held = uploader.offset()

    process = uploader.start(file, conversation)
    for _ in range(2):
        uploader.wait_for(held + SIZE // 8, process)
        server.kill()
        server.start()
        assert uploader.memo() == url, "another upload was begun"
        held = uploader.offset()
    uploader.expect_uploaded(file, process)
    assert list(uploader.memos.iterdir()) == [], "a resume file is left"
    print("upload: interrupted by SIGINT, by SIGKILL and by two crashes of the server")


def progress(uploader, server):
    """Progress is shown on a terminal and not in a pipe."""
    file = made(server.folder, "watched", 30_000_000)
    ours, theirs = os.openpty()
    process = uploader.start(file, uploader.conversation(), stderr=theirs)
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:
        pass  # How a terminal ends on this side.
    os.close(ours)
    assert process.wait(timeout=60) == 0
    last = shown.decode().split("\r")[-2].removesuffix("\x1b[K")
    assert last.startswith(f"[{'#' * 30}] 100 %  30.0 of 30.0 MB  ") and last.endswith(" MB/s"), shown
    assert process.stdout.read().startswith("CONTENT=")
    print("upload: shown on a terminal")


def concurrent_uploads(uploader, server):
    """Uploads run concurrently, except two of one file to one conversation."""
    here, there = uploader.conversation(), uploader.conversation()
    large = made(server.folder, "large", SIZE // 2)
    files = [made(server.folder, f"small-{number}", 3_000_000) for number in range(4)]
    files.append(made(server.folder, "empty.txt", 0))
    first = uploader.start(large, here)
    uploader.wait_for(1, first)
    uploader.expect_refused("this file is already being uploaded to this conversation", large, here)
    others = [(file, uploader.start(file, there)) for file in [*files, large]]
    for file, process in [(large, first), *others]:
        uploader.expect_uploaded(file, process)
    print(f"upload: {len(others) + 1} at the same time")


def restarts(uploader, server):
    """A missing upload starts again; a changed file is another upload."""
    conversation = uploader.conversation()
    file = made(server.folder, "doubtful", SIZE // 2)

    def stopped():
        process = uploader.start(file, conversation)
        uploader.wait_for(1, process)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
        assert process.returncode == 130, process.returncode
        return uploader.memo()

    url = stopped()
    connection = server.connection()
    connection.request("DELETE", urllib.parse.urlsplit(url).path)
    assert connection.getresponse().status == 499
    uploader.expect_uploaded(file, uploader.start(file, conversation))

    url = stopped()
    file.write_bytes(random.Random(2).randbytes(1_000_000))
    uploader.expect_uploaded(file, uploader.start(file, conversation))
    assert uploader.memo() == url, "what is left of the older file is still remembered"
    [memo] = uploader.memos.iterdir()
    memo.unlink()

    print("upload: started again where necessary")


def refusals(uploader, server):
    """Each error is one line."""
    conversation = uploader.conversation()
    file = made(server.folder, "file", 10)
    uploader.expect_refused("nothing cannot be read: No such file or directory", "nothing", conversation)
    uploader.expect_refused("is not a regular file", server.folder, conversation)
    uploader.expect_refused("the server answers 404: ", file, "7b2e4c1a-50f3-4a8e-9f6d-2c1d8e3b4a55")
    uploader.expect_refused("is not the id of a conversation", file, "x y")
    uploader.expect_refused("the server answers 401: ", file, conversation, PARLEY_APP_TOKEN="another-token-0123456789")
    uploader.expect_refused("the server answers 422: ", file, conversation, "--type", "none")
    uploader.expect_refused("the URL is neither http nor https", file, conversation, "--server", "ftp://localhost")
    with_port = f"http://127.0.0.1:{unused()}"
    began = time.monotonic()
    uploader.expect_refused("", file, conversation, "--server", with_port)
    assert time.monotonic() - began < 5, "no server, and no upload to resume: no reason to retry"
    (server.folder / "wall").write_text("")
    uploader.expect_refused("cannot be written", file, conversation, XDG_CACHE_HOME=str(server.folder / "wall"))
    assert list(uploader.memos.iterdir()) == [], "a refusal left a resume file"
    print("upload: refusals in one line")


def unused():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main():
    with serving(sys.argv[1]) as server:
        server.start()
        uploader = Uploader(server)
        refusals(uploader, server)
        cuts(uploader, server)
        progress(uploader, server)
        concurrent_uploads(uploader, server)
        restarts(uploader, server)


main()
