"""Synapse, a server of the Matrix protocol."""

import base64
import http.client
import json
import os
import urllib.parse

import chunks
from messengers import MANY, TEXT, Database, HTTPMessenger, installed
from processes import Process
from transfers import curl


class Synapse(HTTPMessenger):
    """Synapse as one process, with all limits of rates raised, without federation."""

    name, health, patience = "Synapse, PostgreSQL", "/health", 4
    acknowledgement = "committed in PostgreSQL, log synced; one commit for the waiting events of a conversation"
    upload_answer = "written, not synced"
    list_path = "/_matrix/client/v3/rooms/{c}/messages?dir=b&limit=100"
    # A separate environment, so that its packages do not change those of other benchmarks.
    python = chunks.PYTHON.parents[2] / "synapse/bin/python"

    def __init__(self, options, folder):
        super().__init__(options, folder)
        self.version = "Synapse " + installed(self.python, "matrix-synapse")
        self.configure()

    def configure(self):
        self.database = Database(self.folder)
        (self.folder / "signing.key").write_text(
            f"ed25519 a_key {base64.b64encode(os.urandom(32)).decode().rstrip('=')}\n")
        (self.folder / "log.json").write_text(json.dumps({
            "version": 1, "handlers": {"console": {"class": "logging.StreamHandler"}},
            "root": {"level": "WARNING", "handlers": ["console"]}, "disable_existing_loggers": False}))
        rate = {"per_second": 1_000_000, "burst_count": 1_000_000}
        (self.folder / "config.json").write_text(json.dumps({
            "server_name": "localhost", "report_stats": False, "trusted_key_servers": [],
            "pid_file": f"{self.folder}/pid", "signing_key_path": f"{self.folder}/signing.key",
            "log_config": f"{self.folder}/log.json", "media_store_path": f"{self.folder}/media",
            "max_upload_size": "1G", "macaroon_secret_key": "benchmark", "form_secret": "benchmark",
            "enable_registration": True, "enable_registration_without_verification": True,
            "listeners": [{
                "type": "http", "port": self.port, "bind_addresses": ["127.0.0.1"],
                "resources": [{"names": ["client"]}]}],
            "database": self.database_settings(),
            "rc_login": {"address": rate, "account": rate}, "rc_joins": {"local": rate, "remote": rate},
            "rc_invites": {"per_room": rate, "per_user": rate, "per_issuer": rate},
            **dict.fromkeys(
                ["rc_message", "rc_registration", "rc_joins_per_room", "rc_room_creation", "rc_media_create"], rate),
        }))

    def database_settings(self):
        return {"name": "psycopg2", "args": {
            "host": "127.0.0.1", "port": self.database.port, "user": "keeper", "password": "sesame",
            "dbname": "messages", "sslmode": "disable", "cp_min": 5, "cp_max": 10}}

    def launch(self):
        command = [self.python, "-m", "synapse.app.homeserver", "--config-path", self.folder / "config.json"]
        return Process(command, self.folder, self.port, within=120)

    def prepare(self):
        tokens = {}
        for user in ("ana", "bo"):
            tokens[user] = self.call("POST", "/_matrix/client/v3/register", {
                "username": user, "password": "sesame-sesame", "auth": {"type": "m.login.dummy"}},
                headers={"Content-Type": "application/json"})["access_token"]
        self.headers, self.other = (
            {"Authorization": f"Bearer {token}", "Content-Type": "application/json"} for token in tokens.values())
        for _ in range(MANY + 1):
            made = self.call("POST", *self.creating("")[1:])["room_id"]
            self.conversations.append(urllib.parse.quote(made, safe=""))
            self.call("POST", f"/_matrix/client/v3/join/{self.conversations[-1]}", {}, headers=self.other)

    def sending(self, prefix):
        value = {"msgtype": "m.text", "body": TEXT}
        return "PUT", f"/_matrix/client/v3/rooms/{{c}}/send/m.room.message/{prefix}{{x}}", value

    def creating(self, prefix):
        return "POST", "/_matrix/client/v3/createRoom", {"preset": "private_chat", "invite": ["@bo:localhost"]}

    def texts(self, page):
        return [event["content"]["body"] for event in page["chunk"] if event["type"] == "m.room.message"]

    def next_page(self, page):
        return f"from={page['end']}" if page.get("end") else None

    def receiver(self, conversation):
        """Long-polls as the other user; returns a function that blocks until an answer arrives."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        # Synapse answers a request that it has answered within two minutes from its cache; another timeout avoids that.
        path = f"/_matrix/client/v3/sync?timeout={20_000 + next(self.numbers) % 10_000}"
        since = self.call("GET", path, headers=self.other)["next_batch"]

        def receive():
            nonlocal since
            answer = self.call("GET", f"{path}&since={since}", connection=connection, headers=self.other)
            since = answer["next_batch"]
            return json.dumps(answer).encode()

        return receive

    def upload(self, file):
        return curl(
            "-H", "Expect:", "-H", f"Authorization: {self.headers['Authorization']}", "-H",
            "Content-Type: video/mp4", "-X", "POST", "-T", file, f"{self.server.url}/_matrix/media/v3/upload")

    def stored(self):
        return int(self.database.run("SELECT count(*) FROM events WHERE type = 'm.room.message'"))
