"""Jobs of the console: the server is killed while they run and while it receives a file, and on a full disk.

usage: jobs.py BINARY
"""

import json
import pathlib
import sys
import time

tests = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(tests / "Crash"), str(tests / "Commands")]
from callers import Commands
from sample_conversation import fill_conversation
from server import APPLICATION, PATIENCE, TOKEN, Server, serving

SIZES = (40_000_000, 1)
EXPORT = f"jobs?kind=export&app={APPLICATION}"
IMPORT = f"jobs?kind=import&app={APPLICATION}"


class Operator:
    """Requests to the API of the console."""

    def __init__(self, server, commands):
        self.server = server
        once = commands.output("console", "link", "--data", server.data).strip().split("once=")[1]
        answer, _ = self.request("POST", "session", json.dumps({"once": once}).encode())
        self.cookie = answer.headers["Set-Cookie"].split(";")[0]

    def request(self, method, path, body=None, kind="application/json"):
        connection = self.server.connection()
        connection.request(method, f"/console/api/{path}", body, {
            "X-Parley-Console": "1", "Origin": f"http://127.0.0.1:{self.server.port}", "Content-Type": kind,
            **({"Cookie": self.cookie} if hasattr(self, "cookie") else {})})
        answer = connection.getresponse()
        return answer, answer.read()

    def json(self, method, path, body=None, status=(200, 201), kind="application/jsonl"):
        answer, text = self.request(method, path, body, kind)
        assert answer.status in status, (method, path, answer.status, text[:300])
        return json.loads(text) if text else None

    def wait(self, job, is_over=lambda job: job["state"] != "running"):
        """Waits for a state of a job, and returns it."""
        deadline = time.monotonic() + PATIENCE
        while True:
            known = self.json("GET", f"jobs/{job['id']}")
            if is_over(known):
                return known
            assert time.monotonic() < deadline, known
            time.sleep(0.005)


def has_begun(job):
    return job["state"] != "running" or job["done"] > 0 or job["total"] is not None


def kill_and_run_again(operator, path, body=None):
    """Kills the server while a job runs, and runs the job again until it is done; returns it and the number of kills."""
    server = operator.server
    job = operator.json("POST", path, body)
    for kills in range(4):
        # At first at once, because a job may take less time than a request.
        if kills > 0 and operator.wait(job, has_begun)["state"] == "done" or kills == 3:
            break
        server.kill()
        server.start()
        state = operator.json("GET", f"jobs/{job['id']}")["state"]
        # It may have ended in the moment before the kill.
        assert state in ("interrupted", "done"), state
        if state == "done":
            break
        operator.json("POST", f"jobs/{job['id']}")
    done = operator.wait(job)
    assert done["state"] == "done", done
    return done, kills


def exported(server):
    """The export of the Platform API."""
    connection = server.connection()
    connection.request("GET", f"/apps/{APPLICATION}/export", headers={"Authorization": f"Bearer {TOKEN}"})
    return connection.getresponse().read()


def file_of(operator, job):
    answer, lines = operator.request("GET", f"jobs/{job['id']}/file")
    assert answer.status == 200 and answer.headers["Content-Type"] == "application/jsonl", answer.status
    return lines


def files(server):
    return [path for path in (pathlib.Path(server.data) / "jobs").rglob("*") if path.is_file()]


def export_and_import(server, operator, commands):
    """The file of an export is that of the Platform API, and a server that imports it has the same records."""
    fill_conversation(server, SIZES, distinct=False)
    job, kills = kill_and_run_again(operator, EXPORT)
    lines = file_of(operator, job)
    assert lines == exported(server), (len(lines), job)
    other = Server(server.binary, server.folder)
    other.data = str(server.folder / "other")
    try:
        other.start()
        second = Operator(other, commands)
        # The connection ends, and then the server, in the middle of the file.
        half_sent(second, lines).sock.close()
        wait_until(lambda: not files(other))
        connection = half_sent(second, lines)
        other.kill()
        connection.close()
        other.start()
        assert second.json("GET", "jobs") == [] and not files(other), files(other)
        job, more = kill_and_run_again(second, IMPORT, lines)
        assert not files(other), files(other)
        assert exported(other) == lines
        print(f"jobs: {kills} kills during an export, {more} during an import")
    finally:
        other.kill()


def wait_until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def half_sent(operator, lines):
    """Sends half of a file, and waits until the server has written some of it."""
    deadline = time.monotonic() + PATIENCE
    while True:
        assert time.monotonic() < deadline
        connection = operator.server.connection()
        connection.putrequest("POST", f"/console/api/{IMPORT}")
        for name, value in {"Cookie": operator.cookie, "X-Parley-Console": "1", "Content-Type": "application/jsonl",
                            "Origin": f"http://127.0.0.1:{operator.server.port}", "Content-Length": str(len(lines))}.items():
            connection.putheader(name, value)
        connection.endheaders()
        try:
            connection.send(lines[:len(lines) // 2])
        except OSError:
            # The server refuses a second import until it knows that the first one has ended.
            time.sleep(0.05)
            continue
        wait_until(lambda: any(path.stat().st_size > 0 for path in files(operator.server)))
        return connection


def back_up(server, operator, commands):
    """A backup that was killed continues in its folder, and can be restored."""
    job, kills = kill_and_run_again(operator, "jobs?kind=backup")
    commands.output("restore", job["result"]["folder"], "--data", "restored")
    other = Server(server.binary, server.folder)
    other.data = str(server.folder / "restored")
    try:
        other.start()
        assert exported(other) == exported(server)
    finally:
        other.kill()
    assert [one.name for one in (server.folder / "backups").iterdir()] == [f"backup-{job['id']}"]
    print(f"jobs: {kills} kills during a backup")


def refuse_on_a_full_disk(server, operator, commands):
    """Without disk space nothing of a file is stored, and an export says why it failed."""
    server.stop()
    server.settings["PARLEY_UPLOADS_DISK_HEADROOM"] = "1048576TiB"
    server.start()
    before = files(server)
    answer, text = operator.request("POST", IMPORT, b"{}\n", "application/jsonl")
    assert answer.status == 507 and b"no disk space" in text, (answer.status, text)
    job = operator.wait(operator.json("POST", EXPORT))
    assert job["state"] == "failed" and "no disk space" in job["error"], job
    assert files(server) == before, files(server)
    assert operator.request("GET", f"jobs/{job['id']}/file")[0].status == 409
    assert operator.request("DELETE", f"jobs/{job['id']}")[0].status == 204


def main():
    with serving(sys.argv[1], settings={"PARLEY_CONSOLE_BACKUP_FOLDER": "backups"}) as server:
        server.start()
        commands = Commands(server)
        operator = Operator(server, commands)
        for case in (export_and_import, back_up, refuse_on_a_full_disk):
            began = time.monotonic()
            case(server, operator, commands)
            print(f"jobs: {case.__name__.replace('_', ' ')} ({time.monotonic() - began:.1f} s)", flush=True)


if __name__ == "__main__":
    main()
