#!/usr/bin/env python3
"""Kills clients of `parley chat` and their server at random, and checks that what they showed has arrived, once and in order.

    chat.py --binary BINARY [--rounds 12]

Two users write lines into one conversation, each from a client with its own store. In each round a client is started, gets
some lines, and is killed with SIGKILL at a random moment; in every third round the server is killed too and started again
before the next one. A line that a client has printed as a message is durable in its store. At the end both clients run until
nothing waits, and

- each printed line is in the conversation exactly once, in the order of writing,
- both clients show the same messages, a file that one of them sends, and that the other user writes,
- a client with an empty store opens the conversation as soon as it has arrived, and another process cannot use its store.
"""

import argparse
import contextlib
import json
import pathlib
import queue
import random
import re
import subprocess
import sys
import tempfile
import threading
import time

from server import APPLICATION, TOKEN, serving

USERS = ["ana", "bo"]
# Seconds: how long a client may need, on a machine that is busy with other tests.
PATIENCE = 180
MESSAGE = re.compile(r"(\d+) (\w+): (line \d+)(  \(.*\))?$")


class Chat:
    """A client of a user; its store outlives the process."""

    def __init__(self, binary, server, user, folder):
        self.command = [str(pathlib.Path(binary).resolve()), "chat", "--server", f"http://127.0.0.1:{server.port}",
                        "--app", APPLICATION, "--user", user, "--store", str(folder / user)]
        self.user = user
        # Where `/get` writes.
        self.folder = folder
        folder.mkdir(exist_ok=True)
        # The lines that were written and those that were printed as messages, in their order.
        self.written, self.shown = [], []
        self.process = None

    def start(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, bufsize=1, cwd=self.folder)
        self.output = queue.Queue()
        threading.Thread(target=self.read, args=(self.process.stdout, self.output), daemon=True).start()

    def read(self, stream, output):
        for line in stream:
            line = line.rstrip("\n")
            found = MESSAGE.match(line)
            if found and found[2] == self.user and found[3] not in self.shown:
                self.shown.append(found[3])
            output.put(line)
        output.put(None)

    def write(self, line):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass

    def wait_for(self, expression, patience=PATIENCE):
        """The next output that matches."""
        end = time.monotonic() + patience
        seen = []
        while time.monotonic() < end:
            try:
                line = self.output.get(timeout=0.5)
            except queue.Empty:
                continue
            if line is None:
                break
            seen.append(line)
            if found := re.search(expression, line):
                return found
        raise SystemExit(f"{self.user}: no output matches {expression}: {seen[-20:]}")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def quit(self):
        self.write("/quit")
        self.process.wait(timeout=PATIENCE)


def rounds(chats, server, count, generator):
    number = 0
    for index in range(count):
        chat = generator.choice(chats)
        chat.start()
        other = USERS[1 - USERS.index(chat.user)]
        chat.write(f"/new {other}")
        offline = generator.random() < 0.3
        if offline:
            chat.write("/offline")
        for _ in range(generator.randrange(1, 12)):
            number += 1
            chat.written.append(f"line {number}")
            chat.write(f"line {number}")
            time.sleep(generator.choice([0, 0, 0.005, 0.05]))
        if index % 2 == 0:
            chat.wait_for(f"^\\d+ {chat.user}: {chat.written[-1]}(  |$)")
        time.sleep(generator.random() * generator.choice([0.02, 0.3, 1.5]))
        chat.kill()
        if index % 3 == 2:
            server.kill()
            server.start()


def finish(chat):
    """Runs a client until nothing waits; returns what it shows."""
    chat.start()
    chat.write("/list")
    chat.write("/new " + USERS[1 - USERS.index(chat.user)])
    chat.wait_for(r"^\* connected$")
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        chat.write("/queue")
        if chat.wait_for(r"^\* (\d+) messages wait to be sent$")[1] == "0":
            return
        time.sleep(0.3)
    raise SystemExit(f"{chat.user}: messages wait for ever")


def open_what_has_arrived(binary, server, folder):
    """A client that has an empty store, and so an empty list at its start, opens what arrives then."""
    chat = Chat(binary, server, "ana", folder)
    chat.start()
    chat.wait_for(r"^\* connected$")
    chat.write("/open 1")
    chat.wait_for(r"^1 bo")
    chat.wait_for(r"^\* layer:///conversations/")
    chat.quit()


