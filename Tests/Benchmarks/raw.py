"""A bare group commit: SQLite alone writes the rows of sent messages.

The statements are those with which Parley stores a message, each prepared once, without checks, JSON or sockets.
Python adds one or two microseconds to each.
"""

import itertools
import sqlite3
import time


def group_commit(source, folder, batch, seconds):
    """Messages stored a second, in durable batches of the same size as those of Parley."""
    source_database = sqlite3.connect(f"file:{source}?mode=ro", uri=True)
    rows = Rows(source_database)
    path = folder / f"raw-{time.monotonic_ns()}.sqlite"
    database = sqlite3.connect(path, isolation_level=None)
    for setting in ("journal_mode = WAL", "synchronous = FULL", "wal_autocheckpoint = 10000"):
        database.execute(f"PRAGMA {setting}")
    for (statement,) in source_database.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type DESC"):
        database.execute(statement)
    rows.prepare(source_database, database)
    began, written = time.monotonic(), 0
    messages = iter(rows.messages)
    while time.monotonic() < began + seconds:
        group = list(itertools.islice(messages, batch))
        if not group:
            break
        database.execute("BEGIN IMMEDIATE")
        for message in group: rows.store(database, message)
        database.execute("COMMIT")
        written += len(group)
    spent = time.monotonic() - began
    database.close()
    path.unlink()
    return written / spent


class Rows:
    """The rows of up to 200,000 sent messages, in order, and the statements that store them."""

    def __init__(self, source_database):
        events = source_database.execute("SELECT * FROM events WHERE kind = 'message.sent' ORDER BY position LIMIT 200000").fetchall()
        messages = source_database.execute("SELECT * FROM messages ORDER BY position LIMIT 200000").fetchall()
        parts = {row[1]: row for row in source_database.execute("SELECT * FROM parts")}
        self.messages = [(event, message, parts[message[1]]) for event, message in zip(events, messages)]
        if not self.messages:
            raise RuntimeError("nothing was sent")
        event, message, part = self.messages[0]
        self.inserts = [
            f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})"
            for table, row in (("events", event), ("messages", message), ("parts", part))]

    def prepare(self, source_database, database):
        """Copies the rows that storing a message updates."""
        for table in ("conversations", "participants", "log_positions"):
            for row in source_database.execute(f"SELECT * FROM {table}"):
                database.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)

    def store(self, database, rows):
        event, message, part = rows
        application, conversation = message[0], message[2]
        database.execute(
            "UPDATE log_positions SET position = position + 1 WHERE application = ? RETURNING position",
            (application,)).fetchone()
        for statement, row in zip(self.inserts, (event, message, part)): database.execute(statement, row)
        database.execute(
            """UPDATE conversations SET last_position = last_position + 1, message_count = message_count + 1
            WHERE application = ? AND id = ?""", (application, conversation))
        database.execute(
            """UPDATE participants SET total_count = total_count + 1,
                unread_count = unread_count + CASE WHEN user_id = ? THEN 0 ELSE 1 END,
                last_position = ?, last_message = ?, last_at = ?
            WHERE application = ? AND conversation = ? AND left_after IS NULL""",
            (message[4], message[3], message[1], message[6], application, conversation))
