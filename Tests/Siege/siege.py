#!/usr/bin/env python3
"""Attacks the binaries with slow, malformed and very many clients, while a normal client sends requests.

    siege.py --build .build/release          all attacks, several minutes (`make siege`)
    siege.py --build .build/debug --short    fewer clients, under a minute (`make test`)

Every attack starts its own server, and then checks that normal requests are answered and that descriptors and
memory are released. Figures are printed; goals for memory and latency are asserted by the long run only,
because they mean nothing in a debug build on a busy machine.
"""

import argparse
import pathlib
import resource
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Benchmarks"))

import devices
import exhaustion
import flood
import idle
import layer
import malformed
import slow

ATTACKS = {
    "layer": layer, "malformed": malformed, "slow": slow, "flood": flood, "exhaustion": exhaustion,
    "idle": idle, "devices": devices,
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, type=pathlib.Path, help="folder of the binaries")
    parser.add_argument("--short", action="store_true", help="fewer clients, nothing asserted about speed")
    parser.add_argument("--only", choices=ATTACKS)
    return parser.parse_args()


def main():
    options = arguments()
    options.build = options.build.resolve()
    # The clients need as many descriptors as the server.
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory(prefix="parley-siege-") as folder:
        for name, attack in ATTACKS.items():
            if options.only in (None, name):
                began = time.monotonic()
                path = pathlib.Path(folder) / name
                path.mkdir()
                print(f"{name}:", flush=True)
                attack.run(options, path)
                print(f"  {time.monotonic() - began:.1f} s", flush=True)
    print("all attacks passed")


if __name__ == "__main__":
    main()
