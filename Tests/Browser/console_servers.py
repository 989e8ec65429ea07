"""Tests of the operator console with servers of their own, or with one whose answers fail. `console.py` runs them."""

import base64
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "OpenAPI"))

import described
import pages
from console_actions import (
    PASSWORD, another_server, api, command, conversation, fetch, fill_login, heading, is_logged_in, lines, link, log_in, log_out, main_text, opened,
    page, send, set_password, settled, unique, using, uuid_of)
from pages import check, request
from relay import relayed
from server import APPLICATION, TOKEN, fixed_port

TESTS = []
test = pages.registering(TESTS)


# MARK: Access

def certify(folder):
    """A certificate for 127.0.0.1 that is signed by itself: the paths of certificate and key."""
    certificate, key = f"{folder}/certificate.pem", f"{folder}/key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", certificate],
        check=True, capture_output=True)
    os.chmod(key, 0o600)
    return certificate, key


def console_cookies(browser):
    """The cookies of consoles, by the part of their names before the id of the server."""
    return {cookie["name"].rsplit("-", 1)[0]: cookie for cookie in browser.driver.get_cookies() if "parley-console" in cookie["name"]}


@test(with_network_errors=True)
def a_cookie_has_the_flags_of_its_scheme(browser):
    with tempfile.TemporaryDirectory(prefix="parley-console-") as folder:
        certificate, key = certify(folder)
        secured = fixed_port()
        with another_server(browser, PARLEY_TLS_LISTEN=f"127.0.0.1:{secured}", PARLEY_TLS_CERTIFICATES=certificate,
                            PARLEY_TLS_KEYS=key) as server:
            browser.driver.delete_all_cookies()
            browser.command("Security.setIgnoreCertificateErrors", ignore=True)
            try:
                for base, prefix, path, is_secure in ((f"http://127.0.0.1:{server.port}", "parley-console", "/console", False),
                                                      (f"https://127.0.0.1:{secured}", "__Host-parley-console", "/", True)):
                    with using(browser, server, base):
                        log_in(browser)
                        cookie = console_cookies(browser).get(prefix)
                        check(f"{base} sets its cookie", cookie, browser.driver.get_cookies())
                        check("the name ends with the id of the server", re.fullmatch(r"[0-9a-f]{8}", cookie["name"].rsplit("-", 1)[1]), cookie)
                        check("its flags", (cookie["path"], cookie["secure"], cookie["httpOnly"], cookie["sameSite"])
                              == (path, is_secure, True, "Strict"), cookie)
                        check("it is of this host", cookie["domain"] == "127.0.0.1", cookie)
                        browser.open("/console/overview")
                        check("it is sent again", is_logged_in(browser))
            finally:
                browser.command("Security.setIgnoreCertificateErrors", ignore=False)


@test(with_network_errors=True)
def two_servers_of_a_host_have_two_sessions(browser):
    log_in(browser)
    with another_server(browser) as other:
        with using(browser, other):
            log_in(browser)
        browser.open("/console/overview")
        check("the first session lasts", is_logged_in(browser))
        with using(browser, other):
            browser.open("/console/overview")
            check("the second session lasts", is_logged_in(browser))
            log_out(browser)
        browser.open("/console/overview")
        check("it lasts after the logout from the other", is_logged_in(browser))


@test(with_network_errors=True)
def a_login_over_http_from_elsewhere_is_refused(browser):
    with another_server(browser, PARLEY_HTTP_TRUSTED_PROXIES="127.0.0.1", PARLEY_HTTP_FORWARDED_FROM="x-forwarded") as server:
        with using(browser, server):
            browser.command("Network.enable")
            browser.command("Network.setExtraHTTPHeaders", headers={"X-Forwarded-For": "192.168.1.7", "X-Forwarded-Proto": "http"})
            try:
                browser.open("/console/login")
                fill_login(browser, browser.one("main"), "admin")
                text = browser.until(lambda: browser.one("main .problem p").text, "the refusal")
            finally:
                browser.command("Network.setExtraHTTPHeaders", headers={})
            check("the page shows the tunnel", f"ssh -L 8080:127.0.0.1:{server.port} 127.0.0.1" in text, text)
            check("there is no cookie of this server", not is_logged_in(browser))
        body = json.dumps({"name": "admin", "password": PASSWORD})
        for scheme, expected in (("http", 403), ("https", 200)):
            status, answer, headers = request(
                server, "POST", "/console/api/session", body, **{
                    "Content-Type": "application/json", "X-Parley-Console": "1", "X-Forwarded-For": "192.168.1.7",
                    "X-Forwarded-Proto": scheme})
            check(f"a trusted proxy reports {scheme}", status == expected, f"{status} {answer}")
        check("its cookie is secure", headers["Set-Cookie"].startswith("__Host-") and "; Secure" in headers["Set-Cookie"], headers["Set-Cookie"])


