"""Requests that schemathesis generates from a description, sent for existing objects.

Each operation gets an application of its own, with whatever its path names, made by the examples. Without that
nearly every guess would be answered 403 or 404 and prove nothing.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import described

CHECKS = [
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance",
    "response_schema_conformance", "unsupported_method"]


def command():
    """Where schemathesis is: beside the Python that runs this, or on the path; None where it is not."""
    return shutil.which("schemathesis", path=f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}")


def furnish(peer, description):
    """The document with names of things that are there, and what schemathesis has to know for each operation."""
    document, settings = description.document, []
    for operation in description.operations:
        play = described.Play(description, *peer.application())
        play.prepare(operation)
        if operation.type == described.LINES:
            # Nothing writes this type there.
            del document["paths"][operation.path]
            continue
        real = json.loads(play.actual(json.dumps(operation.json)))
        document["paths"][operation.path][operation.method.lower()] = real
        settings += [
            "[[operations]]", f"include-name = {json.dumps(f'{operation.method} {operation.path}')}",
            "headers = { Authorization = %s, Accept = %s }" % (
                json.dumps(f"Bearer {play.token}"), json.dumps(play.accepts(operation))),
            "parameters = { %s }" % ", ".join(
                f'"path.{parameter["name"]}" = {json.dumps(parameter["example"])}'
                for parameter in real["parameters"] if parameter["in"] == "path"), ""]
    return document, "\n".join(settings)


def guess(peer, description, phases, options, report):
    """Runs some of its phases with a bounded number of examples."""
    began = time.monotonic()
    document, operations = furnish(peer, description)
    folder = pathlib.Path(peer.server.folder)
    (folder / "openapi.json").write_text(json.dumps(document))
    (folder / "schemathesis.toml").write_text(
        'warnings = { fail-on = ["missing_auth"] }\n\n'
        f'[phases.coverage]\nunexpected-methods = ["PUT", "TRACE"]\n\n{operations}')
    run = subprocess.run(
        [command(), "--config-file", "schemathesis.toml", "run", "openapi.json",
         "--url", f"http://127.0.0.1:{peer.server.port}", "--checks", ",".join(CHECKS),
         "--max-examples", str(options.guesses), "--seed", str(options.seed),
         "--phases", phases, "--workers", "1", "--continue-on-failure"],
        cwd=folder, capture_output=True, text=True, timeout=900, env=os.environ | {"NO_COLOR": "1"})
    counted = re.search(r"\d+ generated.*", run.stdout)
    print(f"  schemathesis in {description.version}: {counted and counted[0]}, {time.monotonic() - began:.1f} s", flush=True)
    if run.returncode:
        report(f"schemathesis in {description.version}:\n{run.stdout[-6000:]}{run.stderr[-2000:]}")
