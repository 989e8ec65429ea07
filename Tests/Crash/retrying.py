"""Clients that retry after a 503, and at another process when a connection breaks."""

import http.client
import json
import time
import uuid

from clients import HEADERS, Creator, KeyedSender, Scheduler, Unexpected, Uploader


class Retrying:
    """Retries each request until it is answered other than 503, or until `is_stopped` and the connection breaks.

    A request that may have been processed already is safe to repeat, by its nature or by its idempotency key.
    `longest_wait` is the longest time of an answered request in seconds.
    """

    refused = 0
    broken = 0
    longest_wait = 0
    is_stopped = False

    def request(self, method, path, body=None, headers=HEADERS):
        while True:
            began = time.monotonic()
            try:
                answer, content = self.send_once(method, path, body, headers)
            except (OSError, http.client.HTTPException):
                self.broken += 1
                if self.is_stopped:
                    raise
                time.sleep(0.01)
                continue
            self.longest_wait = max(self.longest_wait, time.monotonic() - began)
            if answer.status != 503:
                return answer, content
            if answer.headers["Retry-After"] is None:
                raise Unexpected(f"a 503 without Retry-After: {content[:300]!r}")
            self.refused += 1
            time.sleep(0.02)

    def send_once(self, *request):
        return super().request(*request)

    def work(self):
        if self.is_stopped:
            raise ConnectionAbortedError
        super().work()


class RetryingSender(Retrying, KeyedSender):
    """Sends messages, each until it is acknowledged."""


class AnyServer(Retrying):
    """Sends each request to a random server."""

    def send_once(self, method, path, body, headers):
        server = self.generator.choice(self.servers)
        connections = self.__dict__.setdefault("connections", {})
        connection = connections.setdefault(server, server.connection())
        try:
            connection.request(method, path, body=body, headers=headers)
            answer = connection.getresponse()
            return answer, answer.read()
        except (OSError, http.client.HTTPException):
            connection.close()
            raise


class AnyServerSender(AnyServer, KeyedSender):
    """Sends messages."""


class AnyServerCreator(AnyServer, Creator):
    """Creates distinct conversations; the second request may go to another process."""

    def work(self):
        if self.is_stopped:
            raise ConnectionAbortedError
        users = [self.name("user"), self.name("user")]
        draft = {"participants": users, "distinct": True}
        # 200 if a killed process created it without answering.
        made = self.post("/conversations", draft, {200, 201})["id"]
        self.acknowledged.append((users, made))
        again = self.post("/conversations", {"participants": users[::-1], "distinct": True}, {200})["id"]
        if again != made:
            raise Unexpected(f"there are two distinct conversations: {made} and {again}")


class AnyServerScheduler(AnyServer, Scheduler):
    """Schedules messages; any process may send them."""

    def request(self, method, path, body=None, headers=HEADERS):
        if method == "POST" and body and "schedule" in body:
            name = json.loads(body)["id"].rsplit("/", 1)[1]
            headers = headers | {"Idempotency-Key": f"schedule-{uuid.UUID(name)}"}
        return super().request(method, path, body, headers)


class AnyServerUploader(AnyServer, Uploader):
    """Sends each chunk of an upload to a random server."""