# A console with addresses of its own asks on each of them whether there is a session.
@test(with_network_errors=True)
def a_console_with_an_address_of_its_own_names_those_of_the_api(browser):
    port = fixed_port()
    with another_server(browser, PARLEY_CONSOLE_LISTEN=f"127.0.0.1:{port}") as server:
        base = f"http://127.0.0.1:{server.port}"
        browser.others = (base,)
        try:
            with using(browser, server, f"http://127.0.0.1:{port}"):
                chat = conversation(browser, "ana", "bo")
                made = api(browser, "POST", f"conversations/{chat}/content", **{
                    "Upload-Content-Type": "image/png", "Upload-Content-Length": str(len(PNG))})
                status, _, _ = request(server, "PUT", urllib.parse.urlsplit(made["upload_url"]).path, PNG)
                check("the content is complete", status in (200, 201), status)
                api(browser, "POST", f"conversations/{chat}/messages", {"sender_id": "ana", "parts": [
                    {"mime_type": "image/png", "content": {"id": made["id"], "size": len(PNG)}}]})
                opened(browser, page("conversations", chat))
                href = browser.one(".timeline a[download]").get_attribute("href")
                check("the download is that of the API", href.startswith(f"{base}/download/"), href)
                browser.button("Show").click()
                browser.until(lambda: browser.script("return document.querySelector('.preview img').naturalWidth") == 1, "the picture")
                browser.one(".timeline details summary").click()
                text = browser.one(".timeline .command code").text
                check("so are commands", f"'{base}/apps/" in text, text)
        finally:
            browser.others = ()


@test(with_network_errors=True)
def contents_are_hidden_by_a_setting(browser):
    with another_server(browser, PARLEY_CONSOLE_SHOW_CONTENT="false") as server, using(browser, server):
        chat = conversation(browser, "ana", "bo")
        made = api(browser, "POST", f"conversations/{chat}/content", **{
            "Upload-Content-Type": "image/png", "Upload-Content-Length": str(len(PNG))})
        request(server, "PUT", urllib.parse.urlsplit(made["upload_url"]).path, PNG)
        api(browser, "POST", f"conversations/{chat}/messages", {"sender_id": "ana", "parts": [
            {"mime_type": "text/plain", "body": "nothing to see"}, {"mime_type": "image/png", "content": {"id": made["id"], "size": len(PNG)}}]})
        opened(browser, page("conversations", chat))
        shown = [part.text for part in browser.all(".part")]
        check("each part says so", len(shown) == 2 and all("[hidden]" in part and "available" not in part for part in shown), shown)
        check("nothing of the text is shown", "nothing to see" not in main_text(browser))


# MARK: The live log

@test(with_network_errors=True)
def positions_that_are_gone_say_where_the_log_begins(browser):
    with another_server(browser) as server:
        with using(browser, server):
            for number in range(4):
                conversation(browser, unique("ana"), "bo")
            server.kill()
            # Old events are deleted at the start.
            time.sleep(1.1)
            server.settings["PARLEY_EVENTS_RETENTION"] = "1s"
            server.start()
            chat = conversation(browser, unique("ana"), "bo")
            browser.until(lambda: request(server, "GET", f"/apps/{APPLICATION}/events?after=0", None, Authorization=f"Bearer {TOKEN}")[0] == 410,
                          "the old events are deleted")
            opened(browser, page("log"))
            browser.until(lambda: chat in browser.one(".lines").text, "the newest event")
            place = browser.one("[aria-label='Go to a position or time']")
            place.send_keys("1\n")
            text = browser.until(lambda: browser.one("main .problem").text, "the position is gone")
            first = api(browser, "GET", "events?order=desc&limit=100")["events"][-1]["position"]
            check("the page says where the log begins", f"The log is kept from position {first} on." in text, text)
            check("it offers no retry", "Retry" not in text, text)
            place = browser.one("[aria-label='Go to a position or time']")
            place.clear()
            place.send_keys(f"{first}\n")
            browser.until(lambda: not browser.all("main .problem") and chat in browser.one(".lines").text, "the first event")


