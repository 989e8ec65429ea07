"""A conversation with contents, to be moved somewhere and found there."""

import hashlib
import random

from people import Person, fetch

MESSAGES = 3000


def id_of(thing):
    return thing["id"].split("/")[-1]


def text(words, sender="ana"):
    return {"sender_id": sender, "parts": [{"mime_type": "text/plain", "body": words}]}


def talk(server, sizes, **draft):
    """The conversation, and the digests of its contents, which a message each attaches."""
    person = Person(server)
    conversation = id_of(person.ask("POST", "/conversations", {"participants": ["ana", "bo"], **draft}))
    for start in range(0, MESSAGES, 10):
        person.ask("POST", f"/conversations/{conversation}/messages", [
            text(f"message {number} \0é") for number in range(start, start + 10)], status=(202,))
    contents = {}
    for size in sizes:
        content = random.randbytes(size)
        name = person.upload(conversation, content)
        contents[name] = hashlib.sha256(content).digest()
        person.ask("POST", f"/conversations/{conversation}/messages", {"sender_id": "bo", "parts": [
            {"mime_type": "text/plain", "body": f"content {size}"},
            {"mime_type": "a/b", "content": {"id": f"layer:///content/{name}", "size": size}}]})
    return conversation, contents


def expect_talk(server, conversation, contents, sizes):
    """All of it is there, and nothing else."""
    person = Person(server)
    texts = {f"message {number} \0é" for number in range(MESSAGES)} | {f"content {size}" for size in sizes}
    assert person.messages(conversation) == texts
    for content, digest in contents.items():
        url = person.ask("GET", f"/conversations/{conversation}/content/{content}")["download_url"]
        assert hashlib.sha256(fetch(server, url)).digest() == digest, content
