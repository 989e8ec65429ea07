"""ejabberd, with its two kinds of conversations: messages between two users, and group chats."""

import itertools
import json
import pathlib
import re
import socket

from load import varied
from messengers import LIVE, MANY, TEXT, Database, Messenger, NoResult
from processes import Process, free_port
from transfers import curl
from xmpp import STREAM, Connection, GroupClient, PairClient, closed_loop

# The folder of the Debian package, which has the version in its name.
LIBRARIES = pathlib.Path("/usr/lib/x86_64-linux-gnu")
GROUPS = "conference.localhost"
# The user who receives live messages.
RECEIVER = "eve"
JSON = {"Content-Type": "application/json"}


class Ejabberd(Messenger):
    """ejabberd with messages between two users, each archived for both of them."""

    name = "ejabberd, two users"
    acknowledgement = ("committed in PostgreSQL, log synced, in the archives of the sender and of an offline recipient, "
                       "a commit for each; the answer is that of XEP-0198")
    upload_answer = "written, not synced"
    # Rows of the archive for each message.
    copies = 2

    def __init__(self, options, folder):
        super().__init__(options, folder)
        found = sorted(LIBRARIES.glob("ejabberd-*/ebin/ejabberd.app"))
        if not found: raise NoResult("not installed")
        self.version = "ejabberd " + re.search(r'{vsn,"([^"]+)"}', found[-1].read_text())[1]
        self.program, self.http_port = found[-1].parent, free_port()
        self.numbers = itertools.count()
        self.database = Database(folder)
        self.database.run(pathlib.Path("/usr/share/ejabberd/sql/pg.sql").read_text())
        (folder / "ejabberd.yml").write_text(json.dumps(self.settings()))

    def settings(self):
        """The settings; JSON is YAML."""
        listener = {"ip": "127.0.0.1"}
        return {
            "hosts": ["localhost"], "loglevel": "warning", "auth_method": "sql", "default_db": "sql",
            "sql_type": "pgsql", "sql_server": "127.0.0.1", "sql_port": self.database.port, "sql_database": "messages",
            "sql_username": "keeper", "sql_password": "sesame",
            "listen": [
                listener | {"port": self.port, "module": "ejabberd_c2s", "shaper": "none"},
                listener | {"port": self.http_port, "module": "ejabberd_http",
                            "request_handlers": {"/api": "mod_http_api", "/upload": "mod_http_upload"}},
            ],
            "acl": {"local": {"user_regexp": ""}}, "access_rules": {"local": {"allow": "local"}},
            "api_permissions": {"benchmark": {"who": {"ip": "127.0.0.1/32"}, "what": "*"}},
            "shaper_rules": {"max_user_sessions": 1000},
            "modules": {
                "mod_adhoc": {}, "mod_disco": {}, "mod_http_api": {}, "mod_muc_admin": {}, "mod_stream_mgmt": {},
                "mod_mam": {"default": "always"}, "mod_offline": {"use_mam_for_storage": True},
                "mod_muc": {"default_room_options": {"persistent": True, "mam": True}},
                "mod_http_upload": {
                    "docroot": f"{self.folder}/uploads", "max_size": 1 << 30,
                    "put_url": f"http://127.0.0.1:{self.http_port}/upload"},
            },
        }

    def launch(self):
        """Runs Erlang without the script of the package, which needs root and leaves a name server behind."""
        return Process(
            ["erl", "-noinput", "-mnesia", "dir", f'"{self.folder}/mnesia"', "-s", "ejabberd"], self.folder, self.port,
            {"ERL_LIBS": str(LIBRARIES), "EJABBERD_CONFIG_PATH": f"{self.folder}/ejabberd.yml",
             "EJABBERD_LOG_PATH": f"{self.folder}/ejabberd.log", "ERL_CRASH_DUMP": f"{self.folder}/crash.dump"},
            within=120)

    def is_ready(self):
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=5) as client:
                client.sendall(STREAM.encode())
                received = b""
                while b"</stream:features>" not in received:
                    received += (data := client.recv(65536))
                    if not data: return False
                return True
        except OSError:
            return False

    def api(self, command, **arguments):
        status, answer = self.api_server().request("POST", f"/api/{command}", json.dumps(arguments), JSON)
        if status != 200: raise NoResult(f"failed: {command}: {status} {answer[:200]!r}")

    def api_server(self):
        return HTTPListener(self.server, self.http_port)

    def prepare(self):
        for user in ("bo", RECEIVER, *(f"u{number}" for number in range(MANY + 1))):
            self.api("register", user=user, host="localhost", password="sesame")

    # A conversation is that of the user u0, u1 … with bo, and the live one is with another user, who has no older
    # messages that arrive first.

    def client(self, conversation, number=0):
        other = RECEIVER if conversation == LIVE else "bo"
        return PairClient(self.port, f"u{conversation}", f"r{number}", f"{other}@localhost")

    def receiver(self, conversation):
        """Returns a function that blocks until bytes arrive for the other user."""
        client = Connection(self.port, RECEIVER, "receiver")
        client.write("<presence/>")
        client.read_until(b"<presence")
        return lambda: client.socket.recv(65536)

    def send(self, connections, seconds, conversations=MANY):
        clients = [self.client(number % conversations, number) for number in range(connections)]
        return closed_loop(self.server, clients, seconds, lambda client: client.next_message(
            TEXT.replace("{n}", str(next(self.numbers)))))

    def list(self, connections, seconds):
        clients = [self.client(0, number) for number in range(connections)]
        count = clients[0].ask(*clients[0].query("")).count(b"<result ")
        if count != 100: raise NoResult(f"failed: {count} messages in a list instead of 100")
        return closed_loop(self.server, clients, seconds, lambda client: client.query(""))

    def create(self, connections, seconds):
        raise NoResult("none is needed")

    def all_texts(self, conversation):
        """The texts of all archived messages of a conversation, page by page, newest first."""
        client, found, before = self.client(conversation), [], ""
        while True:
            page = client.ask(*client.query(before)).decode()
            found += re.findall(r"<body>([^<]*)</body>", page)
            first = re.search(r"<first[^>]*>([^<]+)</first>", page)
            if first is None or "complete='true'" in page: break
            before = first[1]
        client.close()
        return found

    def upload(self, file):
        client = Connection(self.port, "bo", f"upload{next(self.numbers)}")
        answer = client.ask(
            f"<iq type='get' id='slot' to='upload.localhost'><request xmlns='urn:xmpp:http:upload:0' "
            f"filename='file' size='{file.stat().st_size}' content-type='video/mp4'/></iq>", b"</iq>").decode()
        client.close()
        url = re.search(r"<put url='([^']+)'", answer)
        if url is None: raise NoResult(f"failed: {answer[:200]}")
        return curl("-H", "Expect:", "-H", "Content-Type: video/mp4", "-T", file, url[1])

    def stored(self):
        return int(self.database.run("SELECT count(*) FROM archive")) // self.copies


