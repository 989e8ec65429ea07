"""Uploads by curl to an upload URL, interrupted and resumed."""

import re
import subprocess
import tempfile


class Cut(Exception):
    """The transfer was cut, as it was meant to be."""


class Answer:
    """What the server said last: its status, its fields by lower-case name, and the body."""

    def __init__(self, head, body):
        # After `100 Continue` and other interim heads comes the one that counts.
        lines = [block for block in head.replace("\r", "").split("\n\n") if block.strip()][-1].splitlines()
        self.status = int(lines[0].split()[1])
        self.fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        self.body = body

    def __repr__(self):
        return f"{self.status} {self.fields} {self.body[:200]!r}"


def curl(*words, cut_after=None, feed=None, save=None):
    """Runs curl; with `cut_after` seconds it is killed in the middle of its transfer.

    The speed of a transfer that is to be cut is limited, so that there is a middle. A body goes into the
    file `save`, or else into the answer.
    """
    with tempfile.NamedTemporaryFile() as head, tempfile.NamedTemporaryFile() as body:
        command = ["curl", "-sS", "-D", head.name, "-o", str(save or body.name), *map(str, words)]
        if cut_after is not None:
            command += ["--limit-rate", "12M"]
        process = subprocess.Popen(command, stdin=subprocess.PIPE if feed is not None else subprocess.DEVNULL,
                                   stderr=subprocess.PIPE)
        try:
            _, said = process.communicate(feed, timeout=cut_after or 120)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            if cut_after is None:
                raise
            raise Cut from None
        if process.returncode:
            raise RuntimeError(f"curl ended with {process.returncode}: {said.decode(errors='replace')}")
        return Answer(open(head.name).read(), open(body.name, "rb").read())


def fields(**values):
    """Header options of curl: `fields(Upload_Offset=5)`."""
    return [word for name, value in values.items() for word in ("-H", f"{name.replace('_', '-')}: {value}")]


def held(answer):
    """How many bytes a `308` says are held."""
    found = re.fullmatch(r"bytes=0-(\d+)", answer.fields.get("range", ""))
    return int(found[1]) + 1 if found else 0
