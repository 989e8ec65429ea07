"""Clients of a server and callers of commands."""

import json
import random
import resource
import signal
import subprocess
import time

from server import APPLICATION, TOKEN


class APIClient:
    """Sends API requests to a server, and uploads by command."""

    def __init__(self, server):
        self.server = server
        self.connection = server.connection()

    def ask(self, method, path, body=None, status=(200, 201)):
        self.connection.request(
            method, f"/apps/{APPLICATION}{path}", None if body is None else json.dumps(body),
            {"Authorization": f"Bearer {TOKEN}", "Accept": "application/vnd.layer+json; version=3.0",
             "Content-Type": "application/json"})
        answer = self.connection.getresponse()
        content = answer.read()
        assert answer.status in status, (method, path, answer.status, content[:300])
        return json.loads(content) if content else None

    def upload(self, conversation, content):
        """The content's id."""
        file = self.server.folder / "file"
        file.write_bytes(content)
        said = subprocess.run(
            [self.server.binary, "upload", str(file), "--conversation", conversation],
            env={"PARLEY_APP_ID": APPLICATION, "PARLEY_APP_TOKEN": TOKEN,
                 "PARLEY_PUBLIC_URL": f"http://127.0.0.1:{self.server.port}",
                 "XDG_CACHE_HOME": str(self.server.folder / "cache")},
            capture_output=True, text=True, check=True).stdout
        return said.strip().removeprefix("CONTENT=").split("/")[-1]

    def messages(self, conversation):
        """The texts of all messages."""
        texts, last = set(), ""
        while True:
            page = self.ask("GET", f"/conversations/{conversation}/messages?page_size=100{last}")
            texts.update(message["parts"][0]["body"] for message in page)
            if len(page) < 100:
                return texts
            last = "&from_id=" + page[-1]["id"].split("/")[-1]


class Commands:
    def __init__(self, server):
        self.server = server

    def start(self, *words, largest=None, **variables):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        return subprocess.Popen(
            [self.server.binary, *words], cwd=self.server.folder, env={"SWIFT_BACKTRACE": "enable=no"} | variables,
            text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            restore_signals=largest is None, preexec_fn=limit if largest else None)

    def says(self, *words, **variables):
        process = self.start(*words, **variables)
        output, complaint = process.communicate(timeout=120)
        assert process.returncode == 0 and not complaint, (words, complaint)
        return output

    def refuses(self, words, *call, **variables):
        process = self.start(*call, **variables)
        output, complaint = process.communicate(timeout=120)
        assert process.returncode == 1 and output == "", (call, process.returncode, output)
        assert complaint.startswith("parley: ") and words in complaint and complaint.count("\n") == 1, complaint


KILLS = 6


def kill_repeatedly(commands, call, has_begun, seconds, between=lambda: None, **variables):
    """Kills a command at random moments up to `seconds` after its start, and calls `between` after each.

    Returns how often it was killed: less than KILLS if it completed before.
    """
    for number in range(KILLS):
        process = commands.start(*call, **variables)
        deadline = time.monotonic() + 60
        while process.poll() is None and not has_begun():
            assert time.monotonic() < deadline
            time.sleep(0.002)
        time.sleep(random.random() * seconds * number / KILLS)
        process.kill()
        process.communicate()
        if process.returncode == 0:
            return number
        between()
    return KILLS


def fetch(server, url):
    connection = server.connection()
    connection.request("GET", "/download" + url.split("/download", 1)[1])
    answer = connection.getresponse()
    content = answer.read()
    assert answer.status == 200, (url, answer.status)
    return content
