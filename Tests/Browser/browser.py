#!/usr/bin/env python3
"""Uses the Client API from pages of other origins, in headless Chromium.

    browser.py --binary .build/debug/parley

`page.html` calls the API with `fetch`, `EventSource` and `WebSocket` and with credentials. It is served under two
origins: one is in `http.cors_origins`, and everything must work, as must the JavaScript of the guide Realtime; the other
is not, and everything must be refused.
"""

import argparse
import http.server
import json
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
# The guide whose JavaScript the page runs.
GUIDE = HERE.parents[1] / "Sources/ParleyServer/ParleyServer.docc/Realtime.md"
sys.path.insert(0, str(HERE.parent / "Crash"))

from server import APPLICATION, serving


class PageServer(http.server.ThreadingHTTPServer):
    """Serves the page, and receives the steps that it reports."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), PageHandler)
        self.steps = queue.Queue()
        self.port = self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()


class PageHandler(http.server.BaseHTTPRequestHandler):
    def answer(self, status, body=b"", kind="text/html; charset=utf-8"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if urllib.parse.urlsplit(self.path).path == "/page.html":
            self.answer(200, (HERE / "page.html").read_bytes())
        elif self.path == "/realtime.json":
            blocks = re.findall(r"^```js\n(.*?)^```", GUIDE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
            self.answer(200, json.dumps(blocks).encode(), "application/json")
        else:
            self.answer(404)

    def do_POST(self):
        self.server.steps.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.answer(204)

    def log_message(self, *_):
        pass


def visit(page, pages):
    """Opens a page in a browser of its own; returns the steps that it reports."""
    with tempfile.TemporaryDirectory(prefix="parley-browser-", ignore_cleanup_errors=True) as profile:
        browser = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", f"--user-data-dir={profile}", page],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": profile})
        try:
            return pages.steps.get(timeout=600)
        except queue.Empty:
            return [{"name": "the page reports its steps within 600 s", "holds": False, "detail": page}]
        finally:
            browser.terminate()
            browser.wait(timeout=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", required=True)
    options = parser.parse_args()
    if not shutil.which("chromium"):
        sys.exit("browser: chromium is missing; `make test` installs it")
    pages = PageServer()
    # `localhost` and `127.0.0.1` are two origins.
    listed = f"http://localhost:{pages.port}"
    settings = {
        "PARLEY_HTTP_CORS_ORIGINS": listed, "PARLEY_UPLOADS_ALLOWED_ORIGINS": listed, "PARLEY_API_DEV_LOGIN": "true",
    }
    failed = 0
    with serving(options.binary, settings=settings) as server:
        server.start()
        session = subprocess.run(
            [server.binary, "dev-login", "--data", "data", "--app", APPLICATION, "--user", "ana"],
            cwd=server.folder, capture_output=True, text=True, check=True).stdout.split("SESSION=")[1].strip()
        for origin in (listed, f"http://127.0.0.1:{pages.port}"):
            query = {"api": f"http://127.0.0.1:{server.port}", "app": f"layer:///apps/production/{APPLICATION}"}
            query |= {"listed": 1} if origin == listed else {"token": session}
            steps = visit(f"{origin}/page.html?{urllib.parse.urlencode(query)}", pages)
            for step in steps:
                if not step["holds"]:
                    print(f"FAILED: {step['name']}: {step['detail']}", file=sys.stderr)
            wrong = sum(not step["holds"] for step in steps)
            failed += wrong
            print(f"browser: {len(steps) - wrong} of {len(steps)} steps of a page whose origin is "
                  f"{'listed' if origin == listed else 'not listed'}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
