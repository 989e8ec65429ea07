"""`parley upload`: interrupted by SIGINT, killed, during crashes of the server, and concurrent.

usage: upload.py BINARY
"""

import contextlib
import hashlib
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Crash"))
from server import APPLICATION, PATIENCE, TOKEN, fixed_port, serving

SIZE = 300_000_000


class Completed(Exception):
    """A command had completed its upload before it was to be interrupted."""


class Uploader:
    """Runs `parley upload` with a separate cache folder, and requests that inspect its uploads."""

    def __init__(self, server):
        self.server = server
        self.resume_folder = server.folder / "cache" / "parley" / "uploads"

    def send(self, method, path, body=None):
        connection = self.server.connection()
        connection.request(
            method, f"/apps/{APPLICATION}{path}", None if body is None else json.dumps(body),
            {"Authorization": f"Bearer {TOKEN}", "Accept": "application/vnd.layer+json; version=3.0",
             "Content-Type": "application/json"})
        answer = connection.getresponse()
        assert answer.status in (200, 201), (method, path, answer.status)
        return json.load(answer)

    def conversation(self):
        return self.send("POST", "/conversations", {"participants": ["ana", "bo"]})["id"]

    def start(self, file, conversation, *more, stderr=subprocess.PIPE, **variables):
        environment = {
            "PARLEY_APP_ID": APPLICATION, "PARLEY_APP_TOKEN": TOKEN,
            "PARLEY_PUBLIC_URL": f"http://127.0.0.1:{self.server.port}",
            "XDG_CACHE_HOME": str(self.server.folder / "cache"), "SWIFT_BACKTRACE": "enable=no"}
        return subprocess.Popen(
            [self.server.binary, "upload", str(file), "--conversation", conversation, *more],
            env=environment | variables, cwd=self.server.folder, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=stderr)

    def expect_refused(self, message, *call, **variables):
        process = self.start(*call, **variables)
        output, error = process.communicate(timeout=PATIENCE)
        assert process.returncode == 1 and output == "", (process.returncode, output)
        assert error.startswith("parley: ") and message in error and error.count("\n") == 1, error

    def upload_url(self):
        """The upload URL in the resume file."""
        [resume_file] = self.resume_folder.iterdir()
        assert resume_file.stat().st_mode & 0o777 == 0o600 and self.resume_folder.stat().st_mode & 0o777 == 0o700
        return resume_file.read_text().splitlines()[1]

    def offset(self):
        """The offset of the upload in the resume file; 0 without one."""
        try:
            url = urllib.parse.urlsplit(self.upload_url())
        except (ValueError, IndexError):
            return 0
        connection = self.server.connection()
        connection.request("HEAD", url.path)
        return int(connection.getresponse().headers["Upload-Offset"])

    def wait_for(self, count, process):
        """Waits until the server has stored that many bytes of the upload, while the command runs."""
        deadline = time.monotonic() + PATIENCE
        while self.offset() < count:
            if process.poll() == 0:
                raise Completed
            assert process.poll() is None, f"the command ended by itself: {process.communicate()}"
            assert time.monotonic() < deadline, f"the offset did not reach {count} bytes"
            time.sleep(0.005)

    def expect_uploaded(self, file, process):
        output, error = process.communicate(timeout=300)
        assert process.returncode == 0 and error == "", (process.returncode, error)
        assert output.startswith("CONTENT=layer:///content/") and output.count("\n") == 1, output
        content = self.send("GET", f"/content/{output.strip().rsplit('/', 1)[1]}")
        url = urllib.parse.urlsplit(content["download_url"])
        connection = self.server.connection()
        connection.request("GET", f"{url.path}?{url.query}")
        answer = connection.getresponse()
        disposition = f"filename*=UTF-8''{urllib.parse.quote(file.name)}"
        assert disposition in answer.headers["Content-Disposition"], answer.headers["Content-Disposition"]
        received = hashlib.file_digest(answer, "sha256").digest()
        with open(file, "rb") as sent:
            assert received == hashlib.file_digest(sent, "sha256").digest(), "the content differs from the file"


def make_file(folder, name, size):
    """Creates a file of random bytes, the same for the same name."""
    file = folder / name
    generator = random.Random(name)
    with open(file, "wb") as stream:
        for left in range(size, 0, -1 << 20):
            stream.write(generator.randbytes(min(left, 1 << 20)))
    return file