# MARK: Behaviour

# A picture of one pixel.
PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")

ERROR = {"id": "internal_server_error", "code": 101, "message": "Something in the server failed.", "url": "/docs/errors"}


@test(with_network_errors=True)
def failures_and_slow_answers_have_a_state(browser):
    user = unique("ana")
    chat = conversation(browser, user, "bo")
    log_in(browser)
    with relayed(browser.server) as relay, using(browser, browser.server, relay.base):
        users = f"/console/api/apps/{APPLICATION}/users?"
        rows = lambda: browser.until(lambda: any(user in row.text for row in browser.all("tbody tr")), "the rows")
        relay.plans[users] = 500, {"Content-Type": "application/json", "X-Request-Id": "r-500"}, json.dumps(ERROR)
        opened(browser, page("users", q=user))
        text = browser.one("main .problem").text
        check("500: what happened, and the id of the request", ERROR["message"] in text and "Request r-500" in text, text)
        relay.plans[users] = 503, {"Content-Type": "text/html", "Retry-After": "1"}, "<h1>Out of service</h1>"
        browser.button("Retry").click()
        browser.until(lambda: "The server answered 503." in browser.one("main .problem").text, "503 of a proxy")
        relay.plans.clear()
        browser.button("Retry").click()
        rows()
        check("the failure is gone", not browser.all("main .problem"))
        relay.plans[users] = 500, {"Content-Type": "application/json"}, json.dumps(ERROR)
        browser.script("document.querySelector('.list-box').reload()")
        text = browser.until(lambda: browser.one("main .problem").text, "the failure of a later request")
        check("the rows stay, with their time", any(user in row.text for row in browser.all("tbody tr")) and "Shown as of" in text, text)
        relay.plans[users] = 200, {"Content-Type": "application/json", "Parley-Scan": "partial; next=zed",
                                   "Link": '</apps/x/users?from_id=zed>; rel="next"'}, "[]"
        browser.button("Retry").click()
        text = browser.until(lambda: browser.one(".foot").text, "how far was searched")
        check("a part of a list is not all of it", "Searched up to zed. Nothing matched so far." in text and "Nothing matches" not in text, text)
        relay.plans.clear()

        seconds = 5 if browser.runs_all else 1.5
        relay.plans[users] = seconds
        began = time.monotonic()
        browser.open(page("users", q=user))
        browser.until(lambda: browser.all("main [aria-busy=true] .skeleton"), "the skeleton")
        rows()
        check("the answer was slow", time.monotonic() - began >= seconds, time.monotonic() - began)
        check("the skeleton is gone", not browser.all(".skeleton, [aria-busy=true]"))
        browser.open(page("users", q=user))
        browser.until(lambda: browser.all(".skeleton"), "the skeleton again")
        began = time.monotonic()
        browser.one("#nav a[href$=webhooks]").click()
        browser.until(lambda: heading(browser) == "Webhooks", "another page meanwhile")
        check("it does not wait for the answer", time.monotonic() - began < seconds, time.monotonic() - began)

        relay.plans.clear()
        browser.open(page("conversations", participants=user))
        browser.until(lambda: browser.all("tbody tr"), "the conversation")
        relay.plans[f"/conversations/{chat}?"] = seconds
        browser.one("tbody a").click()
        browser.until(lambda: browser.all("main[aria-busy=true] > .skeleton"), "the skeleton of a page")
        check("it has a heading", heading(browser) == "Conversations", heading(browser))
        browser.until(lambda: browser.all(".tabs") and not browser.all(".skeleton"), "the page")
        relay.plans.clear()

        browser.open(page("log", conversation=chat))
        browser.until(lambda: browser.one("#connection").text == "Live", "the stream")
        relay.plans["/events?"] = 429, {"Retry-After": "3"}, json.dumps(ERROR)
        relay.cut()
        browser.until(lambda: re.fullmatch(r"Too many consoles are open: retrying in [123] s", browser.one("#connection").text), "why there is no stream")
        relay.plans.clear()
        browser.until(lambda: browser.one("#connection").text == "Live", "the stream when there is a place")
        relay.plans |= {part: (503, {"Retry-After": "3"}, "") for part in ("/events?", "/session")}
        relay.cut()
        browser.until(lambda: re.fullmatch(r"Reconnecting in [123] s", browser.one("#connection").text), "the time of the answer")
        send(browser, chat, "meanwhile", user)
        relay.plans.clear()
        browser.until(lambda: browser.one("#connection").text == "Live", "the stream again")
        browser.until(lambda: browser.one(".lines").text.count("created a message") == 1, "the event of that time")


