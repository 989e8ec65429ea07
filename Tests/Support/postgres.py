"""A PostgreSQL server for tests in Python; see postgres.sh."""

import os
import pathlib
import subprocess

# Seconds between two calls of `Postgres.run` by a test that waits for a state; each starts a process.
POLL = 0.1


class Postgres:
    """A PostgreSQL server that ends with this process, however that ends.

    `log` is an empty folder for the write-ahead log, by default within the data folder; `buffers` is the size of the
    shared buffers, such as `4GB`, by default 64 MB; `parent` is the folder in which its data folder is created, by
    default in memory, where a sync takes no time.
    """

    def __init__(self, log=None, buffers=None, parent=None):
        script = pathlib.Path(__file__).resolve().parent / "postgres.sh"
        self.process = subprocess.Popen(
            ["bash", str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=os.environ | ({"PARLEY_POSTGRES_WAL": str(log)} if log else {})
            | ({"PARLEY_POSTGRES_BUFFERS": buffers} if buffers else {})
            | ({"PARLEY_POSTGRES_PARENT": str(parent)} if parent else {}))
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            raise RuntimeError("PostgreSQL did not start; see its output above")
        self.schemas = 0

    def send(self, command):
        """Sends `stop`, `crash` or `start` to the script, and waits until it is done."""
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        if self.process.stdout.readline().strip() != command:
            raise RuntimeError(f"PostgreSQL did not {command}")

    def run(self, statement):
        """Runs a statement as the owner; returns the rows as text."""
        return subprocess.run(
            ["psql", "-qAtX", "-v", "ON_ERROR_STOP=1", "-d", self.url, "-c", statement],
            capture_output=True, check=True, text=True).stdout.strip()

    def schema(self):
        """Creates an empty schema; returns its URL."""
        self.schemas += 1
        name = f"test{self.schemas}"
        self.run(f"CREATE SCHEMA {name}")
        return f"{self.url}&options=-csearch_path%3D{name}"

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def schema_of(url):
    """The name of the schema in a URL that `Postgres.schema` has returned."""
    return url.rsplit("%3D", 1)[1]
