#!/usr/bin/env python3
"""Compares a running server with its own description.

    openapi.py --binary .build/debug/parley [--variants 150] [--seed 1]

In each version: the document is valid (by openapi-spec-validator), and every example succeeds. In the oldest and the
newest version every invalid variant of an example is answered below 500, with a status and a body that the description
allows (schemas by jsonschema). Webhook deliveries are compared as well. Then schemathesis sends generated requests in
the newest version. Checks that need a missing package are skipped with a message.

With PARLEY_TEST_ROUNDS=all there are more variants, in each version, and schemathesis also sends requests in the oldest
version and those of its phase `coverage`.
"""

import argparse
import importlib.util
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "Crash"))

import delivered
import described
import guessing
import hostile
from server import serving

VERSIONS = ["1.0", "1.1", "2.0", "3.0"]
FAILURES = 20
# Whether to run all that `make soak` runs.
EVERY = os.environ.get("PARLEY_TEST_ROUNDS") == "all"


class APIServer:
    """A client of the server under test, on one connection that is opened again when it was closed."""

    def __init__(self, server):
        self.server = server
        self.server.start()
        self.connection = self.server.connection()
        self.cookie = self.log_in()

    def send(self, method, target, body, fields):
        for attempt in (1, 2):
            try:
                return described.send(self.connection, method, target, body, fields)
            except (OSError, described.http.client.HTTPException):
                # A refused request may end its connection before its body is sent.
                self.connection.close()
                if attempt == 2 or self.server.process.poll() is not None:
                    raise

    def get(self, path):
        return self.send("GET", path, None, {}).body

    def log_in(self):
        """Begins a session of an operator of the console; returns its cookie."""
        link = subprocess.run(
            [self.server.binary, "console", "link", "--data", "data"], cwd=self.server.folder, check=True,
            capture_output=True, text=True).stdout
        answer = self.send_to_console("session", {"once": re.search(r"#once=(\S+)", link)[1]})
        return answer.fields["Set-Cookie"].split(";")[0]

    def send_to_console(self, path, body, **fields):
        """Sends a POST request to the API of the console."""
        answer = self.send(
            "POST", f"/console/api/{path}", json.dumps(body).encode(),
            {"Content-Type": "application/json", "X-Parley-Console": "1"} | fields)
        assert answer.status < 300, (path, answer.status, answer.body)
        return answer

    def application(self):
        """A new application and its token."""
        fields = {"Cookie": self.cookie, "Origin": f"http://127.0.0.1:{self.server.port}"}
        application = json.loads(self.send_to_console("apps", {"name": "described"}, **fields).body)["id"]
        token = self.send_to_console(f"apps/{application}/tokens", {"scope": "admin"}, **fields)
        return application, json.loads(token.body)["token"]


def is_installed(package):
    return importlib.util.find_spec(package) is not None


def validate(description):
    """The violations of OpenAPI 3.1 in a document; none if the validator is not installed."""
    if not is_installed("openapi_spec_validator"):
        return []
    from openapi_spec_validator import OpenAPIV31SpecValidator
    return [str(error.message)[:300] for error in OpenAPIV31SpecValidator(description.document).iter_errors()]


def attack(api, description, options, report):
    """Sends every example and its invalid variants, and reports wrong answers; returns the number of requests."""
    sent = 0
    is_attacked = EVERY or description.version in (VERSIONS[0], VERSIONS[-1])
    for operation in description.operations:
        client = described.ExampleClient(description, *api.application())
        client.prepare(operation)
        variants = hostile.variants(operation, options.variants, options.seed) if is_attacked else []
        for arguments in [{}] + variants:
            try:
                answer = client.send(operation, **arguments)
                problem = description.problem(operation, answer)
                if not arguments and answer.status >= 300 and operation.name not in described.NOT_REPEATABLE:
                    problem = f"the example got {answer.status}: {answer.body[:200]}"
            except ValueError:
                # Python's client does not send such a field.
                continue
            except (OSError, described.http.client.HTTPException) as fault:
                problem = f"no answer: {fault!r}"
            sent += 1
            if problem:
                report(f"{operation.name} in {description.version} with {str(arguments)[:300]}: {problem}")
    return sent


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", required=True)
    parser.add_argument("--variants", type=int, default=150 if EVERY else 16, help="hostile requests for each operation and version")
    parser.add_argument("--guesses", type=int, default=10 if EVERY else 2,
                        help="random requests of schemathesis for each operation")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--only-guesses", action="store_true", help="run schemathesis only")
    only.add_argument("--no-guesses", action="store_true", help="do not run schemathesis")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    found = []
    for package in ["openapi_spec_validator", "jsonschema"]:
        if not is_installed(package):
            print(f"  {package} is not installed: its checks are skipped")

    def report(problem):
        found.append(problem)
        if len(found) <= FAILURES:
            print(f"  FAILED: {problem}", flush=True)

    with serving(options.binary, settings=delivered.SETTINGS) as server:
        api = APIServer(server)
        for name, version in [] if options.only_guesses else itertools.product(["platform", "client"], VERSIONS):
            began = time.monotonic()
            description = described.Description(api, version, name)
            for problem in validate(description):
                report(f"the document of {name} {version}: {problem}")
            if version != "1.1" and name == "platform":
                # Webhooks have no version 1.1.
                delivered.deliver(api, description, report)
            sent = attack(api, description, options, report)
            print(f"  {name} {version}: {len(description.operations)} operations, {sent} requests,"
                  f" {time.monotonic() - began:.1f} s", flush=True)
        if options.no_guesses:
            pass
        elif guessing.command() is None:
            print("  schemathesis is not installed: its checks are skipped")
        else:
            # The phase `coverage` takes minutes and is equal for all versions, so it runs for one of them.
            for name, version, phases in [
                    ("platform", "1.0", "examples,fuzzing"), ("platform", "3.0", "examples,coverage,fuzzing"),
                    ("client", "3.0", "examples,fuzzing")] if EVERY else [
                    ("platform", "3.0", "examples,fuzzing"), ("client", "3.0", "examples,fuzzing")]:
                guessing.guess(api, described.Description(api, version, name), phases, options, report)
    if found:
        sys.exit(f"{len(found)} answers contradict the description")
    print("all answers match the description")


if __name__ == "__main__":
    main()
