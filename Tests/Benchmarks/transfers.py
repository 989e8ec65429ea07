"""A large file up and down: Parley, which syncs before it answers, against nginx, which does not."""

import json
import os
import random
import statistics
import subprocess

from messages import HEADERS, post
from processes import APPLICATION, nginx, parley

LOCATIONS = "location / { dav_methods PUT DELETE; create_full_put_path on; }"


def measure(options, folder, table):
    film = folder / "film"
    with open(film, "wb") as file:
        for _ in range(-(-options.bytes // (1 << 20))):
            file.write(RANDOM)
        file.truncate(options.bytes)
    with parley(options, folder) as ours, nginx(folder, LOCATIONS) as theirs:
        rounds(options, folder, table, film, ours, theirs)


def rounds(options, folder, table, film, ours, theirs):
    draft = {"participants": ["ana"], "distinct": False}
    chat = post(ours, f"/apps/{APPLICATION}/conversations", draft)["id"].rsplit("/", 1)[1]
    place = f"/apps/{APPLICATION}/conversations/{chat}/content"
    up, cold, warm = ([], []), ([], []), ([], [])
    for number in range(options.rounds):
        headers = HEADERS | {
            "Upload-Content-Type": "video/mp4", "Upload-Content-Length": str(options.bytes)}
        content = json.loads(ours.request("POST", place, "{}", headers)[1])
        up[0].append(curl("-T", film, content["upload_url"]))
        up[1].append(curl("-T", film, f"{theirs.url}/film-{number}"))
        path = f"{place}/{content['id'].rsplit('/', 1)[1]}"
        content = json.loads(ours.request("GET", path, headers=HEADERS)[1])
        # nginx leaves what it stored in memory and we do not, so both are measured both ways.
        evict(folder)
        for down in (cold, warm):
            down[0].append(curl(content["download_url"]))
            down[1].append(curl(f"{theirs.url}/film-{number}"))
        theirs.request("DELETE", f"/film-{number}")
    megabytes = options.bytes / 1e6
    for what, seconds in (("up", up), ("down from the disk", cold), ("down from memory", warm)):
        speeds = [[megabytes / second for second in server] for server in seconds]
        ratio = statistics.median(a / b for a, b in zip(*speeds))
        table.say(
            f"{megabytes:,.0f} MB {what}", *(f"{statistics.median(speed):,.0f} MB/s" for speed in speeds),
            f"**{ratio:.2f}**")
    table.say("Peak memory of that", *(f"{server.memory('VmHWM') / 1024:.0f} MiB" for server in (ours, theirs)))


def evict(folder):
    """Writes back and drops what the system holds in memory of the files below a folder."""
    for file in folder.rglob("*"):
        if file.is_file():
            descriptor = os.open(file, os.O_RDONLY)
            os.fsync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


def curl(*arguments):
    """Seconds of one transfer; an answer that is no success stops the benchmark."""
    command = ["curl", "-sS", "--fail", "-o", "/dev/null", "-w", "%{time_total}", *map(str, arguments)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


RANDOM = random.Random(1).randbytes(1 << 20)
