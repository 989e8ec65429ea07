"""`parley migrate` from a folder to a server: killed repeatedly, its errors, and a server on the migrated data.

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
from postgres import POLL, Postgres, schema_of
from server import Server, serving
from store import ObjectStore
from sample_conversation import MESSAGES, expect_conversation, fill_conversation

SIZES = (20_000_000, 0, 1, 70_000)


def migrate_killed(commands, postgres, url, *blobs, **settings):
    """Kills the migration at random moments while rows are copied, and resumes it."""
    schema = schema_of(url)
    call = ("migrate", "--from", "sqlite:data", "--to", url, "--blobs", *blobs)
    number = kill_repeatedly(
        commands, call, lambda: is_started(postgres, schema), 0.4,
        lambda: commands.expect_refused(
            "the database of database.url is an unfinished migration (the migration has reached ", "app", "list", PARLEY_DATABASE_URL=url),
        POLL, **settings)
    return number, commands.output(*call, **settings) if number == KILLS else ""


def is_started(postgres, schema):
    """Whether a migration into the schema has begun and not finished: it has a row with the number 0 until then."""
    with contextlib.suppress(Exception):
        return "1" in postgres.run(f"SELECT COUNT(*) FROM {schema}.schema_migrations WHERE number = 0")
    return False


def migrate_and_serve(server, commands, postgres):
    """Migrates a data folder, killed meanwhile, and serves all data from the target."""
    server.start()
    conversation, contents = fill_conversation(server, SIZES)
    url = postgres.schema()
    commands.expect_refused("the data folder data is already in use by process", "migrate", "--from", "sqlite:data", "--to", url)
    assert server.stop() == 0
    commands.expect_refused(
        "the database of --to cannot be reached: connection to server at", "migrate", "--from", "sqlite:data",
        "--to", f"postgres://parley@127.0.0.1:{server.port}/parley")
    count, output = migrate_killed(commands, postgres, url, "moved")
    rows = dict(line.split("\t") for line in output.splitlines() if "\t" in line)
    assert not output or int(rows["messages"]) == MESSAGES + len(SIZES) and int(rows["contents"]) == len(SIZES), output
    repeated = commands.start("migrate", "--from", "sqlite:data", "--to", url)
    assert "is not empty" in repeated.communicate(timeout=300)[1] and repeated.returncode == 1
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
    """Copies contents to a bucket; every digest is equal."""
    server.start()
    conversation, contents = fill_conversation(server, SIZES)
    assert server.stop() == 0
    url = postgres.schema()
    commands.expect_refused(
        "the bucket parley of s3.bucket cannot be used: ", "migrate", "--from", "sqlite:data", "--to", url, "--blobs", "bucket",
        **settings | {"PARLEY_S3_SECRET_KEY": "wrong"})
    url = postgres.schema()
    count, output = migrate_killed(commands, postgres, url, "bucket", "--data", "moved", **settings)
    assert not output or f"contents\t{len(SIZES)}\n" in output, output
    shutil.rmtree(server.folder / "data")
    expect_served(server, url, conversation, contents, settings)
    print(f"migrate: {len(contents)} contents to a bucket after {count} kills")


def errors(server, commands, postgres):
    """Each error is one line; after the errors the same data folder is migrated."""
    url = postgres.schema()
    to = ("--to", url)
    commands.expect_refused("--from must be sqlite: and a data folder", "migrate", "--from", "data", *to)
    for blobs in (["--blobs", ""], ["--blobs="]):
        empty = commands.start("migrate", "--from", "sqlite:data", *to, *blobs)
        error = empty.communicate(timeout=300)[1]
        assert empty.returncode == 64 and "--blobs is empty: it needs a value" in error, error
    taken = postgres.schema()
    postgres.run(f"CREATE TABLE {schema_of(taken)}.orders (id BIGINT)")
    commands.expect_refused(
        "the database of --to is not empty: there are orders", "migrate", "--from", "sqlite:data", "--to", taken)
    commands.expect_refused("there is no database in nowhere", "migrate", "--from", "sqlite:nowhere", *to)
    commands.expect_refused("--to or database.url must name the database", "migrate", "--from", "sqlite:data")
    commands.expect_refused("--to must be a URL", "migrate", "--from", "sqlite:data", "--to", "mysql://me:sesame@db/x")
    commands.expect_refused(
        "the database of --to cannot be reached", "migrate", "--from", "sqlite:data", "--to",
        "postgres://me:sesame@127.0.0.1:1/parley")
    commands.expect_refused("--blobs bucket is that of s3.bucket", "migrate", "--from", "sqlite:data", *to, "--blobs", "bucket")
    data = server.folder / "data"
    largest = max((data / "uploads" / "blobs" / "content").rglob("*"), key=lambda file: file.stat().st_size)
    original = largest.read_bytes()
    largest.write_bytes(original[:-1] + bytes([original[-1] ^ 1]))
    commands.expect_refused("is damaged: its digest differs from that in the database", "migrate", "--from", "sqlite:data", *to)
    largest.unlink()
    commands.expect_refused(" is missing in data", "migrate", "--from", "sqlite:data", *to)
    largest.write_bytes(original)
    output = commands.output("migrate", "--from", "sqlite:data", *to)
    assert output.endswith("all of it verified, row by row and digest by digest\n"), output
    with contextlib.closing(sqlite3.connect(data / "parley.sqlite")) as database, database:
        database.execute("INSERT INTO schema_migrations VALUES (999, 'dreams', 0)")
    commands.expect_refused(
        "the database in data was written by another release: the database has migration 999 (dreams)", "migrate",
        "--from", "sqlite:data", "--to", postgres.schema())
    print("migrate: each error is one line")


def main():
    with contextlib.ExitStack() as stack:
        postgres = stack.enter_context(contextlib.closing(Postgres()))
        server = stack.enter_context(serving(sys.argv[1]))
        commands = Commands(server)
        migrate_and_serve(server, commands, postgres)
        errors(server, commands, postgres)
        store = stack.enter_context(contextlib.closing(ObjectStore()))
        if not store.settings:
            return print("migrate: skipped with an object store: there is none")
        other = stack.enter_context(serving(sys.argv[1]))
        bucket(other, Commands(other), postgres, store.settings)


main()