@test(with_network_errors=True)
def the_overview_says_why_the_server_is_not_ready(browser):
    log_in(browser)
    with relayed(browser.server) as relay, using(browser, browser.server, relay.base):
        relay.plans["/health/ready"] = (503, {"Content-Type": "application/json"},
                                        json.dumps({"status": "unavailable", "reason": "The database does not answer."}))
        opened(browser, "/console/overview")
        browser.until(lambda: "Not ready The database does not answer." in main_text(browser), "the reason")
        relay.plans.clear()
        browser.until(lambda: browser.one("main .badge").text == "Ready", "the state after a while")


@test(slow=True)
def a_frozen_connection_loses_no_event(browser):
    chat = conversation(browser, unique("ana"), "bo")
    log_in(browser)
    with relayed(browser.server) as relay, using(browser, browser.server, relay.base):
        opened(browser, page("log", conversation=chat))
        browser.until(lambda: browser.one("#connection").text == "Live", "the stream")
        with relay.frozen():
            for number in range(20):
                send(browser, chat, f"meanwhile {number}", "bo")
            time.sleep(30)
            check("nothing has come", "bo created a message" not in browser.one(".lines").text, browser.one(".lines").text)
        send(browser, chat, "after it", "bo")
        sent = [event["position"] for event in api(browser, "GET", f"events?conversation={chat}&types=message.sent")["events"]]
        shown = lambda: [position for position, text in lines(browser) if "created a message" in text]
        browser.until(lambda: shown() == sent, f"{sent}, each once and in order")


# MARK: Audit

AUDITED = """
    const done = arguments[0]
    import(document.querySelector('script[type=module]').src.replace('main.js', 'audit.js')).then(module => done(module.TYPES))"""


@test(with_network_errors=True)
def every_action_of_an_operator_is_in_the_audit_log(browser):
    with another_server(browser) as server, using(browser, server):
        def act(method, path, body=None, headers=None):
            status, answer = fetch(browser, method, f"/console/api/{path}", body if body is None or isinstance(body, str) else json.dumps(body),
                                   {"X-Parley-Console": "1", "Content-Type": "application/json"} | (headers or {}))
            check(f"{method} {path}", status < 300, f"{status} {answer}")
            return json.loads(answer) if answer else None

        def log_in_elsewhere(password):
            text = json.dumps({"name": "admin", "password": password}).encode()
            return request(server, "POST", "/console/api/session", text, **{"X-Parley-Console": "1", "Content-Type": "application/json"})[0]

        def ended(job):
            return browser.until(lambda: (found := act("GET", f"jobs/{job}"))["state"] not in ("waiting", "running") and found, "the end of the job")

        set_password(server, "temporary", "read")
        command(server, "console", "remove", "temporary")
        check("a wrong password is refused", log_in_elsewhere("wrong") == 401)
        check("a session elsewhere begins", log_in_elsewhere(PASSWORD) == 200)
        browser.open(link(server))
        browser.one("#account")
        mine = act("GET", "session")["id"]
        act("DELETE", "sessions/" + next(session["id"] for session in act("GET", "sessions") if session["id"] != mine))
        act("GET", "settings")
        app = act("POST", "apps", {"name": "audited"})["id"]
        act("PATCH", f"apps/{app}", {"name": "renamed"})
        for suspended in (True, False):
            act("PATCH", f"apps/{app}", {"suspended": suspended})
        token = act("POST", f"apps/{app}/tokens", {"name": "t", "scope": "read"})["id"]
        act("DELETE", f"apps/{app}/tokens/{token}")
        chat = uuid_of(act("POST", f"apps/{app}/conversations", {"participants": ["ana", "bo"]}))
        act("GET", f"apps/{app}/conversations/{chat}/messages")
        upload = act("POST", f"apps/{app}/users/ana/content", headers={"Upload-Content-Type": "a/b", "Upload-Content-Length": "9"})
        act("DELETE", f"uploads/{uuid_of(upload)}")
        job = act("POST", f"jobs?kind=export&app={app}")["id"]
        check("the export succeeds", ended(job)["state"] == "done")
        act("DELETE", f"jobs/{job}")
        job = act("POST", f"jobs?kind=import&app={app}", '{"record":"nothing"}\n', {"Content-Type": "application/jsonl"})["id"]
        check("the import fails", ended(job)["state"] == "failed")
        browser.open("/console")
        log_out(browser)

        opened(browser, "/console/audit")
        known = set(browser.driver.execute_async_script(AUDITED))
        stored = act("GET", "events?include=text&limit=1000")["events"]
        found = {event["type"] for event in stored}
        check("there is an event of each type", found == known, found ^ known)
        unnamed = {event["type"] for event in stored if event["actor"] is None}
        commands = {"operator.password_set", "operator.removed", "operator.login_failed", "link.created"}
        check("the others name the operator", unnamed <= commands, unnamed - commands)
        shown = lines(browser)
        check("the page has their sentences", shown == [[event["position"], event["text"].split("Z ", 1)[1]] for event in stored][-len(shown):], shown)
        browser.open("/console/audit?types=token.created,token.revoked")
        settled(browser)
        browser.until(lambda: len(lines(browser)) == 2, "the events of the token")
        changes = act("GET", f"apps/{app}/events?types=conversation.created")["events"]
        check("a change of an application names the operator, too", [event["actor"]["name"] for event in changes] == ["console:admin"], changes)


