"""The client library ParleyKit: catching up, opening a store, reading, sending, delivering, and doing nothing.

A conversation of two users has a tenth of the messages of `--size`. One client receives all of them from nothing; then its
store is opened and read. Deliveries go from `send` of one client to a set of a live query of another one, both in one
process, over the server.
"""

import subprocess

from messages import create_conversation, fill_messages
from processes import APPLICATION, parley


def measure(options, folder, table):
    with parley(options, folder, PARLEY_API_DEV_LOGIN="true") as server:
        fill_messages(server, create_conversation(server), options.size // 10)
        for command, count in (("catch-up", 0), ("store", 0), ("send", 2000), ("deliver", 200), ("idle", 10)):
            output = subprocess.run(
                [options.build / "parleykit-bench", command, f"http://127.0.0.1:{server.port}", APPLICATION,
                 folder / "stores", str(count)], check=True, capture_output=True, text=True).stdout
            for line in output.splitlines():
                name, value = line.split("\t")
                table.add_text(f"ParleyKit: {name}", value)
