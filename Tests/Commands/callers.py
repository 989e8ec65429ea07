"""A client of the API, and a runner of commands."""

import json
import os
import random
import resource
import signal
import subprocess
import time

from server import APPLICATION, PATIENCE, TOKEN


class APIClient:
    """Sends API requests to a server, and uploads with the command."""

    def __init__(self, server):
        self.server = server
        self.connection = server.connection()

    def send(self, method, path, body=None, status=(200, 201)):
        self.connection.request(
            method, f"/apps/{APPLICATION}{path}", None if body is None else json.dumps(body),
            {"Authorization": f"Bearer {TOKEN}", "Accept": "application/vnd.layer+json; version=3.0",
             "Content-Type": "application/json"})
        answer = self.connection.getresponse()
        content = answer.read()
        assert answer.status in status, (method, path, answer.status, content[:300])
        return json.loads(content) if content else None

    def upload(self, conversation, content):
        """Uploads by `parley upload`; returns the content's id."""
        file = self.server.folder / "file"
        file.write_bytes(content)
        output = subprocess.run(
            [self.server.binary, "upload", str(file), "--conversation", conversation],
            env={"PARLEY_APP_ID": APPLICATION, "PARLEY_APP_TOKEN": TOKEN,
                 "PARLEY_PUBLIC_URL": f"http://127.0.0.1:{self.server.port}",
                 "XDG_CACHE_HOME": str(self.server.folder / "cache")},
            capture_output=True, text=True, check=True).stdout
        return output.strip().removeprefix("CONTENT=").split("/")[-1]

    def messages(self, conversation):
        """The texts of all messages."""
        texts, last = set(), ""
        while True:
            page = self.send("GET", f"/conversations/{conversation}/messages?page_size=100{last}")
            texts.update(message["parts"][0]["body"] for message in page)
            if len(page) < 100:
                return texts
            last = "&from_id=" + page[-1]["id"].split("/")[-1]


class Commands:
    """Runs commands of the binary in the server's folder."""

    def __init__(self, server):
        self.server = server

    def start(self, *arguments, largest=None, **variables):
        """Starts a command; writing a file beyond `largest` bytes fails, as on a full disk."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        return subprocess.Popen(
            [self.server.binary, *arguments], cwd=self.server.folder, env={"SWIFT_BACKTRACE": "enable=no"} | variables,
            text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            restore_signals=largest is None, preexec_fn=limit if largest else None)

    def output(self, *arguments, **variables):
        """The output of a command that must succeed."""
        process = self.start(*arguments, **variables)
        output, error = process.communicate(timeout=300)
        assert process.returncode == 0 and not error, (arguments, error)
        return output

    def expect_refused(self, message, *arguments, **variables):
        """Expects a failure with one line that contains the message."""
        process = self.start(*arguments, **variables)
        output, error = process.communicate(timeout=300)
        assert process.returncode == 1 and output == "", (arguments, process.returncode, output)
        assert error.startswith("parley: ") and message in error and error.count("\n") == 1, error


# The most kills of one command; `make soak` sets the variable.
KILLS = 6 if os.environ.get("PARLEY_TEST_ROUNDS") == "all" else 3


def kill_repeatedly(commands, arguments, is_running, seconds, between=lambda: None, interval=0.002, **variables):
    """Starts a command again and again, and kills it at a random moment, at most `seconds` after `is_running` is true.

    `is_running` is called every `interval` seconds. It is false before the first change of the command, and may be false
    again after its last one. Calls `between` after each kill. Returns the number of kills; less than KILLS if the command completed before.
    """
    for number in range(KILLS):
        process = commands.start(*arguments, **variables)
        deadline = time.monotonic() + PATIENCE
        while process.poll() is None and not is_running():
            assert time.monotonic() < deadline
            time.sleep(interval)
        time.sleep(random.random() * seconds * number / KILLS)
        process.kill()
        process.communicate()
        # It may have been killed between its last change and its end.
        if process.returncode == 0 or not is_running():
            return number
        between()
    return KILLS


def fetch(server, url):
    """The content at a download URL, requested from `server` whatever host the URL names."""
    connection = server.connection()
    connection.request("GET", "/download" + url.split("/download", 1)[1])
    answer = connection.getresponse()
    content = answer.read()
    assert answer.status == 200, (url, answer.status)
    return content
