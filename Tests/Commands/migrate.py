"""`parley migrate` from a folder to a server: killed in the middle, refused, and served from there.

usage: migrate.py BINARY
"""

import contextlib
import pathlib
import shutil
import sqlite3
import sys

tests = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(tests / "Crash"), str(tests / "Support"), str(tests / "Commands")]
from callers import KILLS, Commands, kill_repeatedly
from postgres import Postgres
from server import Server, serving
from store import ObjectStore
from sample_conversation import MESSAGES, expect_conversation, fill_conversation

SIZES = (20_000_000, 0, 1, 70_000)


def kills(commands, postgres, url, *blobs, **settings):
    """Kills the migration between its first row and its last, and resumes it."""
    schema = url.rsplit("D", 1)[1]
    call = ("migrate", "--from", "sqlite:data", "--to", url, "--blobs", *blobs)
    number = kill_repeatedly(
        commands, call, lambda: marked(postgres, schema), 0.4,
        lambda: commands.refuses(
            "the database of database.url is half moved (the migration has come to ", "app", "list", PARLEY_DATABASE_URL=url),
        **settings)
    return number, commands.says(*call, **settings) if number == KILLS else ""


def marked(postgres, schema):
    with contextlib.suppress(Exception):
        return "1" in postgres.run(f"SELECT COUNT(*) FROM {schema}.schema_migrations WHERE number = 0")
    return False


def whole(server, commands, postgres):
    server.start()
    conversation, contents = fill_conversation(server, SIZES)
    url = postgres.schema()
    commands.refuses("the data folder data is already in use by process", "migrate", "--from", "sqlite:data", "--to", url)
    assert server.stop() == 0
    commands.refuses(
        "the database of --to cannot be reached: connection to server at", "migrate", "--from", "sqlite:data",
        "--to", f"postgres://parley@127.0.0.1:{server.port}/parley")
    count, said = kills(commands, postgres, url, "moved")
    rows = dict(line.split("\t") for line in said.splitlines() if "\t" in line)
    assert not said or int(rows["messages"]) == MESSAGES + len(SIZES) and int(rows["contents"]) == len(SIZES), said
    again = commands.start("migrate", "--from", "sqlite:data", "--to", url)
    assert "is not empty" in again.communicate(timeout=60)[1] and again.returncode == 1
    expect_served(server, url, conversation, contents)
    print(f"migrate: {MESSAGES} messages and {len(contents)} contents after {count} kills")


def expect_served(server, url, conversation, contents, settings=None):
    """Expects all data, served from the target of the migration."""
    other = Server(server.binary, server.folder, database=url, settings=settings)
    other.data = str(server.folder / "moved")
    try:
        other.start()
        expect_conversation(other, conversation, contents, SIZES)
        assert other.stop() == 0
    finally:
        other.kill()


def bucket(server, commands, postgres, settings):
    """Contents are copied to a bucket, those in the folder stay readable, and every digest is equal."""
    server.start()
    conversation, contents = fill_conversation(server, SIZES)
    assert server.stop() == 0
    url = postgres.schema()
    commands.refuses(
        "the bucket parley of s3.bucket cannot be used: ", "migrate", "--from", "sqlite:data", "--to", url, "--blobs", "bucket",
        **settings | {"PARLEY_S3_SECRET_KEY": "wrong"})
    url = postgres.schema()
    count, said = kills(commands, postgres, url, "bucket", "--data", "moved", **settings)
    assert not said or f"contents\t{len(SIZES)}\n" in said, said
    shutil.rmtree(server.folder / "data")
    expect_served(server, url, conversation, contents, settings)
    print(f"migrate: {len(contents)} contents to a bucket after {count} kills")


def refusals(server, commands, postgres):
    url = postgres.schema()
    to = ("--to", url)
    commands.refuses("--from must be sqlite: and a data folder", "migrate", "--from", "data", *to)
    for blobs in (["--blobs", ""], ["--blobs="]):
        empty = commands.start("migrate", "--from", "sqlite:data", *to, *blobs)
        complaint = empty.communicate(timeout=60)[1]
        assert empty.returncode == 64 and "--blobs is empty: it needs a value" in complaint, complaint
    taken = postgres.schema()
    postgres.run(f"CREATE TABLE {taken.rsplit('D', 1)[1]}.orders (id BIGINT)")
    commands.refuses(
        "the database of --to is not empty: there are orders", "migrate", "--from", "sqlite:data", "--to", taken)
    commands.refuses("there is no database in nowhere", "migrate", "--from", "sqlite:nowhere", *to)
    commands.refuses("--to or database.url must name the database", "migrate", "--from", "sqlite:data")
    commands.refuses("--to must be a URL", "migrate", "--from", "sqlite:data", "--to", "mysql://me:sesame@db/x")
    commands.refuses(
        "the database of --to cannot be reached", "migrate", "--from", "sqlite:data", "--to",
        "postgres://me:sesame@127.0.0.1:1/parley")
    commands.refuses("--blobs bucket is that of s3.bucket", "migrate", "--from", "sqlite:data", *to, "--blobs", "bucket")
    data = server.folder / "data"
    largest = max((data / "uploads" / "blobs" / "content").rglob("*"), key=lambda file: file.stat().st_size)
    kept = largest.read_bytes()
    largest.write_bytes(kept[:-1] + bytes([kept[-1] ^ 1]))
    commands.refuses("is damaged: its bytes are not those the database knows", "migrate", "--from", "sqlite:data", *to)
    largest.unlink()
    commands.refuses(" is missing in data", "migrate", "--from", "sqlite:data", *to)
    largest.write_bytes(kept)
    said = commands.says("migrate", "--from", "sqlite:data", *to)
    assert said.endswith("all of it verified, row by row and digest by digest\n"), said
    with contextlib.closing(sqlite3.connect(data / "parley.sqlite")) as database, database:
        database.execute("INSERT INTO schema_migrations VALUES (999, 'dreams', 0)")
    commands.refuses(
        "the database in data was written by another release: the database has migration 999 (dreams)", "migrate",
        "--from", "sqlite:data", "--to", postgres.schema())
    print("migrate: refusals in one line")


def main():
    with contextlib.ExitStack() as stack:
        postgres = stack.enter_context(contextlib.closing(Postgres()))
        server = stack.enter_context(serving(sys.argv[1]))
        commands = Commands(server)
        whole(server, commands, postgres)
        refusals(server, commands, postgres)
        store = stack.enter_context(contextlib.closing(ObjectStore()))
        if not store.settings:
            return print("migrate: with an object store: left out")
        other = stack.enter_context(serving(sys.argv[1]))
        bucket(other, Commands(other), postgres, store.settings)


main()