def refuse_second(binary, server, folder):
    """A second process with a store that is open ends with an error, and the first one goes on."""
    first, second = [Chat(binary, server, "ana", folder) for _ in range(2)]
    first.start()
    first.wait_for(r"^\* connected$")
    second.start()
    second.wait_for(rf"is in use by process {first.process.pid}")
    if second.process.wait(timeout=PATIENCE) == 0:
        raise SystemExit("the second process succeeded")
    first.write("/queue")
    first.wait_for(r"^\* 0 messages wait to be sent$")
    first.quit()


def exchange(chats):
    """A file arrives at the other user, who sees then that the first one writes."""
    for chat in chats:
        chat.start()
        chat.wait_for(r"^\* connected$")
        chat.write("/new " + USERS[1 - USERS.index(chat.user)])
    writer, reader = chats
    file = writer.folder / "film.mp4"
    file.write_bytes(random.Random(1).randbytes(3_000_000))
    writer.write(f"/attach {file} video/mp4")
    writer.wait_for(r"^\* up \[##########\] 3000000 of 3000000 bytes$")
    number = reader.wait_for(rf"^(\d+) {writer.user}: \[video/mp4, 3000000 bytes, readyForDownload\]")[1]
    reader.write(f"/get {number}")
    copy = pathlib.Path(reader.wait_for(r"^\* (/.*/parley-\d+-0)$")[1])
    if copy.read_bytes() != file.read_bytes():
        raise SystemExit("the file differs from its copy")
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        writer.write("/typing")
        writer.write("/queue")
        writer.wait_for(r"^\* 0 messages wait to be sent$")
        with contextlib.suppress(SystemExit):
            reader.wait_for(rf"^\* {writer.user} is typing$", 5)
            break
    else:
        raise SystemExit("the other user does not see who writes")
    for chat in chats:
        chat.quit()


def messages(server):
    """The texts of all messages by their position, and their senders."""
    headers = {"Authorization": f"Bearer {TOKEN}", "Accept": "application/vnd.layer+json; version=3.0"}
    connection = server.connection()
    connection.request("GET", f"/apps/{APPLICATION}/users/ana/conversations", headers=headers)
    conversations = json.loads(connection.getresponse().read())
    if len(conversations) != 1:
        raise SystemExit(f"{len(conversations)} conversations instead of one")
    path = "/conversations/" + conversations[0]["id"].split("/")[-1]
    found, last = [], ""
    while True:
        connection.request("GET", f"/apps/{APPLICATION}{path}/messages?page_size=100{last}", headers=headers)
        page = json.loads(connection.getresponse().read())
        found += page
        if len(page) < 100:
            break
        last = "&from_id=" + page[-1]["id"].split("/")[-1]
    found.reverse()
    return [(message["sender"]["user_id"], message["parts"][0]["body"]) for message in found]


def check(chats, found):
    if not any(chat.shown for chat in chats):
        raise SystemExit("no line was shown, so nothing was tested")
    for chat in chats:
        arrived = [text for user, text in found if user == chat.user]
        if len(set(arrived)) != len(arrived):
            raise SystemExit(f"{chat.user}: lines arrived twice: {arrived}")
        lost = [line for line in chat.shown if line not in arrived]
        if lost:
            raise SystemExit(f"{chat.user}: lines were shown and did not arrive: {lost}")
        order = [line for line in chat.written if line in arrived]
        if arrived != order:
            raise SystemExit(f"{chat.user}: the order is {arrived} instead of {order}")
        print(f"{chat.user}: {len(chat.written)} lines written, {len(chat.shown)} shown, {len(arrived)} arrived")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", required=True)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    options = parser.parse_args()
    print("seed", options.seed)
    with tempfile.TemporaryDirectory(prefix="parley-chat-") as folder, \
            serving(options.binary, settings={"PARLEY_API_DEV_LOGIN": "true"}) as server:
        server.start()
        chats = [Chat(options.binary, server, user, pathlib.Path(folder)) for user in USERS]
        rounds(chats, server, options.rounds, random.Random(options.seed))
        for chat in chats:
            finish(chat)
            chat.quit()
        check(chats, messages(server))
        exchange(chats)
        open_what_has_arrived(options.binary, server, pathlib.Path(folder) / "new")
        refuse_second(options.binary, server, pathlib.Path(folder) / "new")


if __name__ == "__main__":
    main()
