#!/usr/bin/env python3
"""Fails when a rule of the HTTP specification is named by no test (H214).

A test names the rules it holds in one of these places, and nowhere else, so that a comment or a
passing word names nothing:

- a Swift test or suite, in parentheses at the end of its name:  func `… (H3, H46–H50)`
- or, in the rooms above HTTP, at the beginning of its name:     func `H197 …`
- a row of a table of cases, as its first argument:              HeadCase("H22", …)
- a golden exchange, at the end of its title:                    ### … (H67)
- a shell check, at the beginning of its sentence:               holds 'H194: …'
- a Python check, at the end of its sentence:                    check("… (H216)")

A range of more than eight rules names none of them: it says nothing about any one.
"""

import pathlib
import re
import sys

LAST = 216
WIDEST = 8

# Marked "(internal)" in the specification: not to be seen from outside.
INTERNAL = {5, 39, 59, 72, 85, 105, 179, 180}

# Held by something other than a test that could name them, and by what.
OTHERWISE = {
    214: "this check itself",
}

RULE = r"H\d+(?:[–-]H?\d+)?"
LIST = rf"({RULE}(?:, {RULE})*)"
NAMED = "(?:func|struct|enum|class) `"
PLACES = {
    ".swift": [rf"{NAMED}[^`]*\({LIST}\)`", rf"{NAMED}{LIST} [^`]*`", r"\b\w*Case\(\s*\"(H\d+)\""],
    ".http": [rf"(?m)^### .*\({LIST}\)$"],
    ".sh": [rf"(?m)^(?:\w+=\S+ )?\s*holds '{LIST}: "],
    ".py": [rf"\bcheck\(\s*f?\"[^\"]*\({LIST}\)\""],
}


def numbers(listed):
    """The rules in a list such as `H3, H46–H50`."""
    for part in listed.split(", "):
        first, *rest = (int(number) for number in re.findall(r"\d+", part))
        last = rest[0] if rest else first
        if not 1 <= first <= last <= LAST:
            sys.exit(f"({listed}) names a rule that does not exist")
        if last - first < WIDEST:
            yield from range(first, last + 1)


def named(tests):
    """Every rule that a test names, with the files that do."""
    found = {}
    for file in sorted(tests.rglob("*")):
        for place in PLACES.get(file.suffix, []) if file.name != "rules.py" else []:
            for match in re.finditer(place, file.read_text()):
                for number in numbers(match[1]):
                    found.setdefault(number, set()).add(file.name)
    return found


def main():
    found = named(pathlib.Path(__file__).resolve().parent.parent)
    missing = [
        number for number in range(1, LAST + 1)
        if number not in found and number not in INTERNAL and number not in OTHERWISE]
    needless = [number for number in OTHERWISE if number in found]
    if needless:
        sys.exit("named by a test and excused all the same: " + ", ".join(f"H{n}" for n in needless))
    if missing:
        sys.exit("rules that no test names: " + ", ".join(f"H{number}" for number in missing))
    print(f"{len(found)} of {LAST} rules are named by tests; {len(INTERNAL - found.keys())} are internal,"
          f" {len(OTHERWISE)} are held otherwise")


if __name__ == "__main__":
    main()
