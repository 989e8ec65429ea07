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
from postgres import Postgres
from server import APPLICATION, Server, serving
from store import ObjectStore
from sample_conversation import MESSAGES, expect_conversation, fill_conversation, id_of, text

SIZES = (5_000_000, 0, 1, 70_000)


def fill(server):
    """Fills a server with every kind of record; returns the conversation and the digests of its contents."""
    api = APIClient(server)
    api.ask("POST", "/users/ana/identity", {"display_name": "Ana é", "metadata": {"a": "b"}})
    api.ask("POST", "/users/ana/following", ["bo", "cy"], status=(202,))
    conversation, contents = fill_conversation(server, SIZES, distinct=False, metadata={"topic": {"of": "the day"}})
    last = api.ask("POST", f"/conversations/{conversation}/messages", text("gone"))
    api.ask("DELETE", f"/messages/{id_of(last)}", status=(204,))
    api.ask("POST", f"/users/bo/conversations/{conversation}/mark_all_read", {"position": 65536 * 40}, status=(202, 204))
    gone = id_of(api.ask("POST", "/conversations", {"participants": ["ana", "cy"]}))
    api.ask("DELETE", f"/conversations/{gone}", status=(204,))
    api.ask("POST", "/announcements", text("Water off at noon") | {"recipients": ["ana", "bo"]}, status=(202,))
    api.ask("POST", f"/conversations/{conversation}/messages", text("later") | {
        "schedule": {"delay_in_seconds": 300}}, status=(202,))
    return conversation, contents


def export(commands, *words, **variables):
    return commands.says("export", "--app", APPLICATION, *words, **variables)


def begun(postgres, url):
    """Whether a schema has rows."""
    schema = url.rsplit("D", 1)[1]
    with contextlib.suppress(Exception):
        return postgres.run(f"SELECT COUNT(*) FROM {schema}.messages") != "0"
    return False


def whole(server, commands, postgres):
    """Imports a file into a server and exports it again: the bytes are equal."""
    server.start()
    conversation, contents = fill(server)
    lines = export(commands, "--contents", "saved")
    assert lines == export(commands)
    (server.folder / "lines").write_text(lines)
    commands.refuses("the data folder data is already in use by process", "import", "lines")
    url = postgres.schema()
    there = {"PARLEY_DATABASE_URL": url}
    call = ("import", "lines", "--contents", "saved", "--data", "other")
    count = kill_repeatedly(commands, call, lambda: begun(postgres, url), 2, **there)
    commands.says(*call, **there)
    again = commands.says(*call, **there)
    assert again.endswith("nothing has changed\n") and f"messages\t0 imported\t{MESSAGES + len(SIZES)} already present" in again, again
    assert export(commands, "--data", "other", **there) == lines
    said = commands.says("import", "lines", "--contents", "saved", "--data", "third")
    assert f"messages\t{MESSAGES + len(SIZES)} imported\t0 already present" in said, said
    assert said.endswith("all of it durable\n"), said
    assert export(commands, "--data", "third") == lines
    assert server.stop() == 0
    third = Server(server.binary, server.folder)
    third.data = str(server.folder / "third")
    try:
        third.start()
        api = APIClient(third)
        expect_conversation(third, conversation, contents, SIZES)
        assert api.ask("GET", "/users/ana/following") is not None
        assert third.stop() == 0
    finally:
        third.kill()
    print(f"import and export: {MESSAGES} messages and {len(contents)} contents to a server and back, after {count} kills")


def killed(target, lines, begun, seconds):
    """Kills a server during an import, at a random moment up to `seconds` after its first row."""
    target.start()

    def send():
        with contextlib.suppress(OSError, http.client.HTTPException):
            archive_request(target, "POST", "/import", lines)

    sender = threading.Thread(target=send)
    sender.start()
    deadline = time.monotonic() + 60
    while sender.is_alive() and not begun():
        assert time.monotonic() < deadline
        time.sleep(0.05)
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
        assert Commands(server).says("export", "--app", APPLICATION).encode() == bare
        assert not list((server.folder / "data" / "uploads" / "blobs" / "staged").iterdir())
        url = postgres.schema()
        for number, database in enumerate([url, None]):
            target = Server(server.binary, server.folder, database=database)
            target.data = str(server.folder / f"http{number}")
            try:
                for kill in range(KILLS if database else 0):
                    killed(target, lines, lambda: begun(postgres, url), kill * 0.5)
                target.start()
                status, said = archive_request(target, "POST", "/import", lines)
                assert status == 200, said
                expect_imported(target, lines, conversation, contents, SIZES)
                assert target.stop() == 0
            finally:
                target.kill()
        assert server.stop() == 0
        (server.folder / "whole.lines").write_bytes(lines)
        commands = Commands(server)
        said = commands.says("import", "whole.lines", "--data", "whole")
        assert said.endswith("all of it durable\n"), said
        assert commands.says("export", "--app", APPLICATION, "--data", "whole").encode() == bare
    print(f"import and export: {len(lines)} bytes over HTTP to either engine and back, after {KILLS} kills")


