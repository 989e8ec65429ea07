"""`parley upload` against a server of its own: stopped by a keyboard, killed, deserted by the server, side by side.

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


class Person:
    """Who calls the command, with a cache folder of his own."""

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
        """The URL that is remembered."""
        [memo] = self.memos.iterdir()
        assert memo.stat().st_mode & 0o777 == 0o600 and self.memos.stat().st_mode & 0o777 == 0o700
        return memo.read_text().splitlines()[1]

    def offset(self):
        """How much the server holds of the one upload that is remembered; 0 while nothing is."""
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
            assert time.monotonic() < deadline, f"{count} octets never came"
            time.sleep(0.005)

    def expect_brought(self, file, process):
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
    with open(file, "wb") as octets:
        for left in range(size, 0, -1 << 20):
            octets.write(chance.randbytes(min(left, 1 << 20)))
    return file


def cuts(person, server):
    """By the keyboard, by kill -9, and by the server, which dies twice: one upload, and nothing is lost."""
    file = made(server.folder, "film.mp4", SIZE)
    conversation = person.conversation()
    process = person.start(file, conversation)
    person.wait_for(SIZE // 8, process)
    process.send_signal(signal.SIGINT)
    output, complaint = process.communicate(timeout=20)
    assert (process.returncode, output) == (130, ""), (process.returncode, output)
    assert complaint == "parley: interrupted; run the same command again to resume\n", complaint
    url, held = person.memo(), person.offset()
    assert SIZE // 8 <= held < SIZE, held

    process = person.start(file, conversation)
    person.wait_for(held + SIZE // 8, process)
    process.kill()
    process.communicate()
    assert person.memo() == url, "another upload was begun"
    held = person.offset()

    process = person.start(file, conversation)
    for _ in range(2):
        person.wait_for(held + SIZE // 8, process)
        server.kill()
        server.start()
        assert person.memo() == url, "another upload was begun"
        held = person.offset()
    person.expect_brought(file, process)
    assert list(person.memos.iterdir()) == [], "something is remembered for nothing"
    print("upload: cut by SIGINT, by SIGKILL and by two deaths of the server")


def progress(person, server):
    """A terminal sees how far it is; a pipe sees nothing of it."""
    file = made(server.folder, "watched", 30_000_000)
    ours, theirs = os.openpty()
    process = person.start(file, person.conversation(), stderr=theirs)
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


def company(person, server):
    """Side by side, but for one file to one conversation."""
    here, there = person.conversation(), person.conversation()
    large = made(server.folder, "large", SIZE // 2)
    files = [made(server.folder, f"small-{number}", 3_000_000) for number in range(4)]
    files.append(made(server.folder, "empty.txt", 0))
    first = person.start(large, here)
    person.wait_for(1, first)
    person.expect_refused("this file is being uploaded there already", large, here)
    others = [(file, person.start(file, there)) for file in [*files, large]]
    for file, process in [(large, first), *others]:
        person.expect_brought(file, process)
    print(f"upload: {len(others) + 1} at the same time")


def doubts(person, server):
    """An upload that is gone begins anew; a file that is another by now is another upload."""
    conversation = person.conversation()
    file = made(server.folder, "doubtful", SIZE // 2)

    def stopped():
        process = person.start(file, conversation)
        person.wait_for(1, process)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
        assert process.returncode == 130, process.returncode
        return person.memo()

    url = stopped()
    connection = server.connection()
    connection.request("DELETE", urllib.parse.urlsplit(url).path)
    assert connection.getresponse().status == 499
    person.expect_brought(file, person.start(file, conversation))

    url = stopped()
    file.write_bytes(random.Random(2).randbytes(1_000_000))
    person.expect_brought(file, person.start(file, conversation))
    assert person.memo() == url, "what is left of the older file is still remembered"
    [memo] = person.memos.iterdir()
    memo.unlink()

    print("upload: begun anew where it must be")


def refusals(person, server):
    """Whatever is wrong is one line."""
    conversation = person.conversation()
    file = made(server.folder, "file", 10)
    person.expect_refused("nothing cannot be read: No such file or directory", "nothing", conversation)
    person.expect_refused("is no file", server.folder, conversation)
    person.expect_refused("the server answers 404: ", file, "7b2e4c1a-50f3-4a8e-9f6d-2c1d8e3b4a55")
    person.expect_refused("is not the id of a conversation", file, "x y")
    person.expect_refused("the server answers 401: ", file, conversation, PARLEY_APP_TOKEN="another-token-0123456789")
    person.expect_refused("the server answers 422: ", file, conversation, "--type", "none")
    person.expect_refused("the URL is neither http nor https", file, conversation, "--server", "ftp://localhost")
    with_port = f"http://127.0.0.1:{unused()}"
    began = time.monotonic()
    person.expect_refused("", file, conversation, "--server", with_port)
    assert time.monotonic() - began < 5, "nobody is there, and nothing has begun: no reason to wait"
    (server.folder / "wall").write_text("")
    person.expect_refused("cannot be written", file, conversation, XDG_CACHE_HOME=str(server.folder / "wall"))
    assert list(person.memos.iterdir()) == [], "a refusal is remembered"
    print("upload: refusals in one line")


def unused():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main():
    with serving(sys.argv[1]) as server:
        server.start()
        person = Person(server)
        refusals(person, server)
        cuts(person, server)
        progress(person, server)
        company(person, server)
        doubts(person, server)


main()
