#!/usr/bin/env python3
"""Uses the documentation and the demo in headless Chromium.

    pages.py --binary .build/debug/parley [--only NAME] [--all] [--screenshots FOLDER]

After each test there must be no report of the content security policy, no error in the console, no unhandled rejection,
and no request to another server. `--all` also runs the tests and checks that take longer.
"""

import argparse
import base64
import hashlib
import http.client
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.parse

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "Crash"))

from server import APPLICATION, PATIENCE, TOKEN, serving

SETTINGS = {"PARLEY_API_DEV_LOGIN": "true"}
WIDTHS = (360, 768, 1440)


class Browser:
    """A Chromium with a profile of its own."""

    def __init__(self, server, runs_all):
        """`runs_all` is whether the tests are to check all that they can check."""
        self.server = server
        self.runs_all = runs_all
        self.base = f"http://127.0.0.1:{server.port}"
        self.profile = tempfile.TemporaryDirectory(prefix="parley-pages-", ignore_cleanup_errors=True)
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                     "--disable-background-networking", "--disable-component-update", "--window-size=1440,900",
                     f"--user-data-dir={self.profile.name}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(
            options=options, service=webdriver.ChromeService(
                "/usr/bin/chromedriver",
                env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": self.profile.name}))
        self.driver.set_script_timeout(PATIENCE)
        # What a page reports although nothing is wrong, as a regular expression.
        self.expected = None
        # Bases of other servers that pages may use.
        self.others = ()

    def close(self):
        self.driver.quit()
        self.profile.cleanup()

    def open(self, path):
        self.driver.get(self.base + path)

    def all(self, selector, within=None):
        return (within or self.driver).find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector, within=None):
        return self.until(lambda: next(iter(self.all(selector, within)), None), selector)

    def button(self, text, within=None):
        def found():
            return self.script("""
                return [...(arguments[1] ?? document).querySelectorAll('button')]
                    .find(button => button.innerText.trim() === arguments[0] && button.getClientRects().length)""", text, within)
        return self.until(found, f"the button {text}")

    def until(self, condition, what, seconds=PATIENCE):
        """Waits until a condition holds, and returns its value."""
        end = time.monotonic() + seconds
        while True:
            try:
                if value := condition():
                    return value
            except Exception as error:
                # Elements are replaced while they are read.
                if "stale" not in str(error).lower() and "no such element" not in str(error).lower():
                    raise
            if time.monotonic() > end:
                raise AssertionError(f"not within {seconds} s: {what}")
            time.sleep(0.05)

    def script(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    def command(self, name, **parameters):
        return self.driver.execute_cdp_cmd(name, parameters)

    def resize(self, width, height=900, dark=False):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                     mobile=False)
        self.command("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def restore(self):
        self.command("Emulation.clearDeviceMetricsOverride")
        self.command("Emulation.setEmulatedMedia", features=[])
        self.command("Emulation.setScriptExecutionDisabled", value=False)

    def overflow(self):
        """How many pixels the page is wider than its window."""
        return self.script("return document.documentElement.scrollWidth - document.documentElement.clientWidth")

    def problems(self, with_network_errors):
        """What the browser has reported since the last call."""
        found = [entry["message"] for entry in self.driver.get_log("browser")
                 if entry["level"] == "SEVERE" and not (with_network_errors and entry["source"] == "network")
                 and not (self.expected and re.search(self.expected, entry["message"]))]
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = message["params"]["request"]["url"]
                if not url.startswith((self.base, *self.others, "data:", "blob:", "chrome:", "about:")):
                    found.append(f"a request to {url}")
        return found


# MARK: The tests

def registering(tests):
    """A decorator that adds functions to a list of tests."""
    def test(function=None, *, slow=False, with_network_errors=False):
        def register(function):
            function.slow, function.with_network_errors = slow, with_network_errors
            tests.append(function)
            return function
        return register(function) if function else register
    return test


TESTS = []
test = registering(TESTS)


def check(what, holds, detail=""):
    if not holds:
        raise AssertionError(f"{what}: {detail}")


def request(server, method, path, body=None, **headers):
    connection = server.connection()
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    return answer.status, answer.read(), answer.headers


@test
def the_documentation_needs_no_script(browser):
    browser.command("Emulation.setScriptExecutionDisabled", value=True)
    browser.open("/docs")
    browser.one("a[href='/docs/quickstart']").click()
    browser.until(lambda: browser.driver.title == "Quick start · Parley", "the quick start")
    check("there is no button that needs a script", not browser.all(".copy"))
    field = browser.one(".bar input[type=search]")
    field.send_keys("idempotency key", Keys.ENTER)
    browser.until(lambda: "/docs/search?q=idempotency" in browser.driver.current_url, "the results")
    results = browser.all(".results a")
    check("the search finds sections", 0 < len(results) <= 20, len(results))
    results[0].click()
    browser.one("article h1")
    pdf = base64.b64decode(browser.command("Page.printToPDF")["data"])
    check("a page can be printed", pdf.startswith(b"%PDF") and len(pdf) > 10_000, len(pdf))


@test
def pages_with_a_script_lead_to_the_documentation_without_it(browser):
    browser.command("Emulation.setScriptExecutionDisabled", value=True)
    for path in ("/demo", "/console"):
        browser.open(path)
        browser.one("main a[href='/docs']").click()
        browser.until(lambda: browser.driver.title.startswith("Parley documentation"), "the documentation")
    browser.open("/docs/api")
    browser.one("article a[href='/docs/api/messages']").click()
    browser.until(lambda: "Messages" in browser.one("h1").text, "the page of a noun")


@test(with_network_errors=True)
def the_demo_leads_to_the_console(browser):
    browser.open("/demo")
    browser.until(lambda: "Console" in browser.one("nav").text, "the link")
    browser.one("nav a[href='/console']").click()
    browser.until(lambda: browser.driver.current_url.startswith(f"{browser.base}/console"), "the console")


@test
def a_search_shows_results_while_it_is_typed(browser):
    browser.open("/docs/limits")
    field = browser.one(".bar input[type=search]")
    field.send_keys("resum")
    browser.until(lambda: len(browser.all(".results li a")) > 2, "results")
    check("the article is hidden meanwhile", not browser.one("article").is_displayed())
    field.send_keys(Keys.CONTROL + "a", Keys.DELETE)
    browser.until(lambda: browser.one("article").is_displayed(), "the article")
    field.send_keys("<img src=x onerror=alert(1)>")
    browser.until(lambda: "No section" in browser.one(".results").text, "no result")
    check("the query is text", "<img" in browser.one(".results").text)


@test
def an_example_can_be_copied(browser):
    browser.open("/docs/messages")
    button = browser.one("pre .copy")
    browser.script("arguments[0].scrollIntoView({block: 'center'})", button)

    def is_copied():
        # The button says so for two seconds.
        button.click()
        return button.text in ("Copied", "Selected")
    browser.until(is_copied, "the text is copied or selected")


@test(with_network_errors=True)
def unknown_pages_offer_a_search(browser):
    browser.open("/docs/nothing")
    check("the page says so", browser.one("h1").text == "Page not found")
    field = browser.one("main input[type=search]")
    field.send_keys("webhooks", Keys.ENTER)
    browser.until(lambda: browser.all(".results a"), "results")


@test
def the_url_of_an_error_leads_to_its_section(browser):
    status, body, _ = request(browser.server, "POST", f"/apps/{APPLICATION}/conversations", "{}",
                              Authorization=f"Bearer {TOKEN}")
    url = json.loads(body)["url"]
    browser.driver.get(url)
    target = browser.one(":target")
    check("the section is that of the error", (status, target.text.split("#")[0].strip()) == (422, "missing_property"),
          f"{status} {target.text}")
    browser.until(lambda: 0 <= target.rect["y"] - browser.script("return scrollY") < 500, "the section in view")


@test
def pages_have_one_heading_landmarks_and_names(browser):
    for path in ("/docs", "/docs/settings", "/docs/errors", "/docs/api/messages", "/docs/search?q=file", "/demo"):
        browser.open(path)
        browser.one("h1")
        found = browser.script("""
            const ids = [...document.querySelectorAll('[id]')].map(element => element.id)
            const named = element => (element.ariaLabel || element.textContent || element.labels?.[0]?.textContent || '').trim()
            return {
                headings: document.querySelectorAll('h1').length, main: document.querySelectorAll('main').length,
                language: document.documentElement.lang, title: document.title,
                twice: ids.filter((id, index) => ids.indexOf(id) !== index),
                unnamed: [...document.querySelectorAll('a, button, input:not([type=hidden]), select, textarea')]
                    .filter(element => !named(element)).map(element => element.outerHTML.slice(0, 120)),
            }""")
        check(f"{path} has one h1, one main, a language and a title",
              (found["headings"], found["main"], found["language"], bool(found["title"])) == (1, 1, "en", True), found)
        check(f"{path} has unique ids and names of controls", not found["twice"] and not found["unnamed"], found)


@test
def pages_are_as_wide_as_the_window(browser):
    for path in ("/docs", "/docs/settings", "/docs/endpoints", "/docs/upload-guide", "/docs/errors", "/docs/api/messages",
                 "/docs/search?q=conversation", "/demo"):
        browser.open(path)
        browser.one("h1")
        for width in (320, *WIDTHS):
            browser.resize(width)
            check(f"{path} at {width} px", browser.overflow() <= 0, browser.overflow())


# MARK: The demo

def start(browser, suffix=None):
    """Starts the demo with two users, by default new ones; returns the panes."""
    if suffix is None:
        suffix = "-" + hashlib.sha256(os.urandom(8)).hexdigest()[:6]
    browser.open("/demo")
    fields = browser.until(lambda: browser.all(".start input"), "the form")
    for field, name in zip(fields, ("ana", "bo")):
        field.clear()
        field.send_keys(name + suffix)
    browser.button("Start").click()
    return live(browser)


def live(browser, count=2):
    panes = browser.until(lambda: (panes := browser.all(".pane")) and len(panes) == count and panes, "the panes")
    for pane in panes:
        browser.until(lambda: browser.one(".state", pane).text == "Live", "a pane is live")
    return panes


def write(browser, pane, text):
    browser.until(lambda: browser.one(".write input:not([type=file])", pane).is_displayed(), "a conversation")
    browser.one(".write input:not([type=file])", pane).send_keys(text, Keys.ENTER)


def texts(browser, pane):
    return browser.script("return [...arguments[0].querySelectorAll('.messages li > p')].map(text => text.textContent)", pane)


def statuses(browser, pane):
    return browser.script("return [...arguments[0].querySelectorAll('.messages .own > small')]"
                          ".map(text => text.textContent.split(' · ').pop())", pane)


@test
def a_message_is_typed_sent_delivered_and_read(browser):
    left, right = start(browser)
    # A conversation is announced to the others with its first message.
    write(browser, left, "Hello")
    browser.until(lambda: texts(browser, right) == ["Hello"], "the first message")
    field = browser.one(".write input:not([type=file])", left)
    # It is shown for six seconds.
    browser.script("""const typing = arguments[0]
        new MutationObserver(() => { window.wasTyping ||= typing.textContent.includes("is typing") }).observe(typing, {childList: true})""",
                   browser.one(".typing", right))
    field.send_keys("The keys")
    browser.until(lambda: browser.script("return window.wasTyping"), "typing")
    field.send_keys(" are under the mat", Keys.ENTER)
    browser.until(lambda: texts(browser, right) == ["Hello", "The keys are under the mat"], "the message")
    browser.until(lambda: statuses(browser, left) == ["delivered"] * 2, "delivered")
    browser.until(lambda: not browser.one(".typing", right).text, "no typing")
    time.sleep(0.3)
    check("it is not read before the other pane has the focus", statuses(browser, left) == ["delivered"] * 2)
    browser.one(".write input:not([type=file])", right).click()
    browser.until(lambda: statuses(browser, left) == ["read"] * 2, "read")
    write(browser, right, "Thank you")
    expected = ["Hello", "The keys are under the mat", "Thank you"]
    browser.until(lambda: texts(browser, left) == expected, "the answer")
    browser.driver.refresh()
    left, right = live(browser)
    browser.until(lambda: texts(browser, left) == texts(browser, right) == expected, "both after a reload")


# A message whose answer a reload has cut off is sent again, which is 409 and no error.
@test(with_network_errors=True)
def messages_written_offline_arrive_once_and_in_order(browser):
    left, right = start(browser)
    write(browser, left, "0")
    browser.until(lambda: texts(browser, right) == ["0"], "the first message")
    browser.button("Go offline", left).click()
    for number in range(1, 4):
        write(browser, left, str(number))
    browser.until(lambda: statuses(browser, left)[1:] == ["queued"] * 3, "three queued messages")
    write(browser, right, "while you were away")
    browser.until(lambda: texts(browser, right) == ["0", "while you were away"], "the other side continues")
    check("nothing arrives offline", "while you were away" not in texts(browser, left))
    browser.driver.refresh()
    left, right = live(browser)
    expected = ["0", "while you were away", "1", "2", "3"]
    browser.until(lambda: texts(browser, left) == texts(browser, right) == expected, f"{expected}")


@test
def hostile_texts_stay_text(browser):
    left, right = start(browser)
    hostile = ["<img src=x onerror=alert(1)>", "<script>alert(1)</script>", "javascript:alert(1)",
               "\u202egnp.exe", "a" * 1500, "Z\u0351\u0363\u036b\u0362\u0327alg\u0338o", "{assets} %2e%2e ${1}", "&lt;b&gt;"]
    pane = right
    for text in hostile:
        browser.script("arguments[0].value = arguments[1]", browser.one(".write input:not([type=file])", left), text)
        browser.button("Send", left).click()
    browser.until(lambda: texts(browser, pane) == hostile, "each text as it was written")
    check("no element was made of a text", not browser.all(".messages img, .messages script"))
    browser.button("Edit topic", left).click()
    topic = "<b onclick=alert(1)>\u202etopic"
    browser.script("arguments[0].value = arguments[1]", browser.one("[aria-label=Topic]", left), topic)
    browser.button("Save", left).click()
    browser.until(lambda: topic in browser.script("return arguments[0].textContent", browser.one(".topic", right)), "the topic")
    for width in (320, 360):
        browser.resize(width)
        check(f"nothing is wider than {width} px", browser.overflow() <= 0, browser.overflow())


def attach(browser, pane, path):
    browser.one(".write input[type=file]", pane).send_keys(str(path))


def download(browser, pane, name):
    """The bytes behind the link to a file."""
    link = browser.until(lambda: next((link for link in browser.all(".messages a", pane) if name in link.text), None),
                         f"the link to {name}", 300)
    address = urllib.parse.urlsplit(link.get_attribute("href"))
    status, body, _ = request(browser.server, "GET", f"{address.path}?{address.query}")
    check("the file is downloaded", status == 200, status)
    return body


# The largest file that the demo stores in the browser; a larger one has to be chosen again after a reload.
STORED_FILE = 50 << 20


def transfer(browser, size, reload):
    with tempfile.TemporaryDirectory(prefix="parley-pages-file-") as folder:
        film = pathlib.Path(folder) / "film <b>.mp4"
        film.write_bytes(os.urandom(size))
        left, right = start(browser)
        # Two minutes, so that the upload is not complete before it is paused, also on a machine that is busy.
        browser.command("Network.enable")
        browser.command("Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=-1,
                        uploadThroughput=size / 120)
        attach(browser, left, film)
        browser.button("Pause", left).click()
        browser.button("Resume", left)
        write(browser, left, "Here is the film")
        browser.until(lambda: "Here is the film" in texts(browser, right), "a text passes the upload")
        if reload:
            browser.button("Resume", left).click()
            browser.button("Pause", left)
            browser.driver.refresh()
            left, right = live(browser)
            if size > STORED_FILE:
                browser.one(".transfer input[type=file]", left).send_keys(str(film))
        else:
            browser.button("Resume", left).click()
        browser.command("Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=-1,
                        uploadThroughput=-1)
        body = download(browser, right, film.name)
        check("the file arrives unchanged", hashlib.sha256(body).digest() == hashlib.sha256(film.read_bytes()).digest())
        browser.until(lambda: len(browser.all(".messages li", left)) == 2, "two messages")


@test
def an_upload_is_paused_and_resumed(browser):
    transfer(browser, 4 << 20, reload=False)


@test
def an_upload_continues_after_a_reload(browser):
    transfer(browser, 4 << 20, reload=True)


@test(slow=True)
def a_large_upload_continues_when_the_file_is_chosen_again(browser):
    transfer(browser, 100 << 20, reload=True)


@test
def a_picture_is_shown(browser):
    picture = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
    with tempfile.TemporaryDirectory(prefix="parley-pages-file-") as folder:
        path = pathlib.Path(folder) / "dot.png"
        path.write_bytes(picture)
        vector = pathlib.Path(folder) / "vector.svg"
        vector.write_text("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>")
        left, right = start(browser)
        attach(browser, left, path)
        browser.until(lambda: browser.script("return document.querySelectorAll('.pane')[1].querySelector('img')?.naturalWidth"),
                      "the picture")
        attach(browser, left, vector)
        download(browser, right, "vector.svg")
        check("a vector graphic is a link", len(browser.all("img", right)) == 1)


@test
def two_offline_conversations_become_one(browser):
    browser.open("/demo")
    browser.button("Show a merge").click()
    panes = browser.until(lambda: (panes := browser.all(".pane")) and len(panes) == 2 and panes, "the panes")
    for pane in panes:
        browser.until(lambda: len(texts(browser, pane)) == 1, "a message written offline")
    browser.button("Bring both online").click()
    panes = live(browser)
    browser.until(lambda: len(texts(browser, panes[0])) == 2 and texts(browser, panes[0]) == texts(browser, panes[1]),
                  "one conversation with both messages")
    merged = [pane.text for pane in panes if "Merged with" in pane.text]
    check("one side says what happened", len(merged) == 1, merged)
    shown = [browser.one("select", pane).get_attribute("value") for pane in panes]
    check("both show one conversation", shown[0] == shown[1], shown)
    write(browser, panes[0], "after the merge")
    browser.until(lambda: "after the merge" in texts(browser, panes[1]), "a later message")


@test
def a_new_conversation_is_distinct_or_not(browser):
    left, right = start(browser)
    name = browser.one("h2", right).text
    write(browser, left, "in the first")
    browser.until(lambda: texts(browser, right) == ["in the first"], "the first")
    for distinct in (False, True):
        browser.button("New", left).click()
        browser.one("[aria-label='Other users']", left).send_keys(name)
        if not distinct:
            browser.one("[type=checkbox]", left).click()
        else:
            browser.script("arguments[0].checked = true", browser.one("[type=checkbox]", left))
        browser.button("Create", left).click()
        expected = [] if not distinct else ["in the first"]
        browser.until(lambda: texts(browser, left) == expected, f"distinct: {distinct}")
        check("there are two conversations", len(browser.all("option", left)) == 2)


@test(with_network_errors=True)
def a_conflict_shows_the_existing_conversation(browser):
    left, right = start(browser)
    name = browser.one("h2", right).text
    write(browser, left, "in the first")
    browser.until(lambda: texts(browser, right) == ["in the first"], "the first")
    browser.button("New", left).click()
    browser.one("[aria-label='Other users']", left).send_keys(name)
    browser.one("[aria-label='Topic of the new conversation']", left).send_keys("rent")
    browser.button("Create", left).click()
    browser.until(lambda: "has a distinct conversation with these users already" in browser.one(".notice").text, "the notice")
    browser.until(lambda: texts(browser, left) == ["in the first"], "the existing conversation")
    check("there is one conversation", len(browser.all("option", left)) == 1)


@test(with_network_errors=True)
def a_refused_message_can_be_retried_and_discarded(browser):
    left, right = start(browser)
    write(browser, left, "before")
    browser.until(lambda: texts(browser, right) == ["before"], "the first message")
    conversation = browser.one("select", left).get_attribute("value").split("/")[-1]
    user = urllib.parse.quote(browser.one("h2", left).text)

    def participate(operation):
        body = json.dumps([{"operation": operation, "property": "participants", "id": f"layer:///identities/{user}"}])
        status, body, _ = request(
            browser.server, "PATCH", f"/apps/{APPLICATION}/conversations/{conversation}", body,
            Authorization=f"Bearer {TOKEN}", **{"Content-Type": "application/vnd.layer-patch+json"})
        check(f"participants change: {operation}", status == 204, body)

    browser.button("Go offline", left).click()
    participate("remove")
    write(browser, left, "one")
    write(browser, left, "two")
    browser.button("Go online", left).click()
    browser.until(lambda: "Failed: " in browser.one(".messages", left).text, "a refused message")
    time.sleep(0.5)
    check("the later one waits", browser.one(".messages", left).text.count("Failed: ") == 1)
    participate("add")
    browser.button("Retry", left).click()
    browser.until(lambda: texts(browser, right) == ["before", "one", "two"], "both after a retry")
    participate("remove")
    write(browser, left, "three")
    browser.button("Discard", left).click()
    browser.until(lambda: "three" not in texts(browser, left), "the message is discarded")


@test
def several_applications_need_the_id_of_one(browser):
    with serving(browser.server.binary, settings=SETTINGS) as other:
        other.start()
        created = subprocess.run([other.binary, "app", "create", "--data", "data", "second"], cwd=other.folder,
                                 capture_output=True, text=True, check=True).stdout
        found = re.search(r"APP=([0-9a-f-]{36})", created) or re.search(r"([0-9a-f-]{36})", created)
        browser.base = f"http://127.0.0.1:{other.port}"
        try:
            browser.open("/demo")
            browser.button("Start").click()
            browser.until(lambda: len(browser.all(".start input")) == 3, "a field for the application")
            browser.driver.get_log("browser")
            browser.all(".start input")[2].send_keys(found[1])
            browser.button("Start").click()
            left, right = live(browser)
            write(browser, left, "in the second application")
            browser.until(lambda: texts(browser, right) == ["in the second application"], "the message")
            check("the address names it", found[1] in browser.driver.current_url)
            browser.driver.get("about:blank")
        finally:
            browser.problems(True)
            browser.base = f"http://127.0.0.1:{browser.server.port}"


@test
def one_device_is_shown_on_a_phone(browser):
    browser.resize(360, 740)
    panes = start_narrow(browser)
    check("the left one is shown", [pane.is_displayed() for pane in panes] == [True, False])
    check("nothing is wider than the window", browser.overflow() <= 0, browser.overflow())
    browser.all(".tabs button")[1].click()
    check("the right one is shown", [pane.is_displayed() for pane in panes] == [False, True])
    small = browser.script("""return [...document.querySelectorAll('button, select, input:not([type=file])')]
        .filter(element => element.offsetParent && (element.offsetHeight < 24 || element.offsetWidth < 24) && element.type !== 'checkbox')
        .map(element => element.outerHTML.slice(0, 100))""")
    check("controls have at least 24 px", not small, small)
    user = browser.one("h2", panes[1]).text
    browser.open(f"/demo?user={user}")
    live(browser, 1)


def start_narrow(browser):
    suffix = hashlib.sha256(os.urandom(8)).hexdigest()[:6]
    browser.open(f"/demo?left=ana-{suffix}&right=bo-{suffix}")
    return browser.until(lambda: (panes := browser.all(".pane")) and len(panes) == 2
                         and all(pane.get_attribute("data-state") == "live" for pane in panes) and panes, "both are live")


@test(with_network_errors=True)
def nothing_is_lost_when_the_server_is_killed(browser):
    left, right = start(browser)
    write(browser, left, "before")
    browser.until(lambda: texts(browser, right) == ["before"], "the first message")
    browser.server.kill()
    for number in range(5):
        write(browser, left, f"{number}")
    browser.until(lambda: statuses(browser, left)[1:] == ["queued"] * 5, "five queued messages")
    browser.server.start()
    expected = ["before", *map(str, range(5))]
    browser.until(lambda: texts(browser, right) == texts(browser, left) == expected, "each message once, in order")


@test(with_network_errors=True)
def an_ended_session_starts_again(browser):
    left, right = start(browser)
    write(browser, left, "one")
    browser.until(lambda: texts(browser, right) == ["one"], "the message")
    user = browser.one("h2", right).text
    status, _, _ = request(browser.server, "DELETE", f"/apps/{APPLICATION}/users/{user}/sessions",
                           Authorization=f"Bearer {TOKEN}")
    check("the sessions end", status == 204, status)
    browser.until(lambda: "logs in again" in browser.one(".notice").text, "the notice")
    live(browser)
    write(browser, right, "two")
    browser.until(lambda: texts(browser, left) == ["one", "two"], "a message of the new session")


@test
def the_demo_needs_its_setting_and_its_host(browser):
    with serving(browser.server.binary, settings={"PARLEY_API_DEV_LOGIN": "false"}) as other:
        other.start()
        status, body, _ = request(other, "GET", "/demo")
        check("the setting is named", status == 404 and b"api.dev_login" in body, f"{status} {body}")
    body = json.dumps({"user_id": "ana"})
    status, _, _ = request(browser.server, "POST", "/dev/login", body, Origin="https://evil.example",
                           **{"Content-Type": "application/json"})
    check("a page of another origin cannot log in", status == 403, status)
    for path in ("/demo", "/dev/login"):
        method = "POST" if path == "/dev/login" else "GET"
        status, _, _ = request(browser.server, method, path, body, Host="evil.example",
                               **{"Content-Type": "application/json"})
        check(f"{path} under another name is refused", status == 421, status)


@test
def text_has_enough_contrast(browser):
    """Compares the computed colours of texts with what is behind them."""
    for path in ("/docs/errors", "/docs/settings", "/demo"):
        for dark in (False, True):
            browser.resize(1440, dark=dark)
            if path == "/demo":
                panes = start(browser)
                write(browser, panes[0], "a message")
                browser.until(lambda: texts(browser, panes[1]), "the message")
            else:
                browser.open(path)
                browser.one("h1")
            found = browser.script(CONTRAST)
            check(f"{path}, {'dark' if dark else 'light'}", not found, found[:8])


CONTRAST = """
const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true})
// Reading a pixel takes long, and a page has few colors.
const known = new Map()
const rgba = color => { if (known.has(color)) return known.get(color)
  canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1)
  const read = [...canvas.getImageData(0, 0, 1, 1).data]; known.set(color, read); return read }
const luminance = color => color.slice(0, 3).map(value => value / 255)
  .map(value => value <= .04045 ? value / 12.92 : ((value + .055) / 1.055) ** 2.4)
  .reduce((sum, value, index) => sum + value * [.2126, .7152, .0722][index], 0)
const backgrounds = new Map([[null, [255, 255, 255, 255]]])
const behind = element => { if (!backgrounds.has(element)) {
  const color = rgba(getComputedStyle(element).backgroundColor)
  backgrounds.set(element, color[3] > 250 ? color : behind(element.parentElement)) } return backgrounds.get(element) }
const found = []
for (const element of document.querySelectorAll('body *')) {
  const hasText = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim())
  const style = getComputedStyle(element)
  if (!hasText || !element.offsetParent || style.opacity === '0' || element.closest('.visually-hidden, .skip')) continue
  const [one, other] = [luminance(rgba(style.color)), luminance(behind(element))].sort((a, b) => b - a)
  const contrast = (one + .05) / (other + .05)
  if (contrast < 4.5) found.push(`${element.tagName} ${element.className} ${contrast.toFixed(2)} ${element.textContent.slice(0, 40)}`)
}
return found
"""


@test
def everything_works_by_keyboard(browser):
    suffix = hashlib.sha256(os.urandom(8)).hexdigest()[:6]
    browser.open(f"/demo?left=ana-{suffix}&right=bo-{suffix}")
    panes = live(browser)
    # Without a mouse: the tabulator reaches the button New, and the form that it opens.
    def press(*keys):
        webdriver.ActionChains(browser.driver).send_keys(*keys).perform()
    for _ in range(40):
        press(Keys.TAB)
        active = browser.driver.switch_to.active_element
        outline = browser.script("return getComputedStyle(arguments[0]).outlineStyle", active)
        check("the focus is visible", outline != "none", active.get_attribute("outerHTML")[:120])
        if active.text == "New":
            break
    press(Keys.ENTER)
    press(f"bo-{suffix}", Keys.ENTER)
    browser.until(lambda: browser.one(".write input:not([type=file])", panes[0]).is_displayed(), "the conversation")
    for _ in range(40):
        press(Keys.TAB)
        if (browser.driver.switch_to.active_element.get_attribute("placeholder") or "") == "Message":
            break
    press("by keyboard", Keys.ENTER)
    browser.until(lambda: texts(browser, panes[1]) == ["by keyboard"], "the message")


# MARK: Screenshots

def shoot(browser, folder, name):
    """Saves the page in three widths and two themes."""
    folder.mkdir(parents=True, exist_ok=True)
    for width in WIDTHS:
        for dark in (False, True):
            browser.resize(width, 900 if width > 360 else 740, dark)
            time.sleep(0.15)
            browser.driver.save_screenshot(str(folder / f"{name}-{width}-{'dark' if dark else 'light'}.png"))


def take_screenshots(browser, folder):
    pages = {
        "docs": "/docs", "article": "/docs/upload-guide", "settings": "/docs/settings", "errors": "/docs/errors#not_found",
        "api": "/docs/api/messages", "search": "/docs/search?q=upload", "missing": "/docs/nothing", "demo-start": "/demo",
    }
    for name, path in pages.items():
        browser.open(path)
        browser.one("h1")
        shoot(browser, folder, name)
    browser.restore()
    panes = start(browser, suffix="")
    with tempfile.TemporaryDirectory(prefix="parley-pages-file-") as name:
        film = pathlib.Path(name) / "film.mp4"
        film.write_bytes(os.urandom(6 << 20))
        write(browser, panes[0], "The keys are under the mat")
        browser.until(lambda: texts(browser, panes[1]), "the message")
        write(browser, panes[1], "Thank you. Here is the film of the flat, in case you want to see it before you come.")
        browser.until(lambda: len(texts(browser, panes[0])) == 2, "the answer")
        browser.command("Network.enable")
        browser.command("Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=-1,
                        uploadThroughput=600_000)
        attach(browser, panes[1], film)
        browser.button("Pause", panes[1]).click()
        write(browser, panes[0], "Wait")
        browser.button("Go offline", panes[0]).click()
        write(browser, panes[0], "Written offline")
        shoot(browser, folder, "demo")
    browser.restore()
    browser.open("/demo")
    browser.button("Show a merge").click()
    browser.button("Bring both online").click()
    live(browser)
    time.sleep(1)
    shoot(browser, folder, "demo-merge")


def main(description, tests, settings, take_screenshots, prepare=None):
    """Runs tests against a server with some settings; `prepare` is called with the browser before the first one."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--binary", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--screenshots", type=pathlib.Path)
    options = parser.parse_args()
    label = pathlib.Path(sys.argv[0]).stem
    failed = passed = 0
    with serving(options.binary, settings=settings) as server:
        server.start()
        browser = Browser(server, options.all)
        try:
            if prepare:
                prepare(browser)
            for run in tests:
                if options.only not in run.__name__ or run.slow and not options.all:
                    continue
                began = time.monotonic()
                name = run.__name__.replace("_", " ")
                try:
                    run(browser)
                    problems = browser.problems(run.with_network_errors)
                    check("the browser reports nothing", not problems, problems[:5])
                    passed += 1
                    print(f"{label}: {name} ({time.monotonic() - began:.1f} s)", flush=True)
                except Exception as error:
                    failed += 1
                    text = str(error) if isinstance(error, AssertionError) else traceback.format_exc()
                    print(f"FAILED: {name}: {text}", file=sys.stderr)
                    print("\n".join(browser.problems(False)[:10]), file=sys.stderr)
                    print(f"The page shows: {browser.one('body').text[:600]!r}", file=sys.stderr)
                browser.restore()
                browser.driver.get("about:blank")
            if options.screenshots:
                take_screenshots(browser, options.screenshots)
        finally:
            browser.close()
    print(f"{label}: {passed} of {passed + failed} tests passed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main(__doc__, TESTS, SETTINGS, take_screenshots)
