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
from postgres import Postgres
from server import APPLICATION, serving

SENDERS = 6


class Commands:
    """Runs commands of the binary."""

    def __init__(self, binary, folder):
        self.binary, self.folder = str(pathlib.Path(binary).resolve()), folder

    def run(self, *words, **variables):
        environment = {f"PARLEY_{name.upper()}": value for name, value in variables.items()}
        return subprocess.run(
            [self.binary, *words], cwd=self.folder, env=environment, capture_output=True, text=True, timeout=60)

    def says(self, *words, **variables):
        done = self.run(*words, **variables)
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout

    def refuses(self, beginning, *words, **variables):
        """Expects a failure with one line that contains no password."""
        done = self.run(*words, **variables)
        assert done.returncode == 1 and done.stderr.count("\n") == 1, (words, done)
        assert done.stderr.startswith(f"parley: {beginning}"), (beginning, done.stderr)
        for text in (done.stdout, done.stderr):
            assert not any(secret in text for secret in ("sesame", "%zz", variables.get("database_url", "sesame"))), text


def refusals(commands, postgres):
    """Each error at the start is one line."""
    unreachable = "the database of database.url cannot be reached: "
    at = lambda old, new: postgres.url.replace(old, new)
    serve = ("serve", "--listen", "127.0.0.1:0", "--public-url", "http://localhost")
    for url in ("postgres://me:sesame@/parley?host=/nowhere", "postgres://me:sesame@127.0.0.1:1/parley",
                at("parley@", "keeper:sesame2@"), at("/parley?", "/nothing?")):
        commands.refuses(unreachable, *serve, database_url=url)
        commands.refuses(unreachable, "app", "list", database_url=url)
    commands.refuses(
        "the database of database.url cannot be used: the URL is not understood: ", *serve,
        database_url="postgres://me:sesame@/parley?pasword=sesame")
    commands.refuses(
        "setting database.url = [hidden]: must be a URL", "check-config", database_url="mysql://me:sesame@db/x")
    commands.refuses(
        "the database of database.url cannot be used: the URL is not understood: ", *serve,
        database_url="postgres://me:%zz@/parley")
    secret = commands.folder / "secret"
    commands.refuses(
        "the file hidden of database.url_file cannot be read", "check-config", database_url_file="hidden")
    secret.write_text("sesame\n")
    commands.refuses(
        "the file secret of database.url_file must hold ", "check-config", database_url_file="secret")
    newer = postgres.schema()
    secret.write_text(newer + "\n")
    commands.says("app", "create", "one", database_url_file="secret")
    name = newer.rsplit("D", 1)[1]
    postgres.run(f"INSERT INTO {name}.schema_migrations VALUES (999, 'dreams', 0)")
    commands.refuses(
        "the database of database.url_file was written by another release: the database has migration 999 "
        "(dreams)", *serve, database_url_file="secret")


def damage(commands):
    """A damaged file is reported as such, not as one that cannot be opened."""
    commands.says("app", "create", "one", "--data", "damaged")
    file = commands.folder / "damaged" / "parley.sqlite"
    size = file.stat().st_size
    with open(file, "r+b") as stream:
        stream.seek(4096)
        stream.write(b"\xff" * (size - 4096))
    commands.refuses("the database in damaged is damaged (", "serve", "--data", "damaged")
    with open(file, "r+b") as stream:
        stream.write(b"*" * 4096)
    commands.refuses("the database in damaged is damaged (", "serve", "--data", "damaged")
    assert "parley restore" in commands.run("serve", "--data", "damaged").stderr


def administration(commands, server):
    """Commands work on the server's database, while a process serves it, and without a data folder."""
    ask = lambda *words: commands.says(*words, "--data", "nowhere", database_url=server.database)
    server.start()
    assert APPLICATION in ask("app", "list")
    made = ask("app", "create", "second").strip().removeprefix("APP=")
    token = ask("token", "create", "--app", made).split("TOKEN=")[1].strip()
    assert token not in ask("token", "list", "--app", made)
    connection = server.connection()
    connection.request("GET", f"/apps/{made}/users/ana/conversations", headers={
        "Accept": "application/vnd.layer+json; version=3.0", "Authorization": f"Bearer {token}"})
    assert connection.getresponse().status == 404
    assert not (commands.folder / "nowhere").exists()
    print("database: commands beside a server")


def ready(server):
    connection = server.connection()
    connection.request("GET", "/health/ready")
    return connection.getresponse().status


def wait_for(status, server):
    deadline = time.monotonic() + 30
    while ready(server) != status:
        assert time.monotonic() < deadline, f"/health/ready did not become {status}"
        time.sleep(0.05)


def faults(server, postgres):
    """The PostgreSQL server stops, crashes, and ends running connections."""
    clients = [RetryingSender(server, random.Random(number)) for number in range(SENDERS)]
    for client in clients:
        client.start()

    def leave(word):
        time.sleep(0.5)
        postgres.send(word)
        wait_for(503, server)
        time.sleep(0.5)
        postgres.send("start")
        wait_for(200, server)

    leave("stop")
    leave("crash")
    others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'parley'"
    for _ in range(40):
        time.sleep(0.02)
        postgres.run(others)
    time.sleep(1)
    before = [len(client.acknowledged) for client in clients]
    time.sleep(1)
    for client, count in zip(clients, before):
        assert len(client.acknowledged) > count, "a client makes no progress although the server is back"
    found = Checks(server).finish(clients)
    refused = sum(client.refusals for client in clients)
    assert refused > 0, "no request was refused while there was no server"
    print(f"database: {found} through two restarts and forty broken connections, {refused} times 503")


def main():
    with contextlib.closing(Postgres()) as postgres:
        schema = postgres.schema().replace("parley@", "keeper:sesame@")
        with serving(sys.argv[1], schema) as server:
            commands = Commands(sys.argv[1], server.folder)
            refusals(commands, postgres)
            damage(commands)
            print("database: refusals in one line")
            administration(commands, server)
            faults(server, postgres)
            assert server.stop() == 0
            log = server.log.read_text()
            assert "sesame" not in log and "postgres://" not in log, "a password is in the log"


main()
