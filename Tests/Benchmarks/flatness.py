"""The cost of the most frequent requests in a small and in a large application.

Two servers, one with a thousand conversations and messages and one with `--size` of them, measured in turn.
One user participates in every conversation, and one conversation has all messages. The goal is a factor below 1.5.
"""

import messages
from load import fill, varied, wrk
from messages import CONNECTIONS, CONVERSATIONS, HEADERS
from processes import APPLICATION, parley

PAIR = '{"participants":["ana","u{n}"],"distinct":true}'


def measure(options, folder, table):
    sizes = (1000, options.size)
    servers, messages_paths = [], []
    try:
        for size in sizes:
            path = folder / f"of-{size}"
            path.mkdir()
            servers.append(parley(options, path))
            messages_paths.append(populate(servers[-1], size, size))
        for what, send_load in REQUESTS.items():
            small, large = in_turn(options, send_load, servers, messages_paths, sizes)
            table.add_sizes(f"{what}, {sizes[1]:,} against {sizes[0]:,}", small, large)
    finally:
        for server in servers: server.stop()


def in_turn(options, send_load, servers, messages_paths, sizes):
    """The runs of each server; each round runs all of them, so that other load affects all alike."""
    # Reads all rows before the measurement, so that the first round does not include reading files.
    for server, messages_path, size in zip(servers, messages_paths, sizes): send_load(server, messages_path, size, options.seconds, "f")
    runs = [[] for _ in servers]
    for number in range(options.rounds):
        for index in range(len(servers))[:: 1 if number % 2 == 0 else -1]:
            runs[index].append(send_load(servers[index], messages_paths[index], sizes[index], options.seconds, number))
    return runs


def populate(server, message_count, conversation_count):
    """Creates conversations of one user, and messages in one conversation; returns its messages path."""
    fill(server, CONVERSATIONS, PAIR, conversation_count, HEADERS)
    messages_path = messages.create_conversation(server)
    messages.fill_messages(server, messages_path, message_count)
    return messages_path


def send(server, messages_path, size, seconds, number):
    return varied(server, "POST", messages_path, CONNECTIONS, seconds, HEADERS, messages.numbered(f"c{number}"))


def list_messages(server, messages_path, size, seconds, number):
    return wrk(server, f"{messages_path}?page_size=100", CONNECTIONS, seconds, headers=HEADERS)


def list_conversations(server, messages_path, size, seconds, number):
    path = f"/apps/{APPLICATION}/users/ana/conversations?page_size=100&sort_by=last_message"
    return wrk(server, path, CONNECTIONS, seconds, headers=HEADERS)


def look_up(server, messages_path, size, seconds, number):
    return varied(server, "POST", CONVERSATIONS, CONNECTIONS, seconds, HEADERS, PAIR, below=size)


REQUESTS = {
    "List 100 messages": list_messages,
    "Look a distinct conversation up": look_up,
    "Send a message": send,
    "List 100 of a user's conversations by last message": list_conversations,
}