# MARK: Uploads

TUS = {"Tus-Resumable": "1.0.0"}
CHUNK = {"Content-Type": "application/offset+octet-stream"}
DRAFT = {"Content-Type": "application/partial-upload"}
OWNER = {"Authorization": f"Bearer {TOKEN}"}
# A digest of other bytes than those that are sent.
DIGEST = "sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:"
COLUMNS = ("requests", "received", "committed", "resumes", "takeovers")


def interrupted(server, method, path, body, **headers):
    """Sends the head of a request and a part of its body; returns the connection."""
    connection = server.connection()
    connection.putrequest(method, path)
    for name, value in headers.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders(body)
    return connection


@test
def the_figures_of_uploads_are_what_was_done(browser):
    with another_server(browser) as server, using(browser, server):
        user = unique("ana")
        conversation(browser, user, "bo")

        def ask(method, path, body=None, status=(200, 201, 204, 308), **headers):
            code, text, fields = request(server, method, path, body, **headers)
            check(f"{method} {path}", code in status, f"{code} {text[:300]}")
            return fields

        def created(**headers):
            return urllib.parse.urlsplit(ask("POST", "/uploads", **OWNER, **headers)["Location"]).path

        def announced(size):
            made = api(browser, "POST", f"users/{user}/content", **{"Upload-Content-Type": "video/mp4", "Upload-Content-Length": str(size)})
            return urllib.parse.urlsplit(made["upload_url"]).path, uuid_of(made)

        # Plain: one request with all bytes.
        path, _ = announced(7)
        ask("PUT", path, b"x" * 7)
        # With Content-Range: a connection that ends after 30 of 100 bytes, and a request that continues.
        path, _ = announced(100)
        interrupted(server, "PUT", path, b"x" * 30, Content_Length="100", Content_Range="bytes 0-99/100").close()
        queries = 1
        while ask("HEAD", path)["Upload-Offset"] != "30":
            queries += 1
        ask("PUT", path, b"x" * 70, **{"Content-Range": "bytes 30-99/100"})
        # tus: a query takes over from a request that waits for more bytes.
        path = created(**TUS, **{"Upload-Length": "50"})
        first = interrupted(server, "PATCH", path, b"x" * 20, **TUS, **CHUNK, Upload_Offset="0", Content_Length="50")
        tus_queries = 1
        while (offset := int(ask("HEAD", path, **TUS)["Upload-Offset"])) == 0:
            tus_queries += 1
        first.close()
        ask("PATCH", path, b"x" * (50 - offset), **TUS, **CHUNK, **{"Upload-Offset": str(offset)})
        # The IETF protocol: a wrong digest, and a body of unknown length that has more bytes than announced.
        path = created(**{"Upload-Complete": "?0", "Repr-Digest": DIGEST})
        ask("PATCH", path, b"x" * 4, (422,), **DRAFT, **{"Upload-Offset": "0", "Upload-Complete": "?1"})
        path = created(**{"Upload-Complete": "?0", "Upload-Length": "5"})
        ask("PATCH", path, iter([b"x" * 6]), (400,), **DRAFT, **{"Upload-Offset": "0", "Upload-Complete": "?1"})

        done = {
            "gcs": (2, 100, 100, 1, 0), "tus": (3 + tus_queries, 50, 50, 1, 1), "ietf": (4, 9, 4, 0, 0), "plain": (1, 7, 7, 0, 0),
            "neutral": (queries, 0, 0, 0, 0)}
        opened(browser, page("uploads", state="failed"))
        traffic = json.loads(fetch(browser, "GET", f"/console/api/storage?app={APPLICATION}")[1])["traffic"]
        found = {one["protocol"]: tuple(one[name] for name in COLUMNS) for one in traffic}
        check("the traffic of each protocol", found == done, (found, done))
        rows = browser.until(lambda: [row.text for row in browser.all(".list tbody tr")], "the failed uploads")
        for number, reason in ((4, "the digest differs"), (5, "more bytes than announced")):
            check(f"an upload failed because {reason}", sum(f"of {number} B" in row and reason in row for row in rows) == 1, rows)
        check("no other one has failed", len(rows) == 2, rows)
        browser.one("main summary").click()
        table = browser.script("return [...document.querySelectorAll('.scroll tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))")
        sizes = lambda figures: [str(figures[0]), *(f"{size} B" for size in figures[1:3]), *map(str, figures[3:])]
        check("the page has the same figures", table == [[name, *sizes(found[name])] for name in found], table)


