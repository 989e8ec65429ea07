"""`parley backup` and `parley restore`: of a running server, killed while they run, refused.

usage: backup.py BINARY
"""

import contextlib
import hashlib
import json
import os
import pathlib
import random
import shutil
import sqlite3
import sys
import threading

tests = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(tests / "Crash"), str(tests / "Support"), str(tests / "Commands")]
from exports import Caller, openssl
from callers import KILLS, Commands, APIClient, fetch, kill_repeatedly
from server import APPLICATION, TOKEN, Server, serving
from store import ObjectStore

SIZES = (60_000_000, 0, 1, 4096, 700_000, 700_001)


def kill_at_work(commands, folder, *words):
    return kill_repeatedly(commands, words, (folder / "unfinished").exists, 0.15)


class MessageSender(threading.Thread):
    """Sends one message after the other, and remembers which were acknowledged."""

    def __init__(self, server, conversation):
        super().__init__()
        self.api, self.conversation = APIClient(server), conversation
        self.acknowledged, self.is_over, self.complaint = [], False, None

    def run(self):
        try:
            while not self.is_over:
                text = f"message {len(self.acknowledged)}"
                self.api.ask("POST", f"/conversations/{self.conversation}/messages", {
                    "sender_id": "ana", "parts": [{"mime_type": "text/plain", "body": text}]})
                self.acknowledged.append(text)
        except Exception as complaint:
            self.complaint = complaint


def whole(server, commands):
    """Backs up a running server and restores: all acknowledged data is there, byte for byte."""
    server.start()
    api = APIClient(server)
    conversation = api.ask("POST", "/conversations", {"participants": ["ana", "bo"]})["id"].split("/")[-1]
    contents = {}
    for size in SIZES:
        content = random.randbytes(size)
        contents[api.upload(conversation, content)] = hashlib.sha256(content).digest()
    signed = api.ask("GET", f"/conversations/{conversation}/content/{list(contents)[3]}")["download_url"]
    talk = MessageSender(server, conversation)
    talk.start()
    saved, back = server.folder / "saved", server.folder / "back"
    kills = kill_at_work(commands, saved, "backup", "saved", "--data", "data")
    before = list(talk.acknowledged)
    if kills == KILLS:
        commands.refuses("the backup in saved was not finished", "restore", "saved", "--data", "back")
        said = commands.says("backup", "saved", "--data", "data")
        assert f"{len(SIZES)} contents" in said, said
    after = list(talk.acknowledged)
    talk.is_over = True
    talk.join(timeout=60)
    assert talk.complaint is None, talk.complaint
    assert server.stop() == 0
    for file in saved.rglob("*"):
        assert file.stat().st_mode & 0o077 == 0, f"others may read {file}"
    kills += kill_at_work(commands, back, "restore", "saved", "--data", "back")
    if (back / "unfinished").exists():
        commands.says("restore", "saved", "--data", "back")
    other = Server(server.binary, server.folder)
    other.data = str(back)
    try:
        other.start()
        api = APIClient(other)
        found = api.messages(conversation)
        assert set(before) <= found <= set(after) | {f"message {len(after)}"}, (len(before), len(found), len(after))
        for content, digest in contents.items():
            url = api.ask("GET", f"/conversations/{conversation}/content/{content}")["download_url"]
            assert hashlib.sha256(fetch(other, url)).digest() == digest, content
        assert hashlib.sha256(fetch(other, signed)).digest() == list(contents.values())[3]
        assert other.stop() == 0
    finally:
        other.kill()
    print(f"backup: {len(found)} messages and {len(contents)} contents after {kills} kills")