def with_bucket(binary):
    """Imports into servers whose contents are in a bucket, over HTTP and by command, and exports again."""
    with contextlib.closing(ObjectStore()) as store, serving(binary) as server:
        if not store.settings:
            return print("import and export: with an object store: left out")
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
                    said = commands.says("import", *call, "--data", target.data, **target.settings)
                    assert said.endswith("all of it durable\n"), said
                target.start()
                if not call:
                    status, said = archive_request(target, "POST", "/import", lines)
                    assert status == 200, said
                expect_imported(target, lines, conversation, contents, SIZES)
                blobs = pathlib.Path(target.data) / "uploads" / "blobs"
                left = [file for file in blobs.rglob("*") if file.is_file() and file.stat().st_size]
                assert not left, left
                assert target.stop() == 0
            finally:
                target.kill()
    print(f"import and export: {len(contents)} contents into buckets of {store.name} and back")


def merging(server, commands):
    """Merges the distinct conversations that two users have on two servers: each message is there once."""
    sides = {}
    for name in ("here", "there"):
        side = Server(server.binary, server.folder)
        side.data = str(server.folder / name)
        side.start()
        try:
            api = APIClient(side)
            sides[name] = id_of(api.ask("POST", "/conversations", {"participants": ["ana", "bo"], "distinct": True}))
            for number in range(3):
                api.ask("POST", f"/conversations/{sides[name]}/messages", text(f"{name} {number}"))
            assert side.stop() == 0
        finally:
            side.kill()
    (server.folder / "there.lines").write_text(export(commands, "--data", "there"))
    said = commands.says("import", "there.lines", "--data", "here")
    assert "conversations merged\t1\n" in said, said
    said = commands.says("import", "there.lines", "--data", "here")
    assert said.endswith("nothing has changed\n"), said
    here = Server(server.binary, server.folder)
    here.data = str(server.folder / "here")
    try:
        here.start()
        api = APIClient(here)
        found = api.ask("GET", f"/conversations/{sides['there']}")
        assert id_of(found) == sides["here"], found
        assert api.messages(sides["there"]) == {f"{name} {number}" for name in sides for number in range(3)}
        api.ask("POST", f"/conversations/{sides['there']}/messages", text("together"))
        assert "together" in api.messages(sides["here"])
        assert here.stop() == 0
    finally:
        here.kill()
    print("import and export: distinct conversations of two servers become one")


def refusals(server, commands):
    lines = (server.folder / "lines").read_text().splitlines()
    call = ("import", "bad.lines", "--data", "bad")
    for broken, words in (
        ("{", "line 2: is no JSON object: byte 1"),
        ('{"record":"song"}', "line 2: record must be one of application, user"),
        ('{"record":"relations"}', "line 2: user_id is missing"),
        (next(line for line in lines if '"record":"message"' in line),
         "line 2: conversation is neither on a line before nor here"),
        (next(line for line in lines if '"contents":' in line), "whose bytes are neither here nor on the lines before"),
        (lines[0], "line 2: record must be application on the first line only"),
    ):
        (server.folder / "bad.lines").write_text("\n".join([lines[0], broken]))
        commands.refuses(words, *call)
    (server.folder / "bad.lines").write_text(lines[1])
    commands.refuses("line 1: record must be application on the first line", *call)
    (server.folder / "bad.lines").write_text("")
    commands.refuses("line 1: there is no application", *call)
    commands.refuses("the file nowhere cannot be read", "import", "nowhere")
    commands.refuses("is not the id of an application", "export", "--app", "x")
    commands.refuses(f"there is no application {APPLICATION[:-1]}0", "export", "--app", APPLICATION[:-1] + "0")
    saved = max((server.folder / "saved" / "content").rglob("*"), key=lambda file: file.stat().st_size)
    kept = saved.read_bytes()
    saved.write_bytes(kept[:-1] + bytes([kept[-1] ^ 1]))
    commands.refuses("is damaged: its bytes are not those", "import", "lines", "--contents", "saved", "--data", "fourth")
    assert "content 5000000" not in export(commands, "--data", "fourth")
    saved.write_bytes(kept)
    said = commands.says("import", "lines", "--contents", "saved", "--data", "fourth")
    assert said.endswith("all of it durable\n"), said
    assert export(commands, "--data", "fourth") == (server.folder / "lines").read_text()
    assert json.loads(lines[0])["record"] == "application"
    print("import and export: refusals in one line")


def main():
    with contextlib.closing(Postgres()) as postgres, serving(sys.argv[1]) as server:
        commands = Commands(server)
        whole(server, commands, postgres)
        merging(server, commands)
        refusals(server, commands)
        over_http(sys.argv[1], postgres)
    with_bucket(sys.argv[1])


main()
