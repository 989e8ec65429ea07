"""`parley export` and `parley import`: killed, repeated, merged, refused, and the same bytes on both engines.

usage: import_export.py BINARY
"""

import contextlib
import http.client
import json
import pathlib
import random
import sys
import threading
import time

tests = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(tests / "Crash"), str(tests / "Support"), str(tests / "Commands")]
from archive_requests import archive_request, expect_imported
from callers import KILLS, Commands, APIClient, kill_repeatedly
from postgres import POLL, Postgres, schema_of
from server import APPLICATION, PATIENCE, Server, serving
from store import ObjectStore
from sample_conversation import MESSAGES, expect_conversation, fill_conversation, id_of, text

SIZES = (5_000_000, 0, 1, 70_000)


def fill(server):
    """Fills a server with every kind of record; returns the conversation and the digests of its contents."""
    api = APIClient(server)
    api.send("POST", "/users/ana/identity", {"display_name": "Ana é", "metadata": {"a": "b"}})
    api.send("POST", "/users/ana/following", ["bo", "cy"], status=(202,))
    conversation, contents = fill_conversation(server, SIZES, distinct=False, metadata={"topic": {"of": "the day"}})
    last = api.send("POST", f"/conversations/{conversation}/messages", text("gone"))
    api.send("DELETE", f"/messages/{id_of(last)}", status=(204,))
    api.send("POST", f"/users/bo/conversations/{conversation}/mark_all_read", {"position": 65536 * 40}, status=(202, 204))
    gone = id_of(api.send("POST", "/conversations", {"participants": ["ana", "cy"]}))
    api.send("DELETE", f"/conversations/{gone}", status=(204,))
    api.send("POST", "/announcements", text("Water off at noon") | {"recipients": ["ana", "bo"]}, status=(202,))
    api.send("POST", f"/conversations/{conversation}/messages", text("later") | {
        "schedule": {"delay_in_seconds": 300}}, status=(202,))
    return conversation, contents


def export(commands, *arguments, **variables):
    return commands.output("export", "--app", APPLICATION, *arguments, **variables)


def has_rows(postgres, url):
    """Whether the schema of a URL has messages; false also before its tables exist."""
    schema = schema_of(url)
    with contextlib.suppress(Exception):
        return postgres.run(f"SELECT COUNT(*) FROM {schema}.messages") != "0"
    return False


def export_and_import(server, commands, postgres):
    """Imports a file into a server and exports it again: the bytes are equal."""
    server.start()
    conversation, contents = fill(server)
    lines = export(commands, "--contents", "saved")
    assert lines == export(commands)
    (server.folder / "lines").write_text(lines)
    commands.expect_refused("the data folder data is already in use by process", "import", "lines")
    url = postgres.schema()
    settings = {"PARLEY_DATABASE_URL": url}
    call = ("import", "lines", "--contents", "saved", "--data", "other")
    count = kill_repeatedly(commands, call, lambda: has_rows(postgres, url), 2, interval=POLL, **settings)
    commands.output(*call, **settings)
    repeated = commands.output(*call, **settings)
    assert repeated.endswith("nothing has changed\n") and f"messages\t0 imported\t{MESSAGES + len(SIZES)} already present" in repeated, repeated
    assert export(commands, "--data", "other", **settings) == lines
    output = commands.output("import", "lines", "--contents", "saved", "--data", "third")
    assert f"messages\t{MESSAGES + len(SIZES)} imported\t0 already present" in output, output
    assert output.endswith("all records are durable\n"), output
    assert export(commands, "--data", "third") == lines
    assert server.stop() == 0
    third = Server(server.binary, server.folder)
    third.data = str(server.folder / "third")
    try:
        third.start()
        api = APIClient(third)
        expect_conversation(third, conversation, contents, SIZES)
        assert api.send("GET", "/users/ana/following") is not None
        assert third.stop() == 0
    finally:
        third.kill()
    print(f"import and export: {MESSAGES} messages and {len(contents)} contents to a server and back, after {count} kills")


