"""Runs checks against servers, and counts those that pass and fail."""

import argparse
import sys

from server import serving


class Results:
    """Counts passed and failed checks."""

    def __init__(self):
        self.passed = self.failed = 0

    def run(self, check, client, label=""):
        try:
            check(client)
            self.passed += 1
        except (AssertionError, OSError, ValueError, TypeError, KeyError) as problem:
            self.failed += 1
            name = getattr(check, "func", check).__name__
            print(f"FAILED: {name.replace('_', ' ')}{label}: {problem!r}", file=sys.stderr)


def run_checks(description, shared_checks, own_server_checks, client):
    """Runs checks against the server of `--binary`, and exits with 1 unless all pass.

    `shared_checks` receives the results and a running server; `own_server_checks` maps each check to the settings
    of the server that is started for it.
    """
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--binary", required=True)
    options = parser.parse_args()
    results = Results()
    # On a machine that is busy the previous request may stop late.
    with serving(options.binary, settings={"PARLEY_UPLOADS_TAKEOVER_WAIT": "1m"}) as server:
        server.start()
        shared_checks(results, server)
    for check, settings in own_server_checks.items():
        with serving(options.binary, settings=settings) as server:
            server.start()
            results.run(check, client(server))
    print(f"{results.passed} passed, {results.failed} failed")
    sys.exit(1 if results.failed else 0)
