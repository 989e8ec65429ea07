"""`parley chat` on a full disk: a small file system in memory.

What was shown before the disk was full arrives once and in order; what does not fit is refused with an error; a client that
is killed and started on the full disk ends with an error or works; and once space is free, everything continues.
Mounting the file system requires root; without root the test is skipped with a message.

usage: chat_disk.py BINARY
"""

import pathlib
import sys

tests = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(tests / "Crash"), str(tests / "Commands")]
from chat import PATIENCE, Chat, messages
from server import serving
from small_disk import MIB, Disk

# More lines than fit.
MOST_LINES = 5000


def send(chat, number):
    """Writes a line; returns whether it was stored."""
    chat.written.append(f"line {number}")
    chat.write(f"line {number}")
    found = chat.wait_for(rf"^\d+ {chat.user}: line {number}(  |$)|^! .*disk is full")
    return not found[0].startswith("!")


def fill(chat):
    for number in range(1, MOST_LINES):
        if not send(chat, number):
            return number
    raise SystemExit("the disk was never full")


def run(binary, disk, server):
    chat = Chat(binary, server, "ana", disk.path)
    chat.start()
    chat.wait_for(r"^\* connected$")
    chat.write("/new bo")
    chat.write("/offline")
    chat.wait_for(r"^\* offline$")
    full = fill(chat)
    # It still works, and still refuses.
    chat.write("/queue")
    chat.wait_for(r"^\* \d+ messages wait to be sent$")
    chat.kill()
    chat.start()
    chat.write("/quit")
    code = chat.process.wait(timeout=PATIENCE)
    assert code >= 0, f"the client ended by signal {-code} on a full disk"

    disk.free_space()
    chat.start()
    chat.write("/new bo")
    chat.wait_for(r"^\* connected$")
    assert send(chat, full + 1), "the disk is still full"
    while True:
        chat.write("/queue")
        if chat.wait_for(r"^\* (\d+) messages wait to be sent$")[1] == "0":
            break
    chat.quit()
    arrived = [text for _, text in messages(server)]
    assert arrived == sorted(set(arrived), key=arrived.index), f"lines arrived twice: {arrived}"
    assert set(chat.shown) <= set(arrived), f"lines are lost: {set(chat.shown) - set(arrived)}"
    assert arrived == [line for line in chat.written if line in arrived], f"another order: {arrived}"
    assert f"line {full + 1}" in arrived
    print(f"chat: full disk after {full - 1} lines; {len(arrived)} arrived")


def main():
    try:
        disk = Disk(6 * MIB, 4 * MIB)
    except PermissionError as error:
        print(f"chat: the test of a full disk is skipped, because no file system can be mounted: {error}")
        return
    try:
        with serving(sys.argv[1], settings={"PARLEY_API_DEV_LOGIN": "true"}) as server:
            server.start()
            run(sys.argv[1], disk, server)
    finally:
        disk.close()


main()