def import_killed(target, lines, has_rows, seconds):
    """Kills a server during an import, at a random moment up to `seconds` after its first row."""
    target.start()

    def send():
        with contextlib.suppress(OSError, http.client.HTTPException):
            archive_request(target, "POST", "/import", lines)

    sender = threading.Thread(target=send)
    sender.start()
    deadline = time.monotonic() + PATIENCE
    while sender.is_alive() and not has_rows():
        assert time.monotonic() < deadline
        time.sleep(POLL)
    time.sleep(random.random() * seconds)
    target.kill()
    sender.join()


def over_http(binary, postgres):
    """Imports one server's export into servers on both engines, which are killed meanwhile: the lines are equal."""
    with serving(binary) as server:
        server.start()
        conversation, contents = fill_conversation(server, SIZES)
        status, lines = archive_request(server, "GET", "/export")
        assert status == 200 and lines.count(b'{"record":"bytes"') == 10, status
        status, bare = archive_request(server, "GET", "/export?contents=none")
        assert Commands(server).output("export", "--app", APPLICATION).encode() == bare
        assert not list((server.folder / "data" / "uploads" / "blobs" / "staged").iterdir())
        url = postgres.schema()
        for number, database in enumerate([url, None]):
            target = Server(server.binary, server.folder, database=database)
            target.data = str(server.folder / f"http{number}")
            try:
                for kill in range(KILLS if database else 0):
                    import_killed(target, lines, lambda: has_rows(postgres, url), kill * 0.5)
                target.start()
                status, body = archive_request(target, "POST", "/import", lines)
                assert status == 200, body
                expect_imported(target, lines, conversation, contents, SIZES)
                assert target.stop() == 0
            finally:
                target.kill()
        assert server.stop() == 0
        (server.folder / "all.lines").write_bytes(lines)
        commands = Commands(server)
        output = commands.output("import", "all.lines", "--data", "all")
        assert output.endswith("all records are durable\n"), output
        assert commands.output("export", "--app", APPLICATION, "--data", "all").encode() == bare
    print(f"import and export: {len(lines)} bytes over HTTP to either engine and back, after {KILLS} kills")


def with_bucket(binary):
    """Imports into servers whose contents are in a bucket, over HTTP and by command, and exports again."""
    with contextlib.closing(ObjectStore()) as store, serving(binary) as server:
        if not store.settings:
            return print("import and export: skipped with an object store: there is none")
        server.start()
        conversation, contents = fill_conversation(server, SIZES)
        status, lines = archive_request(server, "GET", "/export")
        assert status == 200 and server.stop() == 0
        commands = Commands(server)
        (server.folder / "lines").write_bytes(lines)
        bare = export(commands, "--contents", "saved")
        (server.folder / "bare").write_text(bare)
        for number, call in enumerate([None, ("lines",), ("bare", "--contents", "saved")]):
            target = Server(server.binary, server.folder, settings=store.settings | {
                "PARLEY_S3_PREFIX": f"moving{number}/"})
            target.data = str(server.folder / f"bucket{number}")
            try:
                if call:
                    output = commands.output("import", *call, "--data", target.data, **target.settings)
                    assert output.endswith("all records are durable\n"), output
                target.start()
                if not call:
                    status, body = archive_request(target, "POST", "/import", lines)
                    assert status == 200, body
                expect_imported(target, lines, conversation, contents, SIZES)
                blobs = pathlib.Path(target.data) / "uploads" / "blobs"
                left = [file for file in blobs.rglob("*") if file.is_file() and file.stat().st_size]
                assert not left, left
                assert target.stop() == 0
            finally:
                target.kill()
    print(f"import and export: {len(contents)} contents into buckets of {store.name} and back")


