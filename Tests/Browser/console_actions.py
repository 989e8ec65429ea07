"""What tests of the operator console do: logins, pages, requests of the backend, and other servers."""

import contextlib
import hashlib
import json
import os
import re
import subprocess
import time
import urllib.parse

from pages import check, request
from server import APPLICATION, TOKEN, serving

METRICS_TOKEN = "metrics-of-the-browser-test"
SETTINGS = {"PARLEY_WEBHOOKS_ALLOW_HTTP": "true", "PARLEY_WEBHOOKS_ALLOWED_NETWORKS": "127.0.0.0/8",
            "PARLEY_WEBHOOKS_RETRY_SCHEDULE": "1s,1s", "PARLEY_WEBHOOKS_ANSWER_TIMEOUT": "60s",
            "PARLEY_WEBHOOKS_VERIFY_TIMEOUT": "60s", "PARLEY_METRICS_TOKEN": METRICS_TOKEN,
            "PARLEY_CONSOLE_BACKUP_FOLDER": "backups"}
PASSWORD = "correct horse battery"


# MARK: Operators and objects

def command(server, *arguments, text=""):
    """Runs a command on the data of the server."""
    done = subprocess.run([server.binary, *arguments, "--data", server.data], cwd=server.folder, input=text,
                          capture_output=True, text=True)
    check(f"parley {' '.join(arguments)} succeeds", done.returncode == 0, done.stderr)
    return done.stdout


def link(server):
    """The path of a new link that logs in once."""
    return re.search(r"/console/login#once=\S+", command(server, "console", "link"))[0]


def api(browser, method, path, body=None, status=(200, 201, 202, 204), **headers):
    """A request of the backend; returns the JSON of the answer."""
    text = body if body is None or isinstance(body, str) else json.dumps(body)
    kind = "application/vnd.layer-patch+json" if method == "PATCH" else "application/json"
    code, answer, _ = request(browser.server, method, f"/apps/{APPLICATION}/{path}", text and text.encode(),
                              Authorization=f"Bearer {TOKEN}", **{"Content-Type": kind} | headers)
    check(f"{method} {path}", code in status, f"{code} {answer[:300]}")
    return json.loads(answer) if answer else None


def uuid_of(thing):
    return thing["id"].split("/")[-1]


def conversation(browser, *participants, **members):
    return uuid_of(api(browser, "POST", "conversations", {"participants": list(participants), **members}))


def send(browser, conversation, text, sender="ana", **part):
    parts = [{"mime_type": "text/plain", "body": text} | part]
    return uuid_of(api(browser, "POST", f"conversations/{conversation}/messages", {"sender_id": sender, "parts": parts}))


def unique(name):
    return f"{name}-{hashlib.sha256(os.urandom(8)).hexdigest()[:6]}"


def page(*segments, **query):
    """The path of a page of the application."""
    path = "/console/a/" + "/".join(urllib.parse.quote(text, safe="") for text in (APPLICATION, *segments))
    return path + ("?" + urllib.parse.urlencode(query) if query else "")


def log_in(browser, name="admin"):
    """Logs in by the form, unless this operator is logged in already."""
    browser.open("/console")
    if is_logged_in(browser, name):
        return
    if browser.all("#account"):
        log_out(browser)
    fill_login(browser, browser.one("main"), name)
    browser.until(lambda: browser.all("#account") and browser.one("#account").text.startswith(f"{name} "), "the session")


def is_logged_in(browser, name="admin"):
    """Whether the page that is loading has a session of an operator."""
    shown = browser.until(lambda: browser.script("""
        const account = document.querySelector('#account')
        return account ? [account.textContent] : document.querySelector('main [name=name]') && ['']"""), "a page or the login")
    return shown[0].startswith(f"{name} ")


def fill_login(browser, place, name, password=PASSWORD):
    for field, text in (("name", name), ("password", password)):
        control = browser.one(f"[name={field}]", place)
        control.clear()
        control.send_keys(text)
    browser.button("Log in", place).click()


def log_out(browser):
    browser.one("#account").click()
    browser.button("Log out", browser.one("dialog")).click()
    browser.one("main [name=name]")


def opened(browser, path, name="admin"):
    """Opens a page as an operator, and waits until nothing of it is loading."""
    browser.open(path)
    if not is_logged_in(browser, name):
        log_in(browser, name)
        browser.open(path)
    settled(browser)


def settled(browser):
    """Waits until a page is shown and nothing of it is loading, at two moments."""
    def is_settled():
        return browser.script("""
            const heading = document.querySelector('main h1')?.textContent ?? ''
            return !['', 'Operator console'].includes(heading) && !document.querySelector('[aria-busy=true]')""")
    browser.until(is_settled, "the page")
    time.sleep(0.05)
    browser.until(is_settled, "the page")


def heading(browser):
    return browser.script("return document.querySelector('main h1').textContent")


def main_text(browser):
    return browser.script("return document.querySelector('main').textContent")


def lines(browser):
    """The positions and the sentences of the lines with an element, in order."""
    return browser.script("""return [...document.querySelectorAll('.line')].sort((a, b) => a.index - b.index)
        .map(line => [Number(line.children[0].textContent), line.children[2].textContent])""")


def fetch(browser, method, path, body=None, headers=None):
    """A request of the page itself, with its cookie; returns status and body."""
    return browser.driver.execute_async_script("""
        const [method, path, body, headers, done] = arguments
        fetch(path, {method, body, headers}).then(async answer => done([answer.status, await answer.text()]), error => done([0, String(error)]))
        """, method, path, body, headers or {})


def prepare(browser):
    # A page asks whether there is a session; without one the answer is 401, which the browser reports.
    browser.expected = r"/console/api/session - .* 401"
    for name, role in (("admin", "admin"), ("writer", "write"), ("reader", "read")):
        set_password(browser.server, name, role)


def set_password(server, name, role):
    """Creates an operator, or changes the password and ends the sessions."""
    command(server, "console", "password", "--name", name, "--role", role, text=f"{PASSWORD}\n")


# MARK: Other servers

@contextlib.contextmanager
def another_server(browser, **settings):
    """A server with further settings and an operator; the browser does not use it yet."""
    with serving(browser.server.binary, settings=SETTINGS | settings) as server:
        server.start()
        set_password(server, "admin", "admin")
        yield server


@contextlib.contextmanager
def using(browser, server, base=None):
    """Within the block the browser uses another server, or the same one under another address."""
    first = browser.server, browser.base
    reported = browser.problems(True)
    browser.server, browser.base = server, base or f"http://127.0.0.1:{server.port}"
    try:
        yield
        browser.driver.get("about:blank")
        reported += browser.problems(True)
    finally:
        browser.server, browser.base = first
    check("the browser reports nothing", not reported, reported[:5])
