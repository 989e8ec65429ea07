"""A conversation with contents, for tests that copy it and compare the copy."""

import hashlib
import os
import random

from callers import APIClient, fetch

# Enough for several commits of an import; `make soak` sets the variable.
MESSAGES = 3000 if os.environ.get("PARLEY_TEST_ROUNDS") == "all" else 1000


def id_of(resource):
    return resource["id"].split("/")[-1]


def text(body, sender="ana"):
    return {"sender_id": sender, "parts": [{"mime_type": "text/plain", "body": body}]}


def fill_conversation(server, sizes, **draft):
    """Creates a conversation; returns its id and the digests of its contents, each attached by a message."""
    api = APIClient(server)
    conversation = id_of(api.send("POST", "/conversations", {"participants": ["ana", "bo"], **draft}))
    for start in range(0, MESSAGES, 10):
        api.send("POST", f"/conversations/{conversation}/messages", [
            text(f"message {number} \0é") for number in range(start, start + 10)], status=(202,))
    contents = {}
    for size in sizes:
        content = random.randbytes(size)
        name = api.upload(conversation, content)
        contents[name] = hashlib.sha256(content).digest()
        api.send("POST", f"/conversations/{conversation}/messages", {"sender_id": "bo", "parts": [
            {"mime_type": "text/plain", "body": f"content {size}"},
            {"mime_type": "a/b", "content": {"id": f"layer:///content/{name}", "size": size}}]})
    return conversation, contents


def expect_conversation(server, conversation, contents, sizes):
    """Expects exactly the messages and contents of `fill_conversation`.

    A message "later", which a test has scheduled as late as possible, may have been sent meanwhile on a slow machine.
    """
    api = APIClient(server)
    texts = {f"message {number} \0é" for number in range(MESSAGES)} | {f"content {size}" for size in sizes}
    assert api.messages(conversation) - {"later"} == texts
    for content, digest in contents.items():
        url = api.send("GET", f"/conversations/{conversation}/content/{content}")["download_url"]
        assert hashlib.sha256(fetch(server, url)).digest() == digest, content
