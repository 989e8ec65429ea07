"""The lines of an application, out of a server and into one over HTTP."""

import json

from server import APPLICATION, TOKEN
from talk import expect_talk


def moved(server, method, path, lines=None):
    """Status and body of an export or an import over HTTP; the lines go in chunks."""
    connection = server.connection(timeout=300)
    chunks = lines and (lines[start:start + 100_000] for start in range(0, len(lines), 100_000))
    connection.request(
        method, f"/apps/{APPLICATION}{path}", chunks or None,
        {"Authorization": f"Bearer {TOKEN}", "Accept": "application/vnd.layer+json; version=3.0",
         "Content-Type": "application/jsonl"}, encode_chunked=lines is not None)
    answer = connection.getresponse()
    return answer.status, answer.read()


def expect_there(server, lines, *talked):
    """All lines have come: bringing them again changes nothing, and they go out the same."""
    status, said = moved(server, "POST", "/import", lines)
    assert status == 200 and json.loads(said)["changed"] is False, said
    assert moved(server, "GET", "/export") == (200, lines)
    expect_talk(server, *talked)