def merging(server, commands):
    """Merges the distinct conversations of two users on two servers: each message exists once."""
    sides = {}
    for name in ("here", "there"):
        side = Server(server.binary, server.folder)
        side.data = str(server.folder / name)
        side.start()
        try:
            api = APIClient(side)
            sides[name] = id_of(api.send("POST", "/conversations", {"participants": ["ana", "bo"], "distinct": True}))
            for number in range(3):
                api.send("POST", f"/conversations/{sides[name]}/messages", text(f"{name} {number}"))
            assert side.stop() == 0
        finally:
            side.kill()
    (server.folder / "there.lines").write_text(export(commands, "--data", "there"))
    output = commands.output("import", "there.lines", "--data", "here")
    assert "conversations merged\t1\n" in output, output
    output = commands.output("import", "there.lines", "--data", "here")
    assert output.endswith("nothing has changed\n"), output
    here = Server(server.binary, server.folder)
    here.data = str(server.folder / "here")
    try:
        here.start()
        api = APIClient(here)
        found = api.send("GET", f"/conversations/{sides['there']}")
        assert id_of(found) == sides["here"], found
        assert api.messages(sides["there"]) == {f"{name} {number}" for name in sides for number in range(3)}
        api.send("POST", f"/conversations/{sides['there']}/messages", text("together"))
        assert "together" in api.messages(sides["here"])
        assert here.stop() == 0
    finally:
        here.kill()
    print("import and export: distinct conversations of two servers are merged")


def errors(server, commands):
    """Each error is one line, and an import succeeds after damaged contents are restored."""
    lines = (server.folder / "lines").read_text().splitlines()
    call = ("import", "bad.lines", "--data", "bad")
    for line, message in (
        ("{", "line 2: is not a JSON object: byte 1"),
        ('{"record":"song"}', "line 2: record must be one of application, user"),
        ('{"record":"relations"}', "line 2: user_id is missing"),
        (next(line for line in lines if '"record":"message"' in line),
         "line 2: conversation must be on an earlier line, or exist here"),
        (next(line for line in lines if '"contents":' in line), "whose bytes are neither here nor on the lines before"),
        (lines[0], "line 2: record must be application on the first line only"),
    ):
        (server.folder / "bad.lines").write_text("\n".join([lines[0], line]))
        commands.expect_refused(message, *call)
    (server.folder / "bad.lines").write_text(lines[1])
    commands.expect_refused("line 1: record must be application on the first line", *call)
    (server.folder / "bad.lines").write_text("")
    commands.expect_refused("line 1: there is no application", *call)
    commands.expect_refused("the file nowhere cannot be read", "import", "nowhere")
    commands.expect_refused("is not the id of an application", "export", "--app", "x")
    commands.expect_refused(f"there is no application {APPLICATION[:-1]}0", "export", "--app", APPLICATION[:-1] + "0")
    saved = max((server.folder / "saved" / "content").rglob("*"), key=lambda file: file.stat().st_size)
    original = saved.read_bytes()
    saved.write_bytes(original[:-1] + bytes([original[-1] ^ 1]))
    commands.expect_refused("is damaged: its digest differs from that in the database", "import", "lines", "--contents", "saved", "--data", "fourth")
    assert "content 5000000" not in export(commands, "--data", "fourth")
    saved.write_bytes(original)
    output = commands.output("import", "lines", "--contents", "saved", "--data", "fourth")
    assert output.endswith("all records are durable\n"), output
    assert export(commands, "--data", "fourth") == (server.folder / "lines").read_text()
    assert json.loads(lines[0])["record"] == "application"
    print("import and export: each error is one line")


def main():
    with contextlib.closing(Postgres()) as postgres, serving(sys.argv[1]) as server:
        commands = Commands(server)
        export_and_import(server, commands, postgres)
        merging(server, commands)
        errors(server, commands)
        over_http(sys.argv[1], postgres)
    with_bucket(sys.argv[1])


main()
