"""Clients that are not put off: they ask again after a 503, and another process when one is gone."""

import http.client
import json
import time
import uuid

from clients import HEADERS, Creator, KeyedSender, Scheduler, Unexpected, Uploader


class Patience:
    """Asks until it is told to stop; a request that may have been heard bears a key or may be made twice."""

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


class PatientSender(Patience, KeyedSender):
    """Sends messages, each until it is acknowledged."""


class Roaming(Patience):
    """Asks any of several servers, each request another one."""

    def ask(self, method, path, body, headers):
        server = self.chance.choice(self.crowd)
        lines = self.__dict__.setdefault("lines", {})
        line = lines.setdefault(server, server.connection())
        try:
            line.request(method, path, body=body, headers=headers)
            answer = line.getresponse()
            return answer, answer.read()
        except (OSError, http.client.HTTPException):
            line.close()
            raise


class RoamingSender(Roaming, KeyedSender):
    """Sends messages."""


class RoamingCreator(Roaming, Creator):
    """Creates distinct conversations; the second time another process may be asked."""

    def work(self):
        if self.is_over:
            raise ConnectionAbortedError
        people = [self.name("user"), self.name("user")]
        draft = {"participants": people, "distinct": True}
        # Made once, whoever heard it first and died.
        made = self.post("/conversations", draft, {200, 201})["id"]
        self.acknowledged.append((people, made))
        again = self.post("/conversations", {"participants": people[::-1], "distinct": True}, {200})["id"]
        if again != made:
            raise Unexpected(f"a distinct conversation exists twice: {made} and {again}")


class RoamingScheduler(Roaming, Scheduler):
    """Has messages sent later, by whoever is there then."""

    def request(self, method, path, body=None, headers=HEADERS):
        if method == "POST" and body and "schedule" in body:
            name = json.loads(body)["id"].rsplit("/", 1)[1]
            headers = headers | {"Idempotency-Key": f"schedule-{uuid.UUID(name)}"}
        return super().request(method, path, body, headers)


class RoamingUploader(Roaming, Uploader):
    """Sends each chunk of an upload to whoever is there then."""

    def work(self):
        if self.is_over:
            raise ConnectionAbortedError
        super().work()