def interruptions(uploader, server):
    """An upload interrupted by SIGINT, by SIGKILL, and by two crashes of the server continues each time."""
    file = make_file(server.folder, "film.mp4", SIZE)
    conversation = uploader.conversation()
    process = uploader.start(file, conversation)
    uploader.wait_for(SIZE // 8, process)
    process.send_signal(signal.SIGINT)
    output, error = process.communicate(timeout=PATIENCE)
    if process.returncode == 0:
        raise Completed
    assert (process.returncode, output) == (130, ""), (process.returncode, output)
    assert error == "parley: interrupted; run the same command again to resume\n", error
    url, offset = uploader.upload_url(), uploader.offset()
    assert SIZE // 8 <= offset < SIZE, offset

    process = uploader.start(file, conversation)
    uploader.wait_for(offset + SIZE // 8, process)
    process.kill()
    process.communicate()
    if process.returncode == 0:
        raise Completed
    assert uploader.upload_url() == url, "another upload was started"
    offset = uploader.offset()

    process = uploader.start(file, conversation)
    for _ in range(2):
        uploader.wait_for(offset + SIZE // 8, process)
        server.kill()
        server.start()
        if not any(uploader.resume_folder.iterdir()):
            raise Completed
        assert uploader.upload_url() == url, "another upload was started"
        offset = uploader.offset()
    uploader.expect_uploaded(file, process)
    assert list(uploader.resume_folder.iterdir()) == [], "a resume file is left"
    print("upload: interrupted by SIGINT, by SIGKILL and by two crashes of the server")


def progress(uploader, server):
    """Progress is shown on a terminal and not in a pipe."""
    file = make_file(server.folder, "watched", 30_000_000)
    terminal, command_side = os.openpty()
    process = uploader.start(file, uploader.conversation(), stderr=command_side)
    os.close(command_side)
    shown = b""
    try:
        while piece := os.read(terminal, 4096):
            shown += piece
    except OSError:
        pass  # The terminal was closed by the command.
    os.close(terminal)
    assert process.wait(timeout=PATIENCE) == 0
    last = shown.decode().split("\r")[-2].removesuffix("\x1b[K")
    assert last.startswith(f"[{'#' * 30}] 100 %  30.0 of 30.0 MB  ") and last.endswith(" MB/s"), shown
    assert process.stdout.read().startswith("CONTENT=")
    print("upload: progress is shown on a terminal")


def concurrent_uploads(uploader, server):
    """Uploads run concurrently, except two of one file to one conversation."""
    first_conversation, second_conversation = uploader.conversation(), uploader.conversation()
    large = make_file(server.folder, "large", SIZE // 2)
    files = [make_file(server.folder, f"small-{number}", 3_000_000) for number in range(4)]
    files.append(make_file(server.folder, "empty.txt", 0))
    first = uploader.start(large, first_conversation)
    uploader.wait_for(1, first)
    # Otherwise it could complete before the other one starts.
    first.send_signal(signal.SIGSTOP)
    try:
        uploader.expect_refused("this file is already being uploaded to this conversation", large, first_conversation)
    finally:
        first.send_signal(signal.SIGCONT)
    others = [(file, uploader.start(file, second_conversation)) for file in [*files, large]]
    for file, process in [(large, first), *others]:
        uploader.expect_uploaded(file, process)
    print(f"upload: {len(others) + 1} uploads at the same time")


def restarts(uploader, server):
    """An upload that does not exist any more starts again; a changed file is another upload."""
    conversation = uploader.conversation()
    file = make_file(server.folder, "restarted", SIZE // 2)

    def interrupt():
        process = uploader.start(file, conversation)
        uploader.wait_for(1, process)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
        if process.returncode == 0:
            raise Completed
        assert process.returncode == 130, process.returncode
        return uploader.upload_url()

    url = interrupt()
    connection = server.connection()
    connection.request("DELETE", urllib.parse.urlsplit(url).path)
    assert connection.getresponse().status == 499
    uploader.expect_uploaded(file, uploader.start(file, conversation))

    url = interrupt()
    file.write_bytes(random.Random(2).randbytes(1_000_000))
    uploader.expect_uploaded(file, uploader.start(file, conversation))
    assert uploader.upload_url() == url, "the resume file of the older file is gone"
    [resume_file] = uploader.resume_folder.iterdir()
    resume_file.unlink()

    print("upload: started again when necessary")


def errors(uploader, server):
    """Each error is one line."""
    conversation = uploader.conversation()
    file = make_file(server.folder, "file", 10)
    uploader.expect_refused("nothing cannot be read: No such file or directory", "nothing", conversation)
    uploader.expect_refused("is not a regular file", server.folder, conversation)
    uploader.expect_refused("the server answers 404: ", file, "7b2e4c1a-50f3-4a8e-9f6d-2c1d8e3b4a55")
    uploader.expect_refused("is not the id of a conversation", file, "x y")
    uploader.expect_refused("the server answers 401: ", file, conversation, PARLEY_APP_TOKEN="another-token-0123456789")
    uploader.expect_refused("the server answers 422: ", file, conversation, "--type", "none")
    uploader.expect_refused("the URL is neither http nor https", file, conversation, "--server", "ftp://localhost")
    server_url = f"http://127.0.0.1:{fixed_port()}"
    began = time.monotonic()
    uploader.expect_refused("", file, conversation, "--server", server_url)
    assert time.monotonic() - began < 60, "without an upload to resume the command must not retry"
    (server.folder / "file-not-folder").write_text("")
    uploader.expect_refused("cannot be written", file, conversation, XDG_CACHE_HOME=str(server.folder / "file-not-folder"))
    assert list(uploader.resume_folder.iterdir()) == [], "an error left a resume file"
    print("upload: each error is one line")


def until_interrupted(test, uploader, server):
    """Runs a test again, with another conversation, if an upload completed before it was interrupted."""
    for _ in range(10):
        with contextlib.suppress(Completed):
            return test(uploader, server)
    raise AssertionError("uploads complete before they can be interrupted")


def main():
    with serving(sys.argv[1]) as server:
        server.start()
        uploader = Uploader(server)
        errors(uploader, server)
        until_interrupted(interruptions, uploader, server)
        progress(uploader, server)
        until_interrupted(concurrent_uploads, uploader, server)
        until_interrupted(restarts, uploader, server)


main()