class EjabberdGroups(Ejabberd):
    """ejabberd with persistent group chats, each with two members, archived once."""

    name = "ejabberd, group chats"
    acknowledgement = ("committed in PostgreSQL, log synced, in the archive of the group, a commit for each message; the "
                       "answer is the message that the group sends back")
    copies = 1

    def prepare(self):
        super().prepare()
        for number in range(MANY + 1):
            self.api("create_room_with_opts", **self.group(f"c{number}"))
            for user, affiliation in ((f"u{number}", "owner"), ("bo", "member"), (RECEIVER, "member")):
                self.api("set_room_affiliation", name=f"c{number}", service=GROUPS, jid=f"{user}@localhost",
                         affiliation=affiliation)

    def group(self, name):
        """The arguments that create a group without members; this version adds each of them by another command."""
        options = [{"name": name, "value": "true"} for name in ("persistent", "mam", "members_only")]
        return {"name": name, "service": GROUPS, "host": "localhost", "options": options}

    def client(self, conversation, number=0):
        return GroupClient(self.port, f"u{conversation}", f"r{number}", f"c{conversation}@{GROUPS}")

    def receiver(self, conversation):
        client = GroupClient(self.port, RECEIVER, "receiver", f"c{conversation}@{GROUPS}")
        return lambda: client.socket.recv(65536)

    def send(self, connections, seconds, conversations=MANY):
        if connections > conversations:
            raise NoResult("not comparable: each connection would receive all messages")
        return super().send(connections, seconds, conversations)

    def create(self, connections, seconds):
        body = json.dumps(self.group(f"{next(self.numbers)}-{{x}}"))
        return varied(
            self.api_server(), "POST", "/api/create_room_with_opts", connections, seconds, JSON, body)


class HTTPListener:
    """The HTTP port of a server whose main port is another one."""

    def __init__(self, server, port):
        self.port, self.url, self.process = port, f"http://127.0.0.1:{port}", server.process
        self.cpu_seconds, self.scheme = server.cpu_seconds, "http"
        self.request = lambda *arguments: Process.request(self, *arguments)
