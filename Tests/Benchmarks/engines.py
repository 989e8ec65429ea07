"""Sending messages on both engines, by number of connections; on PostgreSQL compared with pgbench."""

import concurrent.futures
import pathlib
import re
import subprocess
import sys

from load import varied
from messages import HEADERS, create_conversation, numbered
from processes import parley

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "Support"))
from postgres import Postgres, schema_of

CONNECTIONS = (1, 16, 64, 256)
CLIENTS = 8


def measure(options, folder, table):
    postgres = Postgres()
    try:
        for connections in CONNECTIONS:
            send(options, folder / f"file-{connections}", table, "SQLite", connections, {})
            send(
                options, folder / f"server-{connections}", table, "PostgreSQL", connections,
                {"PARLEY_DATABASE_URL": postgres.schema()})
        against_pgbench(options, folder / "pgbench", table, postgres, postgres.schema())
        two_processes(options, folder / "two", table, postgres.schema())
    finally:
        postgres.close()


def send(options, folder, table, engine, connections, settings):
    folder.mkdir()
    with parley(options, folder, **settings) as ours:
        messages_path = create_conversation(ours)
        runs = [
            varied(ours, "POST", messages_path, connections, options.seconds, HEADERS, numbered(f"e{number}"))
            for number in range(options.rounds)]
    table.add_runs(
        f"POST a message, durable, {engine}, {connections} connections", runs, f", {messages_per_commit(ours):.1f} a commit")
    return runs


def against_pgbench(options, folder, table, postgres, schema):
    """Sends at 64 connections, in turn with pgbench, which parses no HTTP and validates nothing."""
    folder.mkdir()
    ours, pgbench_runs = [], {}
    with parley(options, folder, PARLEY_DATABASE_URL=schema) as server:
        messages_path = create_conversation(server)

        def run(number):
            return varied(server, "POST", messages_path, 64, options.seconds, HEADERS, numbered(f"b{number}"))

        # Creates the rows that pgbench copies.
        run("f")
        scripts = [
            ("all clients on Parley's conversation", PgbenchRun(options, folder, postgres, schema, is_shared=True)),
            ("each client on its own application", PgbenchRun(options, folder, postgres, schema, is_shared=False)),
        ]
        for number in range(options.rounds):
            ours.append(run(number))
            for name, pgbench in scripts: pgbench_runs.setdefault(name, []).append(pgbench.rate())
    for name, rates in pgbench_runs.items():
        table.add_against_rates(
            f"POST a message, PostgreSQL, 64 connections, against pgbench with the same rows, {CLIENTS} clients, "
            f"prepared, {name}", ours, rates)


def messages_per_commit(ours):
    """The mean number of messages in a commit; the stopped server has logged the totals."""
    output = ours.output.read_text()
    commits, mutations = (int(re.search(rf'"{name}":"?(\d+)', output)[1]) for name in ("commits", "mutations"))
    return mutations / max(commits, 1)


def two_processes(options, folder, table, schema):
    """Compares one process with 64 connections and two processes on the same database with 32 each."""
    folder.mkdir()
    paths = [folder / "first", folder / "second"]
    for path in paths: path.mkdir()
    with parley(options, paths[0], PARLEY_DATABASE_URL=schema) as first, \
            parley(options, paths[1], PARLEY_DATABASE_URL=schema) as second:
        messages_path = create_conversation(first)

        def run(server, connections, prefix):
            return varied(server, "POST", messages_path, connections, options.seconds, HEADERS, numbered(prefix))

        both, one = [], []
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for number in range(options.rounds):
                one.append(run(first, 64, f"c{number}"))
                halves = [pool.submit(run, server, 32, f"{letter}{number}")
                          for server, letter in ((first, "a"), (second, "b"))]
                both.append(sum(half.result().rate for half in halves))
    table.add_against_rates("POST a message, PostgreSQL, one process at 64 connections, against two at 32 each", one, both)


class PgbenchRun:
    """Runs of pgbench with the statements that store a message; the inserted rows are like those of a sent message."""

    def __init__(self, options, folder, postgres, schema, is_shared):
        self.seconds, self.schema = options.seconds, schema
        self.name = schema_of(schema)
        self.run = lambda statement: postgres.run(f"SET search_path = {self.name}; {statement}")
        self.script = folder / f"pgbench-{is_shared}.sql"
        self.run("CREATE SEQUENCE IF NOT EXISTS pgbench_run")
        self.application = self.run("SELECT quote_literal(application) FROM messages LIMIT 1")
        if not is_shared: self.give_each_client_an_application()
        self.write()

    def give_each_client_an_application(self):
        """Copies the rows for each client to its own application, so that no client waits for the counter of another."""
        for table in ("log_positions", "conversations", "participants"):
            columns = self.columns(table)
            others = ", ".join("decode(lpad(to_hex(k), 32, '0'), 'hex')" if name == "application" else name
                               for name in columns)
            self.run(
                f"INSERT INTO {table} ({', '.join(columns)}) SELECT {others} FROM {table}, "
                f"generate_series(1, {CLIENTS}) k WHERE application = {self.application}")
        self.application = "decode(lpad(to_hex(:client_id::bigint + 1), 32, '0'), 'hex')"

    def columns(self, table):
        return self.run(
            f"SELECT column_name FROM information_schema.columns WHERE table_schema = '{self.name}' "
            f"AND table_name = '{table}' ORDER BY ordinal_position").split()

    def row(self, table, order, changed):
        """An `INSERT` of a row like the first one, except for the given columns."""
        columns = self.columns(table)
        where = "WHERE kind = 'message.sent'" if table == "events" else ""
        values = [
            changed.get(name) or self.run(
                f"SELECT quote_nullable({name}) FROM {table} {where} ORDER BY {order} LIMIT 1")
            for name in columns]
        return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join(values)});"

    def write(self):
        application = self.application
        message = "decode(lpad(to_hex(:run::bigint), 8, '0') || lpad(to_hex(:client_id::bigint), 4, '0') || lpad(to_hex(:log_position::bigint), 20, '0'), 'hex')"
        conversation = self.run("SELECT quote_literal(id) FROM conversations LIMIT 1")
        own = {"application": application}
        self.script.write_text("\n".join([
            "BEGIN;",
            f"UPDATE log_positions SET position = position + 1 WHERE application = {application} "
            "RETURNING position AS log_position \\gset",
            f"UPDATE conversations SET last_position = last_position + 1, message_count = message_count + 1 "
            f"WHERE application = {application} AND id = {conversation} RETURNING last_position AS new_position \\gset",
            self.row("events", "position", own | {"position": ":log_position"}),
            self.row("messages", "position", own | {"id": message, "position": ":new_position"}),
            self.row("parts", "message", own | {"message": message}),
            f"UPDATE participants SET total_count = total_count + 1, unread_count = unread_count + 1, "
            f"last_position = :new_position, last_message = {message} "
            f"WHERE application = {application} AND conversation = {conversation} AND left_after IS NULL;",
            "COMMIT;", ""]))

    def rate(self):
        """Messages a second in a new run."""
        run = self.run("SELECT nextval('pgbench_run')")
        output = subprocess.run(
            ["pgbench", "-n", "-M", "prepared", "-c", str(CLIENTS), "-j", "2", "-T", str(max(1, round(self.seconds))),
             "-D", f"run={run}", "-f", str(self.script), self.schema],
            stdout=subprocess.PIPE, text=True, check=True).stdout
        return float(re.search(r"tps = ([\d.]+)", output)[1])
