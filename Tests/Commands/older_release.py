"""Data of the last development version: its export is imported, its database is rejected with the way out.

usage: older_release.py BINARY

`Fixtures/exported.jsonl` was written by that version and has every kind of record. `Fixtures/development.sql` is the
schema of its database, with the rows of its migrations.
"""

import base64
import hashlib
import json
import pathlib
import sqlite3
import sys

tests = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(tests / "Crash"), str(tests / "Support"), str(tests / "Commands")]
from callers import Commands
from server import APPLICATION, serving

FIXTURES = tests / "Commands" / "Fixtures"
KINDS = {"application", "user", "relations", "conversation", "message", "bytes", "content", "scheduled",
         "announcement", "key"}


def imports(server, commands):
    """An export of the development version comes out of this one byte for byte; contents lie beside it."""
    lines = (FIXTURES / "exported.jsonl").read_bytes().splitlines(keepends=True)
    records = [json.loads(line) for line in lines]
    assert {record["record"] for record in records} == KINDS
    (server.folder / "exported").write_bytes(b"".join(lines))
    said = commands.says("import", "exported", "--data", "new")
    assert said.endswith("all of it durable\n"), said
    said = commands.says("import", "exported", "--data", "new")
    assert said.endswith("nothing has changed\n"), said
    out = commands.says("export", "--app", APPLICATION, "--data", "new", "--contents", "saved").encode()
    rest = [line for line, record in zip(lines, records) if record["record"] != "bytes"]
    assert out == b"".join(rest)
    contents = {}
    for record in records:
        if record["record"] == "bytes":
            content = contents.setdefault(record["content"], bytearray())
            assert record["at"] == len(content)
            content += base64.b64decode(record["data"])
    saved = [file for file in (server.folder / "saved").rglob("*") if file.is_file()]
    digests = lambda every: sorted(hashlib.sha256(content).hexdigest() for content in every)
    assert digests(file.read_bytes() for file in saved) == digests(contents.values()) and contents
    print(f"older: {len(lines)} lines of a development version in and out again")


def rejects(server, commands):
    """A database of the development version stays as it is, and the message says how to take its data along."""
    data = server.folder / "old"
    data.mkdir()
    database = data / "parley.sqlite"
    connection = sqlite3.connect(database)
    connection.executescript((FIXTURES / "development.sql").read_text())
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    before = contents_of(database)
    for call in (("serve", "--listen", "127.0.0.1:0"), ("export", "--app", APPLICATION), ("app", "list")):
        commands.refuses(
            "the database in old was written by another release: its schema begins with 'messaging', that of this "
            "release with 'initial schema': export each application with the release that wrote it (parley export) "
            "and import the files into an empty database with this one (parley import)", *call, "--data", "old",
            PARLEY_PUBLIC_URL="http://127.0.0.1:8080")
    assert contents_of(database) == before
    print("older: a database of a development version is rejected with the way out")


def contents_of(database):
    """Schema and rows as text."""
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    try:
        return list(connection.iterdump())
    finally:
        connection.close()


def main():
    with serving(sys.argv[1]) as server:
        commands = Commands(server)
        imports(server, commands)
        rejects(server, commands)


main()
