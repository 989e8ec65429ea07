"""Exports and imports of an application over HTTP."""

import json

from server import APPLICATION, TOKEN
from sample_conversation import expect_conversation


def archive_request(server, method, path, lines=None):
    """The status and body of an export or import; lines are sent with chunked coding."""
    connection = server.connection(timeout=300)
    chunks = lines and (lines[start:start + 100_000] for start in range(0, len(lines), 100_000))
    connection.request(
        method, f"/apps/{APPLICATION}{path}", chunks or None,
        {"Authorization": f"Bearer {TOKEN}", "Accept": "application/vnd.layer+json; version=3.0",
         "Content-Type": "application/jsonl"}, encode_chunked=lines is not None)
    answer = connection.getresponse()
    return answer.status, answer.read()


def expect_imported(server, lines, *conversation):
    """Expects that importing the lines again changes nothing and that the export equals them."""
    status, body = archive_request(server, "POST", "/import", lines)
    assert status == 200 and json.loads(body)["changed"] is False, body
    assert archive_request(server, "GET", "/export") == (200, lines)
    expect_conversation(server, *conversation)
