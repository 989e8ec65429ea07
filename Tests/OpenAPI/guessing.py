"""Requests that schemathesis generates from a description.

Each operation gets its own application with the objects that its path names, created by the examples. Without
them nearly every request would be answered 403 or 404.
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
    """The path of schemathesis, beside this Python or on the PATH; `None` if it is not installed."""
    return shutil.which("schemathesis", path=f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}")


def prepare(api, description):
    """The document with ids of existing objects, and the settings of schemathesis for each operation."""
    document, settings = description.document, []
    for operation in description.operations:
        client = described.ExampleClient(description, *api.application())
        client.prepare(operation)
        if operation.type == described.LINES or operation.name in described.NOT_REPEATABLE:
            # schemathesis cannot generate this type, or a valid request.
            del document["paths"][operation.path]
            continue
        real = json.loads(client.actual(json.dumps(operation.json)))
        document["paths"][operation.path][operation.method.lower()] = real
        # An answer that may be a stream is read until the timeout.
        is_stream = "text/event-stream" in json.dumps(real["responses"]) or "101" in real["responses"]
        settings += [
            "[[operations]]", f"include-name = {json.dumps(f'{operation.method} {operation.path}')}",
            f"request-timeout = {10 if is_stream else 120}",
            "headers = { Authorization = %s, Accept = %s }" % (
                json.dumps(client.credential(operation)), json.dumps(client.accepts(operation))),
            "parameters = { %s }" % ", ".join(
                f'"path.{parameter["name"]}" = {json.dumps(parameter["example"])}'
                for parameter in real["parameters"] if parameter["in"] == "path"), ""]
    return document, "\n".join(settings)


def guess(api, description, phases, options, report):
    """Runs some phases of schemathesis with a limited number of requests."""
    began = time.monotonic()
    document, operations = prepare(api, description)
    folder = pathlib.Path(api.server.folder)
    (folder / "openapi.json").write_text(json.dumps(document))
    (folder / "schemathesis.toml").write_text(
        'warnings = { fail-on = ["missing_auth"] }\n\n'
        f'[phases.coverage]\nunexpected-methods = ["PUT", "TRACE"]\n\n{operations}')
    run = subprocess.run(
        [command(), "--config-file", "schemathesis.toml", "run", "openapi.json",
         "--url", f"http://127.0.0.1:{api.server.port}", "--checks", ",".join(CHECKS),
         "--max-examples", str(options.guesses), "--seed", str(options.seed),
         "--phases", phases, "--workers", "1", "--continue-on-failure"],
        cwd=folder, capture_output=True, text=True, timeout=1800, env=os.environ | {"NO_COLOR": "1"})
    counted = re.search(r"\d+ generated.*", run.stdout)
    print(f"  schemathesis in {description.version}: {counted and counted[0]}, {time.monotonic() - began:.1f} s", flush=True)
    if run.returncode:
        report(f"schemathesis in {description.version}:\n{run.stdout[-6000:]}{run.stderr[-2000:]}")
