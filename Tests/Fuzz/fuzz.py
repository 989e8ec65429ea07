#!/usr/bin/env python3
"""Fuzzes the parsers with libFuzzer and the address sanitizer (H215).

    fuzz.py --build                     builds the driver and nothing else
    fuzz.py --seconds 600               shares ten minutes between all targets
    fuzz.py --target json --seconds 60  fuzzes one target
    fuzz.py --runs 20000                tries 20,000 inputs for each target, the same ones every time

Each line of `Seeds/<target>.txt` is a seed with the escapes of Python's byte literals; a lone `\\x` is the empty
input. An input that violates an invariant is added to the file, so that later runs try it first.
"""

import argparse
import ast
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
SCRATCH = REPOSITORY / ".build" / "fuzz"
DRIVER = SCRATCH / "release" / "parley-fuzz"
# The longest time for one input; a slower one is a failure.
SECONDS_PER_INPUT = 5


def build():
    """Builds the driver and its modules with coverage, and links them with libFuzzer, but with the driver's `main`."""
    resources = pathlib.Path(subprocess.run(
        ["swiftc", "-print-target-info"], capture_output=True, text=True, check=True
    ).stdout.split('"runtimeResourcePath": "')[1].split('"')[0]).parent
    archives = sorted(resources.glob(f"clang/*/lib/linux/libclang_rt.fuzzer_no_main-{os.uname().machine}.a"))
    if not archives:
        sys.exit("this toolchain has no libFuzzer")
    subprocess.run(
        ["swift", "build", "-c", "release", "--product", "parley-fuzz", "--scratch-path", SCRATCH,
         "--sanitize", "address", "-Xswiftc", "-enable-testing",
         "-Xswiftc", "-sanitize-coverage=edge,trace-cmp,inline-8bit-counters,pc-table",
         "-Xlinker", archives[-1], "-Xlinker", "-lstdc++"],
        cwd=REPOSITORY, env=os.environ | {"PARLEY_FUZZ": "1"}, check=True)


def targets():
    """The names of the targets, which the driver prints when it gets none."""
    output = subprocess.run([DRIVER], capture_output=True, text=True, env=environment())
    return output.stdout.split()


def environment():
    return os.environ | {"ASAN_OPTIONS": "detect_leaks=0", "SWIFT_BACKTRACE": "enable=no"}


def seeds(target):
    """Yields the seeds of a target as bytes."""
    for number, line in enumerate((HERE / "Seeds" / f"{target}.txt").read_text().splitlines(), 1):
        if line == "\\x":
            yield b""
        elif line and not line.startswith("#"):
            try:
                yield ast.literal_eval('b"' + line.replace('"', '\\x22') + '"')
            except (SyntaxError, ValueError) as error:
                sys.exit(f"{target}.txt:{number}: {error}")


def add_seed(target, found):
    """Adds an input that violated an invariant to the seeds, unless it is one."""
    if found in seeds(target):
        print(f"already a seed of {target}: {found!r}")
        return
    line = repr(found)[2:-1].replace("\\'", "'") if found else "\\x"
    line = line if not line.startswith("#") else "\\x23" + line[1:]
    with open(HERE / "Seeds" / f"{target}.txt", "a") as file:
        file.write(line + "\n")
    print(f"added to the seeds of {target}: {line}")


def run(target, options, seconds):
    """Fuzzes one target; true if no input violated an invariant."""
    with tempfile.TemporaryDirectory(prefix="parley-fuzz-") as folder:
        corpus = pathlib.Path(folder) / "corpus"
        corpus.mkdir()
        for number, seed in enumerate(seeds(target)):
            (corpus / f"seed-{number:04}").write_bytes(seed)
        budget = f"-runs={options.runs}" if options.runs else f"-max_total_time={seconds}"
        command = [
            DRIVER, f"--target={target}", budget, f"-seed={options.seed}", "-max_len=2048", "-print_final_stats=1",
            f"-timeout={SECONDS_PER_INPUT}", "-rss_limit_mb=2048", f"-artifact_prefix={folder}/found-", corpus]
        ended = subprocess.run(command, capture_output=True, text=True, errors="replace", env=environment())
        output = ended.stderr
        figures = {name: value for name, value in re.findall(r"stat::(\w+):\s+(\d+)", output)}
        coverage = (re.findall(r"cov: (\d+)", output) or ["?"])[-1]
        print(f"{target}: {figures.get('number_of_executed_units', '?')} inputs, "
              f"{figures.get('average_exec_per_sec', '?')}/s, {coverage} edges", flush=True)
        if ended.returncode == 0:
            return True
        print(output[-6000:])
        for found in sorted(pathlib.Path(folder).glob("found-*")):
            add_seed(target, found.read_bytes())
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", action="store_true", help="build the driver and nothing else")
    parser.add_argument("--target", action="append", help="this target, instead of all of them")
    parser.add_argument("--seconds", type=int, default=60, help="time for all targets together")
    parser.add_argument("--runs", type=int, help="inputs for each target, instead of a time")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random numbers")
    options = parser.parse_args()
    build()
    if options.build:
        return
    chosen = options.target or targets()
    unknown = [target for target in chosen if target not in targets()]
    if unknown:
        sys.exit(f"no such target: {', '.join(unknown)}; there are {', '.join(targets())}")
    unpaired = {file.stem for file in (HERE / "Seeds").glob("*.txt")} ^ set(targets())
    if unpaired:
        sys.exit(f"seeds without a target, or a target without seeds: {', '.join(sorted(unpaired))}")
    passed = [run(target, options, max(1, options.seconds // len(chosen))) for target in chosen]
    if not all(passed):
        sys.exit("an invariant was violated; its input is a seed now: fix the code, and commit both")


if __name__ == "__main__":
    main()
