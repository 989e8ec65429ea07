"""The description of an API in one version, its operations, and their examples as requests."""

import http.client
import json
import re
import time
import urllib.parse
import uuid

# The media type of exports and imports: one JSON object a line.
LINES = "application/jsonl"
# Operations whose example cannot succeed, because it contains a token that expires.
NOT_REPEATABLE = ["createSession"]


class Description:
    """The document that a server serves for a version of the Platform API, or of the Client API (`client`)."""

    def __init__(self, server, version, api="platform"):
        self.server = server
        self.version = version
        self.api = api
        # The Platform API, whose examples create what the user of a session cannot.
        self.platform = self if api == "platform" else Description(server, version)
        self.document = json.loads(server.get(f"/openapi.json?api={api}&version={version}"))
        self.operations = [
            Operation(self, method, path, json_)
            for path, methods in self.document["paths"].items() for method, json_ in methods.items()]
        self.by_name = {operation.name: operation for operation in self.operations}

    def resolved(self, json_):
        """The schema or response that a reference refers to."""
        if "$ref" not in json_:
            return json_
        value = self.document
        for name in json_["$ref"].split("/")[1:]:
            value = value[name]
        return value

    def problem(self, operation, answer):
        """The first violation of the description in an answer, or None."""
        described = operation.json["responses"].get(str(answer.status))
        if answer.status >= 500:
            return f"status {answer.status}"
        if described is None:
            return f"status {answer.status} is not described"
        shape = self.resolved(described)
        for name, field in shape.get("headers", {}).items():
            if field.get("required") and answer.fields.get(name) is None:
                return f"{answer.status} without {name}"
        content = shape.get("content")
        if content is None:
            return f"{answer.status} with a body" if answer.body else None
        if answer.fields.get_content_type() not in content:
            return f"{answer.status} as {answer.fields.get_content_type()}"
        if "application/json" not in content:
            return None
        try:
            value = json.loads(answer.body)
        except ValueError:
            return f"{answer.status} whose body is no JSON"
        return self.violation(value, content["application/json"]["schema"])

    def violation(self, value, schema):
        """The first violation of a schema in a value, if the package jsonschema is installed."""
        try:
            import jsonschema
        except ImportError:
            return None
        validator = jsonschema.Draft202012Validator({**schema, "components": self.document["components"]})
        for error in validator.iter_errors(value):
            return f"{error.json_path}: {error.message[:200]}"
        return None


class Operation:
    """One method of one path."""

    def __init__(self, description, method, path, json_):
        self.description = description
        self.method = method.upper()
        self.path = path
        self.json = json_
        self.name = json_["operationId"]
        self.after = json_["x-example"]["after"]
        self.status = json_["x-example"]["status"]
        self.parameters = json_.get("parameters", [])
        content = json_.get("requestBody", {}).get("content", {})
        self.type, media = next(iter(content.items()), (None, {}))
        self.schema = media.get("schema")
        self.body = media.get("example")


class Answer:
    """Status, fields and body."""

    def __init__(self, response):
        self.status = response.status
        self.fields = response.headers
        self.body = response.read()


