"""Data of the last development version: its export is imported, and its database is refused with instructions.

usage: older_release.py BINARY

`Fixtures/exported.jsonl` was written by that version and has every kind of record. `Fixtures/development.sql` is the
schema of its database, with the rows of its migrations.
"""

import base64
import hashlib
import json
import pathlib
import re
import sqlite3
import sys

tests = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(tests / "Crash"), str(tests / "Support"), str(tests / "Commands")]
from callers import Commands
from postgres import Postgres, schema_of
from server import APPLICATION, serving

FIXTURES = tests / "Commands" / "Fixtures"
KINDS = {"application", "user", "relations", "conversation", "message", "bytes", "content", "scheduled",
         "announcement", "key"}


def imports(server, commands):
    """Imports an export of the development version and exports it again.

    The lines are equal, but keys, which come last, are in their own order instead of that of their kinds; contents are
    in files.
    """
    lines = (FIXTURES / "exported.jsonl").read_bytes().splitlines(keepends=True)
    records = [json.loads(line) for line in lines]
    assert {record["record"] for record in records} == KINDS
    (server.folder / "exported").write_bytes(b"".join(lines))
    output = commands.output("import", "exported", "--data", "new")
    assert output.endswith("all records are durable\n"), output
    output = commands.output("import", "exported", "--data", "new")
    assert output.endswith("nothing has changed\n"), output
    exported = commands.output("export", "--app", APPLICATION, "--data", "new", "--contents", "saved").encode()
    key_order = lambda record: (record["key"], record["kind"]) if record["record"] == "key" else ("", "")
    ordered = sorted(zip(lines, records), key=lambda line: key_order(line[1]))
    assert exported == b"".join(line for line, record in ordered if record["record"] != "bytes")
    contents = {}
    for record in records:
        if record["record"] == "bytes":
            content = contents.setdefault(record["content"], bytearray())
            assert record["at"] == len(content)
            content += base64.b64decode(record["data"])
    files = [file for file in (server.folder / "saved").rglob("*") if file.is_file()]
    digests = lambda contents: sorted(hashlib.sha256(content).hexdigest() for content in contents)
    assert digests(file.read_bytes() for file in files) == digests(contents.values()) and contents
    print(f"older: {len(lines)} lines of a development version imported and exported")


def rejects(server, commands):
    """A database of the development version is not changed, and the error says how to transfer its data."""
    data = server.folder / "old"
    data.mkdir()
    database = data / "parley.sqlite"
    connection = sqlite3.connect(database)
    connection.executescript((FIXTURES / "development.sql").read_text())
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    before = contents_of(database)
    refuse(commands, "the database in old", PARLEY_DATA_FOLDER="old")
    assert contents_of(database) == before
    print("older: a database of a development version is refused with instructions")


def rejects_on_postgres(commands):
    """The same with the rows of the migrations on a PostgreSQL server."""
    development = (FIXTURES / "development.sql").read_text()
    history = re.findall(r"^(?:CREATE TABLE|INSERT INTO) schema_migrations\b.*?;$", development, re.M | re.S)
    postgres = Postgres()
    try:
        url = postgres.schema()
        state = lambda: postgres.run(
            f"SELECT table_name FROM information_schema.tables WHERE table_schema = '{schema_of(url)}'; "
            f"SELECT * FROM {schema_of(url)}.schema_migrations ORDER BY number")
        postgres.run(f"SET search_path TO {schema_of(url)}; {' '.join(history)}")
        before = state()
        refuse(commands, "the database of database.url", PARLEY_DATABASE_URL=url)
        assert state() == before and "1|messaging|" in before
    finally:
        postgres.close()
    print("older: a PostgreSQL database of a development version is refused with instructions")


def refuse(commands, database, **settings):
    """Every command on the database is refused with the same instructions."""
    schema = (tests.parent / "Sources/MessagingStore/Schema/DatabaseSchema.swift").read_text()
    first = re.search(r'number: 1, name: "([^"]+)"', schema)[1]
    for call in (("serve", "--listen", "127.0.0.1:0"), ("export", "--app", APPLICATION), ("app", "list")):
        commands.expect_refused(
            f"{database} was written by another release: its schema begins with 'messaging', that of this "
            f"release with '{first}': export each application with the release that wrote it (parley export) "
            "and import the files into an empty database with this one (parley import)", *call,
            PARLEY_PUBLIC_URL="http://127.0.0.1:8080", **settings)


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
        rejects_on_postgres(commands)


main()
