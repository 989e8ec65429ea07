"""Whether the most frequent requests cost the same in a small and in a large application.

Two servers, one with a thousand conversations and messages and one with `--size` of them, asked in turn. One
user takes part in every conversation, and one conversation has all the messages. The goal: within 1.5 times.
"""

import messages
from load import fill, varied, wrk
from messages import CONNECTIONS, CONVERSATIONS, HEADERS
from processes import APPLICATION, parley

PAIR = '{"participants":["ana","u{n}"],"distinct":true}'


def measure(options, folder, table):
    sizes = (1000, options.size)
    servers, chats = [], []
    try:
        for size in sizes:
            place = folder / f"of-{size}"
            place.mkdir()
            servers.append(parley(options, place))
            chats.append(populate(servers[-1], size))
        for what, ask in QUESTIONS.items():
            small, large = in_turn(options, ask, servers, chats, sizes)
            table.flat(f"{what}, {sizes[1]:,} against {sizes[0]:,}", small, large)
    finally:
        for server in servers: server.stop()


def in_turn(options, ask, servers, chats, sizes):
    """The runs of each server, of which each round asks all, so that load from other processes affects all of them alike."""
    # All rows are read once before the measurement, so that the first round does not include reading files.
    for server, chat, size in zip(servers, chats, sizes): ask(server, chat, size, options.seconds, "f")
    runs = [[] for _ in servers]
    for number in range(options.rounds):
        for index in range(len(servers))[:: 1 if number % 2 == 0 else -1]:
            runs[index].append(ask(servers[index], chats[index], sizes[index], options.seconds, number))
    return runs


def populate(server, size):
    """Creates as many conversations of one user as messages in one conversation; returns the latter."""
    fill(server, CONVERSATIONS, PAIR, size, HEADERS)
    chat = messages.converse(server)
    messages.fill_messages(server, chat, size)
    return chat


def send(server, chat, size, seconds, number):
    return varied(server, "POST", chat, CONNECTIONS, seconds, HEADERS, messages.numbered(f"c{number}"))


def list_messages(server, chat, size, seconds, number):
    return wrk(server, f"{chat}?page_size=100", CONNECTIONS, seconds, headers=HEADERS)


def list_conversations(server, chat, size, seconds, number):
    path = f"/apps/{APPLICATION}/users/ana/conversations?page_size=100&sort_by=last_message"
    return wrk(server, path, CONNECTIONS, seconds, headers=HEADERS)


def look_up(server, chat, size, seconds, number):
    return varied(server, "POST", CONVERSATIONS, CONNECTIONS, seconds, HEADERS, PAIR, below=size)


QUESTIONS = {
    "List 100 messages": list_messages,
    "Look a distinct conversation up": look_up,
    "Send a message": send,
    "List 100 of a user's conversations by last message": list_conversations,
}
