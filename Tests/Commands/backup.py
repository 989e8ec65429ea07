"""`parley backup` and `parley restore`: with a running server, killed while they run, and their errors.

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
import time

tests = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(tests / "Crash"), str(tests / "Support"), str(tests / "Commands")]
from exports import Caller, openssl
from callers import KILLS, Commands, APIClient, fetch, kill_repeatedly
from server import APPLICATION, PATIENCE, TOKEN, Server, serving
from store import ObjectStore

SIZES = (60_000_000, 0, 1, 4096, 700_000, 700_001)


def kill_while_unfinished(commands, folder, *arguments, between=lambda: None):
    """Kills a command repeatedly while its folder has the file `unfinished`; returns how often it was killed."""
    return kill_repeatedly(commands, arguments, (folder / "unfinished").exists, 0.15, between)


class MessageSender(threading.Thread):
    """Sends one message after another until it is stopped, and records the acknowledged texts."""

    def __init__(self, server, conversation):
        super().__init__()
        self.api, self.conversation = APIClient(server), conversation
        self.acknowledged, self.is_stopped, self.error = [], False, None

    def run(self):
        try:
            while not self.is_stopped:
                text = f"message {len(self.acknowledged)}"
                self.api.send("POST", f"/conversations/{self.conversation}/messages", {
                    "sender_id": "ana", "parts": [{"mime_type": "text/plain", "body": text}]})
                self.acknowledged.append(text)
        except Exception as error:
            self.error = error


def backup_and_restore(server, commands):
    """Backs up a running server and restores the backup: all acknowledged data is restored, byte for byte."""
    server.start()
    api = APIClient(server)
    conversation = api.send("POST", "/conversations", {"participants": ["ana", "bo"]})["id"].split("/")[-1]
    contents = {}
    for size in SIZES:
        content = random.randbytes(size)
        contents[api.upload(conversation, content)] = hashlib.sha256(content).digest()
    signed = api.send("GET", f"/conversations/{conversation}/content/{list(contents)[3]}")["download_url"]
    sender = MessageSender(server, conversation)
    sender.start()
    saved, restored = server.folder / "saved", server.folder / "restored"
    # What was acknowledged before the last start of the command.
    before = list(sender.acknowledged)
    kills = kill_while_unfinished(
        commands, saved, "backup", "saved", "--data", "data", between=lambda: before.extend(sender.acknowledged[len(before):]))
    if kills == KILLS:
        commands.expect_refused("the backup in saved was not finished", "restore", "saved", "--data", "restored")
        output = commands.output("backup", "saved", "--data", "data")
        assert f"{len(SIZES)} contents" in output, output
    after = list(sender.acknowledged)
    sender.is_stopped = True
    sender.join(timeout=PATIENCE)
    assert sender.error is None, sender.error
    assert server.stop() == 0
    for file in saved.rglob("*"):
        assert file.stat().st_mode & 0o077 == 0, f"others may read {file}"
    kills += kill_while_unfinished(commands, restored, "restore", "saved", "--data", "restored")
    if (restored / "unfinished").exists():
        commands.output("restore", "saved", "--data", "restored")
    other = Server(server.binary, server.folder)
    other.data = str(restored)
    try:
        other.start()
        api = APIClient(other)
        found = api.messages(conversation)
        assert set(before) <= found <= set(after) | {f"message {len(after)}"}, (len(before), len(found), len(after))
        for content, digest in contents.items():
            url = api.send("GET", f"/conversations/{conversation}/content/{content}")["download_url"]
            assert hashlib.sha256(fetch(other, url)).digest() == digest, content
        assert hashlib.sha256(fetch(other, signed)).digest() == list(contents.values())[3]
        assert other.stop() == 0
    finally:
        other.kill()
    print(f"backup: {len(found)} messages and {len(contents)} contents after {kills} kills")


def errors(server, commands):
    """Each error is one line, and existing files stay unchanged."""
    commands.expect_refused("/proc/new cannot be created there (No such file or directory): name another one", "backup", "/proc/new", "--data", "data")
    commands.expect_refused("there is no database in nowhere", "backup", "new", "--data", "nowhere")
    assert not (server.folder / "new").exists()
    commands.expect_refused("the folder saved is not empty", "backup", "saved", "--data", "data")
    commands.expect_refused("the folder restored is not empty", "restore", "saved", "--data", "restored")
    commands.expect_refused("there is no backup in data", "restore", "data", "--data", "new")
    commands.expect_refused("there is no backup in nowhere", "restore", "nowhere", "--data", "new")
    assert not (server.folder / "nowhere").exists()
    (server.folder / "unfinished").mkdir()
    (server.folder / "unfinished" / "unfinished").write_text("restore")
    for call in (["serve"], ["app", "list"], ["backup", "new"]):
        commands.expect_refused(
            "the data folder unfinished is not restored completely: run parley restore again", *call, "--data", "unfinished")
    for command in ("backup", "restore"):
        commands.expect_refused(
            f"parley {command} is for the embedded database", command, "saved", "--data", "new",
            PARLEY_DATABASE_URL="postgres://me:sesame@/parley")
    commands.expect_refused(
        "the folder full is on a full disk", "backup", "full", "--data", "data", largest=SIZES[0] // 2)
    commands.output("backup", "full", "--data", "data")
    commands.expect_refused(
        "the folder half is on a full disk", "restore", "saved", "--data", "half", largest=SIZES[0] // 2)
    commands.output("restore", "saved", "--data", "half")
    print("backup: each error is one line, on a full disk too")


def damage(server, commands):
    """A changed backup is not restored, and a damaged data folder is not backed up."""
    def restore_changed(change, message):
        copy, target = server.folder / "copy", server.folder / "target"
        for folder in (copy, target):
            shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(server.folder / "saved", copy)
        change(copy)
        commands.expect_refused(message, "restore", "copy", "--data", "target")

    def flip(file):
        with open(file, "r+b") as stream:
            stream.seek(file.stat().st_size // 2)
            byte = stream.read(1)
            stream.seek(-1, os.SEEK_CUR)
            stream.write(bytes([byte[0] ^ 1]))

    def content(folder):
        return max((folder / "uploads" / "blobs" / "content").rglob("*"), key=lambda file: file.stat().st_size)

    def edit_manifest(folder, change):
        written = json.loads((folder / "backup").read_text())
        change(written)
        (folder / "backup").write_text(json.dumps(written))

    def newer(folder):
        with sqlite3.connect(folder / "parley.sqlite") as database:
            database.execute("INSERT INTO schema_migrations VALUES (999, 'dreams', 0)")
        database.close()
        database = (folder / "parley.sqlite").read_bytes()
        edit_manifest(folder, lambda manifest: manifest["database"].update(
            size=len(database), sha256=hashlib.sha256(database).hexdigest()))

    restore_changed(lambda copy: flip(copy / "parley.sqlite"), "the digest of its database differs")
    restore_changed(lambda copy: flip(content(copy)), "is damaged: its digest differs from that in the database")
    restore_changed(lambda copy: content(copy).unlink(), "the backup in copy is damaged: content ")
    restore_changed(lambda copy: (copy / "backup").write_text("{"), "its file 'backup' cannot be read")
    restore_changed(lambda copy: edit_manifest(copy, lambda manifest: manifest.update(format=9)), "has format 9, this release reads 1")
    restore_changed(lambda copy: edit_manifest(copy, lambda manifest: manifest["files"].update(count=1)), "its manifest lists 1 files")
    restore_changed(newer, "the database in copy was written by another release: the database has migration 999 (dreams)")
    data = server.folder / "data"
    flip(content(data))
    commands.expect_refused(
        "is damaged: its digest differs from that in the database", "backup", "third", "--data", "data")
    content(data).unlink()
    commands.expect_refused(" is missing in data", "backup", "fourth", "--data", "data")
    with sqlite3.connect(data / "parley.sqlite") as database:
        database.execute("INSERT INTO schema_migrations VALUES (999, 'dreams', 0)")
    database.close()
    commands.expect_refused(
        "the database in data was written by another release: the database has migration 999", "backup", "fifth",
        "--data", "data")
    size = (data / "parley.sqlite").stat().st_size
    with open(data / "parley.sqlite", "r+b") as stream:
        stream.seek(4096)
        stream.write(b"\xff" * (size - 4096))
    commands.expect_refused("restore a backup with parley restore", "backup", "sixth", "--data", "data")
    print("backup: damage of a backup and of a data folder is found")


def damaged_while_running(server):
    """A server that finds damage in its database is not ready, and logs what to do."""
    server.start()
    conversation = APIClient(server).send("POST", "/conversations", {"participants": ["ana"]})["id"].split("/")[-1]
    assert server.stop() == 0
    file = pathlib.Path(server.data) / "parley.sqlite"
    with sqlite3.connect(file) as database:
        page = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'parts'").fetchone()[0]
    database.close()
    with open(file, "r+b") as stream:
        stream.seek((page - 1) * 4096)
        stream.write(b"\xff" * 4096)
    server.start()
    # A server is ready before its start has ended; an error of the database would end it until then.
    deadline = time.monotonic() + PATIENCE
    while server.log.read_text().count(" serves ") < 2:
        assert time.monotonic() < deadline, "the start has not ended"
        time.sleep(0.05)
    APIClient(server).send("POST", f"/conversations/{conversation}/messages", {
        "sender_id": "ana", "parts": [{"mime_type": "text/plain", "body": "?"}]}, status=(500,))
    connection = server.connection()
    connection.request("GET", "/health/ready")
    assert connection.getresponse().status == 503
    assert server.stop() == 0
    lines = [line for line in server.log.read_text().splitlines() if '"level":"critical"' in line]
    assert len(lines) == 1 and "restore a backup with parley restore" in lines[0], lines
    print("backup: a server that finds damage is not ready, and logs it once")


def bucket(server, commands, settings):
    """Contents in a bucket are not copied: a backup lists them, and is restored only where they exist."""
    server.start()
    api = APIClient(server)
    conversation = api.send("POST", "/conversations", {"participants": ["ana", "bo"]})["id"].split("/")[-1]
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
    commands.expect_refused(" is missing in data", "backup", "saved", "--data", "data", **elsewhere)
    commands.expect_refused(" is missing in data", "backup", "saved", "--data", "data")
    output = commands.output("backup", "saved", "--data", "data", **settings)
    assert f"{len(contents) + 1} contents are in the bucket parley" in output, output
    assert server.stop() == 0
    commands.expect_refused("is in the bucket parley, which s3.bucket must name", "restore", "saved", "--data", "restored")
    commands.expect_refused("is missing in the bucket of s3.bucket", "restore", "saved", "--data", "restored", **elsewhere)
    commands.expect_refused(
        "the bucket parley of s3.bucket cannot be used: ", "restore", "saved", "--data", "restored",
        **settings | {"PARLEY_S3_SECRET_KEY": "wrong"})
    commands.output("restore", "saved", "--data", "restored", **settings)
    server.data = str(server.folder / "restored")
    server.start()
    api = APIClient(server)
    for content, digest in contents.items():
        url = api.send("GET", f"/conversations/{conversation}/content/{content}")["download_url"]
        assert hashlib.sha256(fetch(server, url)).digest() == digest, content
    assert fetch(server, caller.completed(export)["download_url"]) == archive
    assert server.stop() == 0
    print(f"backup: {len(contents)} contents and an archive in a bucket")


def main():
    with serving(sys.argv[1]) as server:
        commands = Commands(server)
        backup_and_restore(server, commands)
        errors(server, commands)
        damage(server, commands)
    with serving(sys.argv[1]) as server:
        damaged_while_running(server)
    with contextlib.closing(ObjectStore()) as store:
        if not store.settings:
            return print("backup: skipped with an object store: there is none")
        with serving(sys.argv[1], settings=store.settings) as server:
            bucket(server, Commands(server), store.settings)


main()