class ExampleClient:
    """Sends examples and their variants to one application."""

    def __init__(self, description, application, token, fields=None):
        """`fields` are sent with every request."""
        self.description = description
        self.fields = fields or {}
        self.token = token
        self.sent = set()
        # For each path parameter that is a UUID: the sample id, and the real id of this application. Real ids are new
        # for each instance, because the server accepts an id that a client chooses only once.
        self.real = {}
        for operation in description.operations + description.platform.operations:
            for parameter in operation.parameters:
                if parameter["in"] == "path" and re.fullmatch(r"[0-9a-f-]{36}", parameter["example"]):
                    self.real.setdefault(parameter["name"], [parameter["example"], str(uuid.uuid4())])
        self.real["app"][1] = application
        # The token of the session that the examples of the Client API use.
        self.session = self.log_in() if description.api == "client" else None

    def log_in(self):
        """Begins a session of the user of the examples."""
        body = json.dumps({"user_id": "bo", "app_id": self.real["app"][1]}).encode()
        while True:
            answer = self.description.server.send("POST", "/dev/login", body, {"Content-Type": "application/json"})
            if answer.status != 429:
                return json.loads(answer.body)["session_token"]
            time.sleep(0.1)

    def credential(self, operation):
        """The Authorization field of an operation."""
        is_of_client = self.session and not operation.path.startswith("/apps/")
        return f'Layer session-token="{self.session}"' if is_of_client else f"Bearer {self.token}"

    def prepare(self, operation):
        """Sends the examples that the operation requires, but not its own."""
        if "{session}" in operation.path:
            # No operation of the Platform API begins a session.
            self.log_in()
            listed = self.send(self.description.by_name["listSessions"])
            self.real["session"][1] = json.loads(listed.body)[0]["id"].split("/")[-1]
        for name in operation.after:
            if name in self.sent:
                continue
            self.sent.add(name)
            required = self.description.by_name.get(name) or self.description.platform.by_name[name]
            self.prepare(required)
            answer = self.send(required)
            if answer.status >= 300:
                raise RuntimeError(f"{name}: {answer.status} {answer.body[:300]}")
            self.remember(answer)

    def send(self, operation, body=None, path={}, query={}, fields={}):
        """Sends an example; with another body, or with other parameters by their names.

        A value of bytes is sent as it is, without percent-encoding.
        """
        target, query_items = operation.path, []
        head = {"Authorization": self.credential(operation), "Accept": self.accepts(operation)} | self.fields
        for parameter in operation.parameters:
            name, location = parameter["name"], parameter["in"]
            given = {"path": path, "query": query, "header": fields}[location]
            if name not in given and "example" not in parameter:
                continue
            value = given.get(name, None)
            value = self.actual(str(parameter["example"])) if value is None else value
            text = value.decode("latin-1") if isinstance(value, bytes) else urllib.parse.quote(value, safe="")
            if location == "path":
                target = target.replace("{" + name + "}", text)
            elif location == "query":
                query_items.append(f"{name}={text}")
            else:
                head[name] = value
        if query_items:
            target += "?" + "&".join(query_items)
        if operation.type:
            head["Content-Type"] = operation.type
            if body is None:
                text = operation.body if operation.type == LINES else json.dumps(operation.body)
                body = self.actual(text).encode()
        return self.description.server.send(operation.method, target, body, head)

    def accepts(self, operation):
        """The Accept field of an operation."""
        return operation.json.get("x-accept", f"application/vnd.layer+json; version={self.description.version}")

    def actual(self, text):
        """A text with real ids in place of the sample ids."""
        for sample, real in self.real.values():
            text = text.replace(sample, real)
        return text

    def remember(self, answer):
        """Records the id of a created object, and uploads the bytes of a created content."""
        made = json.loads(answer.body) if answer.body else {}
        names = (made.get("id") or "").split("/") if isinstance(made, dict) else []
        for name, pair in self.real.items():
            if len(names) > 2 and names[-2] in (name, name + "s", name[:-1] + "ies"):
                pair[1] = names[-1]
        if isinstance(made, dict) and made.get("upload_url"):
            url = urllib.parse.urlsplit(made["upload_url"])
            uploaded = self.description.server.send("PUT", url.path + "?" + url.query, b"a" * made["size"], {})
            if uploaded.status != 200:
                raise RuntimeError(f"the upload was answered {uploaded.status}")


def send(connection, method, target, body, fields):
    """Sends a request on a persistent connection; returns the answer."""
    connection.putrequest(method, target, skip_accept_encoding=True)
    for name, value in fields.items():
        connection.putheader(name, value)
    if body is not None or method in ("POST", "PUT", "PATCH"):
        connection.putheader("Content-Length", str(len(body or b"")))
    connection.endheaders(body)
    return Answer(connection.getresponse())


__all__ = ["Answer", "Description", "Operation", "ExampleClient", "send", "http"]
