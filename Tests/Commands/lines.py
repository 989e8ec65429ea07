"""The lines of an application, out of a server and into one over HTTP."""

from server import APPLICATION, TOKEN


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
