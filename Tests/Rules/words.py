#!/usr/bin/env python3
"""Checks that comments, names, texts and articles use plain technical English.

Fails on each banned word in a file of FOLDERS and FILES. Identifiers are split at capital letters and underscores, so
that `nobodyReads` is found too. ALLOWED lists uses that are right, each with its reason; an unused entry fails as
well.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

FOLDERS = ["Sources", "Tests", "Config", "docker"]
FILES = ["Makefile", "README.md", "Package.swift", ".ci/run"]
SUFFIXES = {".swift", ".md", ".h", ".py", ".sh", ".js", ".lua", ".json", ".yaml", ".conf", ".http", ""}
# This file, which contains every banned word.
SKIPPED = "Tests/Rules/words.py"

# A word, and what to write instead.
BANNED = {
    "he": "they, the client, the user", "him": "them, the client", "his": "their", "she": "they", "hers": "theirs",
    "whoever": "the caller, a client that", "somebody": "a client, a user", "nobody": "no client, none",
    "everybody": "all clients", "anybody": "any client",
    "anew": "again", "octet": "byte", "octets": "bytes", "judge": "validate, evaluate", "judges": "validates",
    "judged": "validated", "riddle": "-", "courier": "worker", "couriers": "workers", "crew": "workers",
    "doorbell": "signal", "roof": "-", "heed": "follow, apply", "lest": "so that … not", "hence": "so, therefore",
    "thence": "from there", "whence": "from where", "thither": "there", "betimes": "early", "forthwith": "at once",
    "oft": "often", "naught": "nothing", "aught": "anything",
    "crowd": "clients, processes", "shelf": "store", "shelves": "stores", "greedy": "excessive",
    "talk": "conversation, communicate", "talks": "conversations, communicates", "talking": "communicating",
    "depot": "sample, store", "depots": "stores", "scene": "fixture, case", "scenes": "fixtures, cases",
    "thief": "another client", "stranger": "another user, an unknown client", "strangers": "other users",
    "liar": "invalid input", "liars": "invalid inputs", "victim": "target", "victims": "targets",
    "mood": "outcome, behaviour", "moods": "outcomes", "dice": "random numbers", "nap": "pause", "naps": "pauses",
    "goodbye": "close frame, end", "lifeline": "input", "greet": "connect", "greets": "connects",
    "complain": "report", "complaint": "error", "complaints": "errors", "gossip": "notify", "chatter": "traffic",
    "hear": "receive", "hears": "receives", "heard": "received", "twin": "copy, counterpart", "twins": "copies",
    "house": "application, server", "houses": "servers", "room": "space, conversation", "rooms": "conversations",
    "door": "endpoint, listener", "doors": "endpoints, listeners", "bell": "signal", "bells": "signals",
    "seat": "slot", "seats": "slots", "walk": "visit, iterate", "walks": "visits", "walked": "visited",
    "walking": "visiting", "notebook": "cache", "notebooks": "caches", "telling": "delivery", "tellings": "deliveries",
    "deed": "event", "deeds": "events", "stretch": "range", "stretches": "ranges",
    "vanish": "disappear, be removed", "vanishes": "is removed", "vanished": "was removed", "astray": "wrong",
    "mend": "fix", "mends": "fixes", "mended": "fixed", "procrastinate": "wait",
}

# (part of the path, text of the line in which the word is right, reason)
ALLOWED = [
    ("Tests/Commands/small_disk.py", 'shutil.chown(folder, "nobody")', "a user of the system"),
    ("Tests/Support/postgres.sh", "nobody", "a user of the system"),
    ("Tests/HTTPTransportTests/ExpectationTests.swift", 'try client.send("he")', "the first half of a body"),
    ("Tests/Benchmarks/ejabberd.py", "room", "a name of ejabberd"),
    ("Tests/Benchmarks/synapse.py", "room", "a name of the Matrix protocol"),
    ("", "CURL_NOBODY", "a name of libcurl"),
    ("", "octet-stream", "a registered media type"),
    ("", "octet_string", "a name of OpenSSL"),
    ("", "House rules", "sample data: the name of a sender"),
    ("ConversationFilterTests.swift", '"room"', "sample data: a key of metadata"),
    ("Glossary.md", "| room, house |", "the column of words to avoid"),
    ("Glossary.md", "| deed, what happened |", "the column of words to avoid"),
    ("Glossary.md", "| stretch, mark |", "the column of words to avoid"),
    ("Glossary.md", "| telling |", "the column of words to avoid"),
    ("Glossary.md", "| notebook |", "the column of words to avoid"),
    ("Glossary.md", "| room |", "the column of words to avoid"),
    ("Glossary.md", "| door |", "the column of words to avoid"),
    ("Glossary.md", "| he, she, somebody |", "the column of words to avoid"),
    ("Glossary.md", "| octet |", "the column of words to avoid"),
    ("Glossary.md", "| judge |", "the column of words to avoid"),
    ("Glossary.md", "| try anew |", "the column of words to avoid"),
]

# "Who" without a noun before it: at the start of a sentence or after a preposition. "A user who sends" is right.
WHO = re.compile(r"(?:^|[.:;*(] |- \*?)Who(?:m|se)? |\b(?:for|of|to|than|is) who\b", re.M)
WORD = re.compile(r"[A-Za-z]+")
CAMEL = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def words(line):
    for run in WORD.findall(line):
        for part in CAMEL.findall(run):
            yield part.lower()


def main():
    found, used = [], set()
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*"))]
    for path in paths + [ROOT / file for file in FILES]:
        name = str(path.relative_to(ROOT))
        if not path.is_file() or path.suffix not in SUFFIXES or name == SKIPPED:
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if path.suffix == ".http" and not line.startswith("###"):
                continue  # Exchanges are data; their titles are texts.
            if WHO.search(line.strip("/# \"")) and not line.rstrip().endswith("?"):
                found.append(f"{name}:{number}: 'who' (write: a client that, the caller): {line.strip()[:90]}")
            for word in sorted(set(words(line)) & BANNED.keys()):
                allowed = [entry for entry in ALLOWED if entry[0] in name and entry[1].lower() in line.lower()]
                used.update(allowed)
                if not allowed:
                    found.append(f"{name}:{number}: '{word}' (write: {BANNED[word]}): {line.strip()[:90]}")
    found += [f"words.py: no line needs the entry {entry[:2]}" for entry in ALLOWED if entry not in used]
    print("\n".join(found) if "--quiet" not in sys.argv else "", end="\n" if found else "")
    print(f"{len(found)} banned words")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
