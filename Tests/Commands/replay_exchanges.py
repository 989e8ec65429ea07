"""Sends the golden exchanges to a running server, and prints the secrets that its log must not contain.

usage: replay_exchanges.py HOST:PORT FOLDER NAME=VALUE…

The values replace `{NAME}` in the exchanges. Answers are not compared here, but in PlatformAPITests. It sends the first
exchanges of each file in its newest version, and with PARLEY_TEST_ROUNDS=all each exchange in each version.
"""
import http.client, os, pathlib, re, sys, urllib.parse, uuid

host, folder, variables = sys.argv[1], pathlib.Path(sys.argv[2]), dict(pair.split("=", 1) for pair in sys.argv[3:])
cookie, query = "cookie-" + uuid.uuid4().hex, "nonce-" + uuid.uuid4().hex
# The most exchanges of each file and version.
is_full = os.environ.get("PARLEY_TEST_ROUNDS") == "all"
most = None if is_full else 10
secrets = {cookie, query, *(value for name, value in variables.items() if name.endswith("token"))}


def send(method, target, fields, body):
    connection = http.client.HTTPConnection(host, timeout=120)
    connection.putrequest(method, target, skip_accept_encoding=True)
    for name, value in fields:
        connection.putheader(name, value)
    if body or method in ("POST", "PUT", "PATCH"):
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer, content


def with_variables(text):
    """A text with values in place of `{NAME}`; unknown names get a random UUID."""
    return re.sub(r"\{([A-Za-z_]+)\}", lambda name: known.setdefault(name[1], str(uuid.uuid4())), text)


count = 0
for file in sorted(folder.glob("*.http")):
    text = file.read_text()
    versions = re.search(r"^# versions: (.*)$", text, re.M)[1].split()
    for version in versions if is_full else [max(versions)]:
        known = {**variables, "version": version}
        for section in ("\n" + text).split("\n### ")[1:][:most]:
            request, expected = section.split("\n---\n", 1)
            head, _, body = request.split("\n", 1)[1].partition("\n\n")
            line, *fields = head.split("\n")
            method, target = with_variables(line).split(" ", 1)
            target = urllib.parse.urlsplit(target)._replace(scheme="", netloc="").geturl()
            target += ("&" if "?" in target else "?") + "note=" + query
            fields = [tuple(with_variables(field).split(": ", 1)) for field in fields if ": " in field] + [("Cookie", cookie), ("Connection", "close")]
            answer, content = send(method, target, fields, with_variables(body).encode())
            count += 1
            # The name by which later requests of the file refer to the created object.
            name, location = re.search(r"\{(\w+):uuid\}", expected), answer.headers.get("Location")
            if name and location:
                known[name[1]] = location.rsplit("/", 1)[-1]
            for url in re.findall(r'"(?:upload|download)_url":"([^"]*)"', content.decode(errors="replace")):
                parts = urllib.parse.urlsplit(url.replace("\\/", "/"))
                for method in ("PUT", "HEAD", "GET"):
                    send(method, parts._replace(scheme="", netloc="").geturl(), [], b"0" if method == "PUT" else b"")
                # The log may contain the first characters of a token, to identify the upload.
                secrets.add(parts.path.split("/")[2][:40] if "/uploads/" in parts.path else parts.query or parts.path)
assert count > 300, count
print("\n".join(sorted(secrets)))