def refusals(server, commands):
    """Each error is one line, and existing files stay unchanged."""
    commands.refuses("/proc/new cannot be created there (No such file or directory): name another one", "backup", "/proc/new", "--data", "data")
    commands.refuses("there is no database in nowhere", "backup", "new", "--data", "nowhere")
    assert not (server.folder / "new").exists()
    commands.refuses("the folder saved is not empty", "backup", "saved", "--data", "data")
    commands.refuses("the folder back is not empty", "restore", "saved", "--data", "back")
    commands.refuses("there is no backup in data", "restore", "data", "--data", "new")
    commands.refuses("there is no backup in nowhere", "restore", "nowhere", "--data", "new")
    assert not (server.folder / "nowhere").exists()
    (server.folder / "begun").mkdir()
    (server.folder / "begun" / "unfinished").write_text("restore")
    for call in (["serve"], ["app", "list"], ["backup", "new"]):
        commands.refuses(
            "the data folder begun is half restored: run parley restore again", *call, "--data", "begun")
    for command in ("backup", "restore"):
        commands.refuses(
            f"parley {command} is for the embedded database", command, "saved", "--data", "new",
            PARLEY_DATABASE_URL="postgres://me:sesame@/parley")
    commands.refuses(
        "the folder full is on a full disk", "backup", "full", "--data", "data", largest=SIZES[0] // 2)
    commands.says("backup", "full", "--data", "data")
    commands.refuses(
        "the folder half is on a full disk", "restore", "saved", "--data", "half", largest=SIZES[0] // 2)
    commands.says("restore", "saved", "--data", "half")
    print("backup: refusals in one line, and a full disk")


def damage(server, commands):
    """A backup with any changed byte is refused."""
    def restored(change, words):
        copy, target = server.folder / "copy", server.folder / "target"
        for folder in (copy, target):
            shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(server.folder / "saved", copy)
        change(copy)
        commands.refuses(words, "restore", "copy", "--data", "target")

    def flip(file):
        with open(file, "r+b") as stream:
            stream.seek(file.stat().st_size // 2)
            byte = stream.read(1)
            stream.seek(-1, os.SEEK_CUR)
            stream.write(bytes([byte[0] ^ 1]))

    def content(folder):
        return max((folder / "uploads" / "blobs" / "content").rglob("*"), key=lambda file: file.stat().st_size)

    def note(folder, change):
        written = json.loads((folder / "backup").read_text())
        change(written)
        (folder / "backup").write_text(json.dumps(written))

    def newer(folder):
        with sqlite3.connect(folder / "parley.sqlite") as database:
            database.execute("INSERT INTO schema_migrations VALUES (999, 'dreams', 0)")
        database.close()
        database = (folder / "parley.sqlite").read_bytes()
        note(folder, lambda note: note["database"].update(
            size=len(database), sha256=hashlib.sha256(database).hexdigest()))

    restored(lambda copy: flip(copy / "parley.sqlite"), "the digest of its database differs")
    restored(lambda copy: flip(content(copy)), "is damaged: its bytes are not those the database knows")
    restored(lambda copy: content(copy).unlink(), "the backup in copy is damaged: content ")
    restored(lambda copy: (copy / "backup").write_text("{"), "its file 'backup' cannot be read")
    restored(lambda copy: note(copy, lambda note: note.update(format=9)), "has format 9, this release reads 1")
    restored(lambda copy: note(copy, lambda note: note["files"].update(count=1)), "its manifest lists 1 files")
    restored(newer, "the database in copy was written by another release: the database has migration 999 (dreams)")
    data = server.folder / "data"
    flip(content(data))
    commands.refuses(
        "is damaged: its bytes are not those the database knows", "backup", "third", "--data", "data")
    content(data).unlink()
    commands.refuses(" is missing in data", "backup", "fourth", "--data", "data")
    with sqlite3.connect(data / "parley.sqlite") as database:
        database.execute("INSERT INTO schema_migrations VALUES (999, 'dreams', 0)")
    database.close()
    commands.refuses(
        "the database in data was written by another release: the database has migration 999", "backup", "fifth",
        "--data", "data")
    size = (data / "parley.sqlite").stat().st_size
    with open(data / "parley.sqlite", "r+b") as stream:
        stream.seek(4096)
        stream.write(b"\xff" * (size - 4096))
    commands.refuses("restore a backup with parley restore", "backup", "sixth", "--data", "data")
    print("backup: damage is found on either side")


def damaged_while_running(server):
    """A server that finds damage in its database is not ready, and its log says what to do."""
    server.start()
    conversation = APIClient(server).ask("POST", "/conversations", {"participants": ["ana"]})["id"].split("/")[-1]
    assert server.stop() == 0
    file = pathlib.Path(server.data) / "parley.sqlite"
    with sqlite3.connect(file) as database:
        page = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'parts'").fetchone()[0]
    database.close()
    with open(file, "r+b") as stream:
        stream.seek((page - 1) * 4096)
        stream.write(b"\xff" * 4096)
    server.start()
    APIClient(server).ask("POST", f"/conversations/{conversation}/messages", {
        "sender_id": "ana", "parts": [{"mime_type": "text/plain", "body": "?"}]}, status=(500,))
    connection = server.connection()
    connection.request("GET", "/health/ready")
    assert connection.getresponse().status == 503
    assert server.stop() == 0
    lines = [line for line in server.log.read_text().splitlines() if '"level":"critical"' in line]
    assert len(lines) == 1 and "restore a backup with parley restore" in lines[0], lines
    print("backup: a server that finds damage is not ready, and logs it once")


def bucket(server, commands, settings):
    """Contents in a bucket stay there; a backup lists them, and is restored only where they exist."""
    server.start()
    api = APIClient(server)
    conversation = api.ask("POST", "/conversations", {"participants": ["ana", "bo"]})["id"].split("/")[-1]
    contents = {}
    for size in SIZES[1:]:
        content = random.randbytes(size)
        contents[api.upload(conversation, content)] = hashlib.sha256(content).digest()
    caller = Caller(server, APPLICATION, TOKEN)
    key = server.folder / "key.pem"
    key.write_bytes(openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"))
    export = caller.request_export(key)
    archive = fetch(server, caller.completed(export)["download_url"])
    elsewhere = settings | {"PARLEY_S3_PREFIX": "elsewhere/"}
    commands.refuses(" is missing in data", "backup", "saved", "--data", "data", **elsewhere)
    commands.refuses(" is missing in data", "backup", "saved", "--data", "data")
    said = commands.says("backup", "saved", "--data", "data", **settings)
    assert f"{len(contents) + 1} contents are in the bucket parley" in said, said
    assert server.stop() == 0
    commands.refuses("is in the bucket parley, which s3.bucket must name", "restore", "saved", "--data", "back")
    commands.refuses("is missing in the bucket of s3.bucket", "restore", "saved", "--data", "back", **elsewhere)
    commands.refuses(
        "the bucket parley of s3.bucket cannot be used: ", "restore", "saved", "--data", "back",
        **settings | {"PARLEY_S3_SECRET_KEY": "wrong"})
    commands.says("restore", "saved", "--data", "back", **settings)
    server.data = str(server.folder / "back")
    server.start()
    api = APIClient(server)
    for content, digest in contents.items():
        url = api.ask("GET", f"/conversations/{conversation}/content/{content}")["download_url"]
        assert hashlib.sha256(fetch(server, url)).digest() == digest, content
    assert fetch(server, caller.completed(export)["download_url"]) == archive
    assert server.stop() == 0
    print(f"backup: {len(contents)} contents and an archive in a bucket")


def main():
    with serving(sys.argv[1]) as server:
        commands = Commands(server)
        whole(server, commands)
        refusals(server, commands)
        damage(server, commands)
    with serving(sys.argv[1]) as server:
        damaged_while_running(server)
    with contextlib.closing(ObjectStore()) as store:
        if not store.settings:
            return print("backup: with an object store: left out")
        with serving(sys.argv[1], settings=store.settings) as server:
            bucket(server, Commands(server), store.settings)


main()
