"""The binary on a PostgreSQL server: the errors when it cannot be used, and recovery from its faults.

usage: database.py BINARY
"""

import contextlib
import pathlib
import random
import subprocess
import sys
import time

tests = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(tests / "Crash"), str(tests / "Support")]
from checks import Checks
from retrying import RetryingSender
from postgres import Postgres, schema_of
from server import APPLICATION, PATIENCE, serving

SENDERS = 6


class Commands:
    """Runs commands of the binary."""

    def __init__(self, binary, folder):
        self.binary, self.folder = str(pathlib.Path(binary).resolve()), folder

    def run(self, *arguments, **variables):
        environment = {f"PARLEY_{name.upper()}": value for name, value in variables.items()}
        return subprocess.run(
            [self.binary, *arguments], cwd=self.folder, env=environment, capture_output=True, text=True, timeout=300)

    def output(self, *arguments, **variables):
        done = self.run(*arguments, **variables)
        assert done.returncode == 0, (arguments, done.stderr)
        return done.stdout

    def expect_refused(self, message, *arguments, **variables):
        """Expects a failure with one line that contains no password."""
        done = self.run(*arguments, **variables)
        assert done.returncode == 1 and done.stderr.count("\n") == 1, (arguments, done)
        assert done.stderr.startswith(f"parley: {message}"), (message, done.stderr)
        for text in (done.stdout, done.stderr):
            assert not any(secret in text for secret in ("sesame", "%zz", variables.get("database_url", "sesame"))), text


def errors(commands, postgres):
    """Each error at the start is one line."""
    unreachable = "the database of database.url cannot be reached: "
    changed = lambda old, new: postgres.url.replace(old, new)
    serve = ("serve", "--listen", "127.0.0.1:0", "--public-url", "http://localhost")
    for url in ("postgres://me:sesame@/parley?host=/nowhere", "postgres://me:sesame@127.0.0.1:1/parley",
                changed("parley@", "keeper:sesame2@"), changed("/parley?", "/nothing?")):
        commands.expect_refused(unreachable, *serve, database_url=url)
        commands.expect_refused(unreachable, "app", "list", database_url=url)
    commands.expect_refused(
        "the database of database.url cannot be used: the URL is not understood: ", *serve,
        database_url="postgres://me:sesame@/parley?pasword=sesame")
    commands.expect_refused(
        "setting database.url = [hidden]: must be a URL", "check-config", database_url="mysql://me:sesame@db/x")
    commands.expect_refused(
        "the database of database.url cannot be used: the URL is not understood: ", *serve,
        database_url="postgres://me:%zz@/parley")
    secret = commands.folder / "secret"
    commands.expect_refused(
        "the file hidden of database.url_file cannot be read", "check-config", database_url_file="hidden")
    secret.write_text("sesame\n")
    commands.expect_refused(
        "the file secret of database.url_file must contain ", "check-config", database_url_file="secret")
    newer = postgres.schema()
    secret.write_text(newer + "\n")
    commands.output("app", "create", "one", database_url_file="secret")
    name = schema_of(newer)
    postgres.run(f"INSERT INTO {name}.schema_migrations VALUES (999, 'dreams', 0)")
    commands.expect_refused(
        "the database of database.url_file was written by another release: the database has migration 999 "
        "(dreams)", *serve, database_url_file="secret")


def damage(commands):
    """A damaged file is reported as such, not as one that cannot be opened."""
    commands.output("app", "create", "one", "--data", "damaged")
    file = commands.folder / "damaged" / "parley.sqlite"
    size = file.stat().st_size
    with open(file, "r+b") as stream:
        stream.seek(4096)
        stream.write(b"\xff" * (size - 4096))
    commands.expect_refused("the database in damaged is damaged (", "serve", "--data", "damaged")
    with open(file, "r+b") as stream:
        stream.write(b"*" * 4096)
    commands.expect_refused("the database in damaged is damaged (", "serve", "--data", "damaged")
    assert "parley restore" in commands.run("serve", "--data", "damaged").stderr


def administration(commands, server):
    """Commands work on the PostgreSQL database without a data folder, also while a server uses it."""
    output = lambda *arguments: commands.output(*arguments, "--data", "nowhere", database_url=server.database)
    server.start()
    assert APPLICATION in output("app", "list")
    made = output("app", "create", "second").strip().removeprefix("APP=")
    token = output("token", "create", "--app", made).split("TOKEN=")[1].strip()
    assert token not in output("token", "list", "--app", made)
    connection = server.connection()
    connection.request("GET", f"/apps/{made}/users/ana/conversations", headers={
        "Accept": "application/vnd.layer+json; version=3.0", "Authorization": f"Bearer {token}"})
    assert connection.getresponse().status == 404
    assert not (commands.folder / "nowhere").exists()
    print("database: commands work while a server runs")


def ready(server):
    """The status of `/health/ready`."""
    connection = server.connection()
    connection.request("GET", "/health/ready")
    return connection.getresponse().status


def wait_for(status, server):
    deadline = time.monotonic() + PATIENCE
    while ready(server) != status:
        assert time.monotonic() < deadline, f"/health/ready did not become {status}"
        time.sleep(0.05)


def faults(server, postgres):
    """Stops and crashes the PostgreSQL server and ends its connections; no acknowledged message is lost."""
    clients = [RetryingSender(server, random.Random(number)) for number in range(SENDERS)]
    for client in clients:
        client.start()

    def refused():
        return sum(client.refused for client in clients)

    def interrupt(command):
        time.sleep(0.5)
        before = refused()
        postgres.send(command)
        wait_for(503, server)
        deadline = time.monotonic() + PATIENCE
        while refused() == before:
            assert time.monotonic() < deadline, "no request is answered 503 while PostgreSQL is stopped"
            time.sleep(0.05)
        time.sleep(0.5)
        postgres.send("start")
        wait_for(200, server)

    interrupt("stop")
    interrupt("crash")
    others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'parley'"
    for _ in range(40):
        time.sleep(0.02)
        postgres.run(others)
    before = [len(client.acknowledged) for client in clients]
    deadline = time.monotonic() + PATIENCE
    while not all(len(client.acknowledged) > count + 1 for client, count in zip(clients, before)):
        assert time.monotonic() < deadline, "a client makes no progress although PostgreSQL runs again"
        time.sleep(0.05)
    found = Checks(server).finish(clients)
    print(f"database: {found} after two restarts and forty broken connections, {refused()} times 503")


def main():
    with contextlib.closing(Postgres()) as postgres:
        schema = postgres.schema().replace("parley@", "keeper:sesame@")
        with serving(sys.argv[1], schema) as server:
            commands = Commands(sys.argv[1], server.folder)
            errors(commands, postgres)
            damage(commands)
            print("database: each error is one line")
            administration(commands, server)
            faults(server, postgres)
            assert server.stop() == 0
            log = server.log.read_text()
            assert "sesame" not in log and "postgres://" not in log, "a password is in the log"


main()
