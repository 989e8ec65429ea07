"""Runs checks against a server, and counts them."""

import argparse
import sys

from server import serving


class Score:
    """Counts passed and failed checks."""

    def __init__(self):
        self.passed = self.failed = 0

    def try_out(self, fact, client, where=""):
        try:
            fact(client)
            self.passed += 1
        except (AssertionError, OSError, ValueError, TypeError, KeyError) as problem:
            self.failed += 1
            name = getattr(fact, "func", fact).__name__
            print(f"FAILED: {name.replace('_', ' ')}{where}: {problem!r}", file=sys.stderr)


def run_checks(description, here, elsewhere, client):
    """Runs checks against the server of `--binary`, and exits with 1 unless all pass.

    `here` gets the score and a server; `elsewhere` maps a check to the settings of its own server.
    """
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--binary", required=True)
    options = parser.parse_args()
    score = Score()
    with serving(options.binary) as server:
        server.start()
        here(score, server)
    for fact, settings in elsewhere.items():
        with serving(options.binary, settings=settings) as server:
            server.start()
            score.try_out(fact, client(server))
    print(f"{score.passed} passed, {score.failed} failed")
    sys.exit(1 if score.failed else 0)
