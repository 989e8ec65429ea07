#!/usr/bin/env python3
"""Fails when a rule of the specifications is named by no test (H214).

The rules are those of HTTP (H), of the domain as far as the server is concerned (R), and the extensions
(X). A test names the rules it holds in one of these places, and nowhere else, so that a comment or a
passing word names nothing:

- a Swift test or suite, in parentheses at the end of its name:  func `… (H3, H46–H50)`
- or, in the rooms above HTTP, at the beginning of its name:     func `R19: …`
- a row of a table of cases, as its first argument:              HeadCase("H22", …)
- a golden exchange, at the end of its title:                    ### … (R67, 5.1.1)
- a shell check, at the beginning of its sentence:               holds 'H194: …'
- a Python check, at the end of its sentence:                    check("… (H216)")

Beside rules may stand sections (5.1.1) and rulings; X1.2 names X1. A range of more than eight rules
names none of them: it says nothing about any one.
"""

import pathlib
import re
import sys

WIDEST = 8

# Those that must be named, by their family.
RULES = {
    "H": range(1, 217),
    # Sections A to E, G and I to K.
    "R": [*range(1, 35), *range(40, 50), *range(50, 56), *range(70, 80), *range(90, 95), 100, 101, *range(110, 115)],
    "X": [2, 3, 4, 5, 6, 8, 9, 10, 12],
}

# Those that exist.
KNOWN = {
    "H": range(1, 217),
    "R": [*RULES["R"], *range(60, 66), *range(80, 87)],
    "X": range(1, 13),
}

# Marked "(internal)" in the specification: not to be seen from outside.
INTERNAL = {f"H{number}" for number in (5, 39, 59, 72, 85, 105, 179, 180)}

# Held by something other than a test that could name them, and by what.
OTHERWISE = {
    "H214": "this check itself",
}

# Of later issues, and what they wait for.
LATER = {
    "R112": "packets come with the WebSocket",
}

RULE = r"[HRX]\d+(?:[–-][HRX]?\d+|\.\d+)?"
LIST = rf"({RULE}(?:, {RULE})*)"
# In parentheses other things may stand beside rules.
ENDING = r"\(([^()]*)\)"
NAMED = "(?:func|struct|enum|class) `"
PLACES = {
    ".swift": [rf"{NAMED}[^`]*{ENDING}`", rf"{NAMED}{LIST}:? [^`]*`", rf"\b\w*Case\(\s*\"({RULE})\""],
    ".http": [rf"(?m)^### .*{ENDING}$"],
    ".sh": [rf"(?m)^(?:\w+=\S+ )?\s*holds '{LIST}: "],
    ".py": [rf"\bcheck\(\s*f?\"[^\"]*{ENDING}\""],
}


def rules(listed):
    """The rules in a list such as `H3, H46–H50, 5.1.1`."""
    for part in re.split(r", ?| and ", listed):
        if not re.fullmatch(RULE, part):
            continue
        family, numbers = part[0], [int(number) for number in re.findall(r"\d+", part)]
        first = numbers[0]
        last = first if "." in part or len(numbers) == 1 else numbers[1]
        if first > last or not {first, last} <= set(KNOWN[family]):
            sys.exit(f"({listed}) names a rule that does not exist")
        if last - first < WIDEST:
            yield from (f"{family}{number}" for number in range(first, last + 1))


def named(tests):
    """Every rule that a test names, with the files that do."""
    found = {}
    for file in sorted(tests.rglob("*")):
        for place in PLACES.get(file.suffix, []) if file.name != "rules.py" else []:
            for match in re.finditer(place, file.read_text()):
                for rule in rules(match[1]):
                    found.setdefault(rule, set()).add(file.name)
    return found


def main():
    found = named(pathlib.Path(__file__).resolve().parent.parent)
    excused = INTERNAL | OTHERWISE.keys() | LATER.keys()
    wanted = [f"{family}{number}" for family, numbers in RULES.items() for number in numbers]
    missing = [rule for rule in wanted if rule not in found and rule not in excused]
    needless = [rule for rule in [*OTHERWISE, *LATER] if rule in found]
    if needless:
        sys.exit("named by a test and excused all the same: " + ", ".join(needless))
    if missing:
        sys.exit("rules that no test names: " + ", ".join(missing))
    for family, numbers in RULES.items():
        print(f"{sum(f'{family}{number}' in found for number in numbers)} of {len(numbers)} rules {family}"
              " are named by tests")
    print(f"{len(INTERNAL - found.keys())} are internal, {len(OTHERWISE)} are held otherwise")
    for rule, reason in LATER.items():
        print(f"later: {rule}, {reason}")


if __name__ == "__main__":
    main()
