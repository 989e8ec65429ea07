"""Clients that retry after a 503, and at another process when one is gone."""

import http.client
import json
import time
import uuid

from clients import HEADERS, Creator, KeyedSender, Scheduler, Unexpected, Uploader


class Retrying:
    """Retries until `is_over`; a request that may have been processed has an idempotency key or may be repeated."""

    refusals = 0
    broken = 0
    longest = 0
    is_over = False

    def request(self, method, path, body=None, headers=HEADERS):
        while True:
            began = time.monotonic()
            try:
                answer, content = self.ask(method, path, body, headers)
            except (OSError, http.client.HTTPException):
                self.broken += 1
                if self.is_over:
                    raise
                time.sleep(0.01)
                continue
            self.longest = max(self.longest, time.monotonic() - began)
            if answer.status != 503:
                return answer, content
            if answer.headers["Retry-After"] is None:
                raise Unexpected(f"a 503 without Retry-After: {content[:300]!r}")
            self.refusals += 1
            time.sleep(0.02)

    def ask(self, *request):
        return super().request(*request)

    def work(self):
        if self.is_over:
            raise ConnectionAbortedError
        super().work()


class RetryingSender(Retrying, KeyedSender):
    """Sends messages, each until it is acknowledged."""


class AnyServer(Retrying):
    """Sends each request to a random server."""

    def ask(self, method, path, body, headers):
        server = self.chance.choice(self.servers)
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
    """Creates distinct conversations; the second time another process may be asked."""

    def work(self):
        if self.is_over:
            raise ConnectionAbortedError
        people = [self.name("user"), self.name("user")]
        draft = {"participants": people, "distinct": True}
        # Created once, even if the first process was killed after it.
        made = self.post("/conversations", draft, {200, 201})["id"]
        self.acknowledged.append((people, made))
        again = self.post("/conversations", {"participants": people[::-1], "distinct": True}, {200})["id"]
        if again != made:
            raise Unexpected(f"there are two distinct conversations: {made} and {again}")


class AnyServerScheduler(AnyServer, Scheduler):
    """Schedules messages, which any process may send."""

    def request(self, method, path, body=None, headers=HEADERS):
        if method == "POST" and body and "schedule" in body:
            name = json.loads(body)["id"].rsplit("/", 1)[1]
            headers = headers | {"Idempotency-Key": f"schedule-{uuid.UUID(name)}"}
        return super().request(method, path, body, headers)


class AnyServerUploader(AnyServer, Uploader):
    """Sends each chunk of an upload to a random server."""

    def work(self):
        if self.is_over:
            raise ConnectionAbortedError
        super().work()
