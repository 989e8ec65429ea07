"""Uploads by curl to an upload URL, interrupted and resumed."""

import re
import subprocess
import tempfile
import time


class Cut(Exception):
    """The transfer was interrupted on purpose."""


class Answer:
    """The final answer: its status, its fields by lower-case name, and the body."""

    def __init__(self, head, body):
        # The last head is that of the final answer; `100 Continue` and other interim answers come before it.
        lines = [block for block in head.replace("\r", "").split("\n\n") if block.strip()][-1].splitlines()
        self.status = int(lines[0].split()[1])
        self.fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        self.body = body

    def __repr__(self):
        return f"{self.status} {self.fields} {self.body[:200]!r}"


def curl(*arguments, cut_when=None, feed=None, save=None):
    """Runs curl; with `cut_when` it is killed once that is true.

    The speed of such a transfer is limited, so that it does not complete before. A body is written to the file
    `save`, or else to the answer.
    """
    with tempfile.NamedTemporaryFile() as head, tempfile.NamedTemporaryFile() as body:
        command = ["curl", "-sS", "-D", head.name, "-o", str(save or body.name), *map(str, arguments)]
        if cut_when is not None:
            command += ["--limit-rate", "4M"]
        process = subprocess.Popen(command, stdin=subprocess.PIPE if feed is not None else subprocess.DEVNULL,
                                   stderr=subprocess.PIPE)
        try:
            while cut_when is not None and process.poll() is None:
                if cut_when():
                    raise Cut
                time.sleep(0.05)
            _, errors = process.communicate(feed, timeout=600)
        finally:
            process.kill()
            process.wait()
        if process.returncode:
            raise RuntimeError(f"curl ended with {process.returncode}: {errors.decode(errors='replace')}")
        return Answer(open(head.name).read(), open(body.name, "rb").read())


def fields(**values):
    """Header options of curl: `fields(Upload_Offset=5)`."""
    return [word for name, value in values.items() for word in ("-H", f"{name.replace('_', '-')}: {value}")]


def held(answer):
    """The number of stored bytes according to a `308`."""
    found = re.fullmatch(r"bytes=0-(\d+)", answer.fields.get("range", ""))
    return int(found[1]) + 1 if found else 0
