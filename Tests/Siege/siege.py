#!/usr/bin/env python3
"""Attacks the real binaries with slow, many, malformed and excessive clients, beside a normal one.

    siege.py --build .build/release          all of it, for some minutes (`make siege`)
    siege.py --build .build/debug --short    fewer clients, under a minute (`make test`)

Every scene starts its own server, attacks it, and checks afterwards that a normal request is answered and that
descriptors and memory are released. Figures are printed; goals for
memory and latency are asserted by the long siege only, because they mean nothing in a debug build on
a machine that is busy with other things.
"""

import argparse
import pathlib
import resource
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Benchmarks"))

import exhaustion
import flood
import idle
import layer
import malformed
import slow

SCENES = {
    "layer": layer, "malformed": malformed, "slow": slow, "flood": flood, "exhaustion": exhaustion,
    "idle": idle,
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, type=pathlib.Path, help="folder of the binaries")
    parser.add_argument("--short", action="store_true", help="fewer clients, nothing asserted about speed")
    parser.add_argument("--only", choices=SCENES)
    return parser.parse_args()


def main():
    options = arguments()
    options.build = options.build.resolve()
    # Ten thousand sockets on our side, too.
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory(prefix="parley-siege-") as folder:
        for name, scene in SCENES.items():
            if options.only in (None, name):
                began = time.monotonic()
                place = pathlib.Path(folder) / name
                place.mkdir()
                print(f"{name}:", flush=True)
                scene.run(options, place)
                print(f"  {time.monotonic() - began:.1f} s", flush=True)
    print("all scenes passed")


if __name__ == "__main__":
    main()