# MARK: The explorer

class ExampleServer:
    """What the examples of the API's description need of a server."""

    def __init__(self, server):
        self.server = server

    def get(self, path):
        return request(self.server, "GET", path)[1]

    def send(self, method, target, body, fields):
        with contextlib.closing(self.server.connection()) as connection:
            return described.send(connection, method, target, body, fields)


@test(slow=True)
def the_explorer_runs_every_example_that_reads(browser):
    with another_server(browser, PARLEY_API_DEV_LOGIN="true") as server, using(browser, server):
        description = described.Description(ExampleServer(server), "3.0")
        reads = [operation for operation in description.operations if operation.method == "GET" and operation.path.startswith("/apps/{app}")]
        check("there are many", len(reads) > 35, len(reads))
        log_in(browser)
        application = new_application(server)
        for operation in reads:
            client = described.ExampleClient(description, *application)
            # An application has one export a day, and an erased user cannot be named meanwhile.
            if {"createExport", "eraseUser"} & set(operation.after):
                client = described.ExampleClient(description, *new_application(server))
            client.prepare(operation)
            browser.open(f"/console/explorer?operation={operation.name}")
            settled(browser)
            values = {one["name"]: client.actual(str(one["example"])) for one in operation.parameters
                      if one["in"] in ("path", "query") and "example" in one}
            browser.script("""
                for (const label of document.querySelectorAll('main .field')) {
                  const [name, input] = [label.querySelector('span').textContent, label.querySelector('input')]
                  input.value = arguments[0][name] ?? ''
                  input.dispatchEvent(new Event('input'))
                }""", values)
            browser.button("Run").click()
            shown = browser.until(lambda: re.search(r"Status\s*(\d+)", main_text(browser)), f"the answer to {operation.name}")[1]
            # Of an export, the status says whether it is completed.
            successes = [status for status in operation.json["responses"] if status < "300"]
            check(f"the example of {operation.name} succeeds", shown in successes, f"{shown} {main_text(browser)[-600:]}")
            curl = browser.one(".command code").text
            check("the command has no secret", "$TOKEN" in curl and client.token not in curl, curl)
            done = subprocess.run(["bash", "-c", f"{curl} -o answer -w '%{{http_code}}'"], cwd=server.folder, capture_output=True, text=True,
                                  env={"PATH": os.environ["PATH"], "TOKEN": client.token})
            check(f"the command of {operation.name} succeeds, too", done.stdout in successes, f"{curl} {done.stdout} {done.stderr}")


def new_application(server):
    """The id of a new application, and a token."""
    application = re.search(r"APP=(\S+)", command(server, "app", "create", "examples"))[1]
    return application, re.search(r"TOKEN=(\S+)", command(server, "token", "create", "--app", application))[1]
