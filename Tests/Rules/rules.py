#!/usr/bin/env python3
"""Checks the rules and their citations (H214). It runs in seconds and builds nothing.

The rules are in the DocC articles listed in ARTICLES. This script fails when

1. a rule, ruling or section that is cited in Sources, Tests, Config, docker, README or Makefile does not exist,
2. a rule that can be observed from outside is named by no test, and TO_BE_TESTED gives no reason,
3. a rule article states a default of a setting that differs from the table in Settings.md,
4. a link such as `<doc:Rules>` names no article of its module, or no article links to a rule article,
5. a table of errors (platform-api §2.2, or the guide Errors) and the errors that the server answers differ,
6. an article or the README names a test in backticks that does not exist (`RouterTests`), or a path below Sources
   or Tests.

An article declares a rule at the start of a paragraph or bullet: `**H41.**`, `**R7.**`, `**X1.2.**`,
`**Ruling 20.**`, and a section by a heading that starts with its number: `## 1.6 Order of checks`. A rule whose
text, or the text above the rules of its section, says "(internal)" or "Not implemented yet" needs no test. The
third item of a numbered list or table of section 1.9 is section 1.9.3.

A citation is `H41`, `H46–H50`, `X1.2` (in the name of a Swift function `X1_2`), `ruling 20`, `rulings 12, 13`, or
a section with its document: `platform-api §1.6`, `webhooks §1.2`, `uploads §11.4`. In the folders of BARE the
document may be left out: `§11.4`.

A test names the rules it checks in one of these places, and nowhere else:

- a Swift test or suite, in parentheses at the end of its name:  func `… (H3, H46–H50)`
- or, in the modules above HTTP, at the start of its name:       func `R19: …`
- a row of a table of cases, as its first argument:              HeadCase("H22", …)
- a golden exchange, at the end of its title:                    ### … (R67, 5.1.1)
- a shell check, at the start of its sentence:                   check 'H194: …'
- a Python check, at the end of its sentence:                    check("… (H216)")

In these places a section may be cited beside rules without `§` (5.1.1). A range of more than WIDEST rules counts
as naming none of them.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# The most rules that a test may name by one range.
WIDEST = 8

# The rule articles, by the name that citations use. A missing one is an error.
ARTICLES = {
    "http": "Sources/HTTP/HTTP.docc/Rules.md",
    "semantics": "Sources/Messaging/Messaging.docc/Rules.md",
    "extensions": "Sources/ParleyServer/ParleyServer.docc/Extensions.md",
    "parleykit": "Sources/ParleyKit/ParleyKit.docc/Rules.md",
    "uploads": "Sources/Uploads/Uploads.docc/Rules.md",
    "webhooks": "Sources/Readers/Readers.docc/Rules.md",
    "client-api": "Sources/PlatformAPI/PlatformAPI.docc/ClientRules.md",
    "platform-api": "Sources/PlatformAPI/PlatformAPI.docc/Rules.md",
}

# The article with the table of all settings.
SETTINGS = "Sources/ParleyServer/ParleyServer.docc/Settings.md"

# The articles with a table of all errors.
ERRORS = {
    "platform-api §2.2": ARTICLES["platform-api"],
    "the article Errors": "Sources/ParleyServer/ParleyServer.docc/Errors.md",
}

# The article that declares a family of rules.
FAMILIES = {"H": "http", "R": "semantics", "X": "extensions", "Y": "extensions", "K": "parleykit",
            "Ruling ": "semantics"}

# Folders in which `§11.4` without a document cites a section of this one.
BARE = {
    "Sources/Uploads/": "uploads",
    "Sources/UploadClient/": "uploads",
    "Sources/ObjectStore/": "uploads",
    "Sources/Blobs/": "uploads",
    "Tests/UploadsTests/": "uploads",
    "Tests/ObjectStoreTests/": "uploads",
    "Tests/Interop/": "uploads",
}

# Rules that no test can name, and what checks them instead.
CHECKED_ELSEWHERE = {
    "H214": "this check itself",
}

# Rules that the code follows and a test has still to name. A rule that a test names is removed here.
TO_BE_TESTED = {}

# Names that look like a rule.
NO_RULES = {"X25519", "X509"}

# Standards whose sections are cited with § and not resolved here.
STANDARD = r"RFC \d+|HTML|PROXY protocol|Trace Context(?: level \d)?"

SUFFIXES = {".swift", ".md", ".http", ".sh", ".py", ".h", ".json", ".yaml", ".conf", ".lua", ""}
FOLDERS = ["Sources", "Tests", "Config", "docker"]
FILES = ["README.md", "Makefile"]

RULE = r"[HRXYK]\d+(?:[–-][HRXYK]?\d+|[._]\d+)?"
SECTION = r"\d+(?:\.\d+)+"
LIST = rf"({RULE}(?:, {RULE})*)"
# After platform-api, client-api and webhooks the § may be left out; there N.0 is a version, not a section.
SECTIONS = (
    rf"(?:\b({'|'.join(ARTICLES)}) +§ ?|\b(platform-api|client-api|webhooks) +(?!\d+\.0\b)"
    rf"|({STANDARD}),? +§ ?|§ ?)(\d+(?:\.\d+)*)"
)
# The parentheses that end a name; beside rules they may contain other texts.
ENDING = r"\(([^()]*)\)"
NAMED = "(?:func|struct|enum|class) `"
# The patterns of the places in which a test names rules, by the suffix of its file.
PLACES = {
    ".swift": [rf"{NAMED}[^`]*{ENDING}`", rf"{NAMED}{LIST}:? [^`]*`", rf"\b\w*Case\(\s*\"({RULE})\""],
    ".http": [rf"(?m)^### .*{ENDING}$"],
    ".sh": [rf"(?m)^(?:\w+=\S+ )?\s*check '{LIST}: "],
    ".py": [rf"\bcheck\(\s*f?\"[^\"]*{ENDING}\""],
}


class Article:
    """The rules and sections that an article declares."""

    def __init__(self, path):
        text = (ROOT / path).read_text()
        self.path = path
        self.sections = set()
        section = None
        for line in text.splitlines():
            if heading := re.match(r"#{2,6} (?:(\d+(?:\.\d+)*)[. ])?", line):
                section = heading[1]
                self.sections.add(section)
            elif section and (item := re.match(r"(?:[-*] )?(?:\*\*)?(\d+)\. |\| (\d+) \|", line)):
                self.sections.add(f"{section}.{item[1] or item[2]}")
        self.rules, self.untested = [], set()
        # Whether no rule has followed the last heading yet, and whether the text above its rules exempts all of them.
        is_introduction = whole_section = False
        for block in re.split(r"\n(?=\s*(?:[-*] )?\*\*|#+ )|\n\n", text):
            declared = re.match(r"\s*(?:[-*] )?\*\*((?:[HRXYK]|Ruling )\d+(?:\.\d+)?)\.\*\*", block)
            is_untested = "(internal)" in block or "not implemented yet" in block.lower()
            if declared:
                is_introduction = False
                self.rules.append(declared[1])
                if is_untested or whole_section:
                    self.untested.add(declared[1])
            elif block.lstrip().startswith("#"):
                is_introduction, whole_section = True, False
            elif is_introduction and is_untested:
                whole_section = True
        twice = {rule for rule in self.rules if self.rules.count(rule) > 1}
        if twice:
            sys.exit(f"{path} declares twice: {', '.join(sorted(twice))}")


class Citations:
    """Counts the citations that name a rule or section, and collects messages about the others."""

    def __init__(self, articles):
        self.articles = articles
        self.rules = {rule for article in articles.values() for rule in article.rules}
        self.resolved = 0
        self.wrong = []

    def check(self, found, document, place):
        """Records whether a document has a cited rule, ruling or section (`§1.6`)."""
        sections = self.articles[document].sections
        if found in self.rules or found.startswith("§") and found[1:] in sections:
            self.resolved += 1
        else:
            self.wrong.append(f"{place}: {document} has no {found}")

    def read(self, path):
        """Checks every citation in a file."""
        name = str(path.relative_to(ROOT))
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            return
        # Joins lines, for citations that continue on the next line of a comment; all offsets stay the same.
        flat = re.sub(r"\n[ \t]*(?:///?|#|\*)?[ \t]*", lambda match: " " * len(match[0]), text)

        def place(match):
            return f"{name}:{text.count(chr(10), 0, match.start()) + 1}"

        for match in re.finditer(rf"\b{RULE}\b", flat):
            if match[0] not in NO_RULES:
                for rule in members(match[0]):
                    self.check(rule, FAMILIES[rule[0]], place(match))
        for match in re.finditer(r"\b[Rr]ulings? +(\d+(?:(?:, +| and +|–| to +)\d+(?!\.?\d))*)", flat):
            numbers = [int(number) for number in re.findall(r"\d+", match[1])]
            if re.search("–|to", match[1]):
                numbers = range(numbers[0], numbers[-1] + 1)
            for number in numbers:
                self.check(f"Ruling {number}", FAMILIES["Ruling "], place(match))
        self.read_sections(flat, name, place)

    def read_sections(self, flat, name, place):
        own = {path: document for document, path in ARTICLES.items()}
        bare = own.get(name) or next(
            (document for folder, document in BARE.items() if name.startswith(folder)), None)
        last, end = None, 0
        for match in re.finditer(SECTIONS, flat):
            if match[1] or match[2]:
                document = match[1] or match[2]
            elif match[3]:
                document = "standard"
            elif last and re.fullmatch(r"[ ,;–-]*(?:and|or|to)? *", flat[end:match.start()]):
                document = last
            else:
                document = bare
            last, end = document, match.end()
            if document is None:
                self.wrong.append(f"{place(match)}: {match[0]} is of no named document")
            elif document != "standard":
                self.check("§" + match[4], document, place(match))


def members(cited):
    """The rules in `H3`, `H46–H50`, `X1.2` or `X1_2`."""
    family, numbers = cited[0], [int(number) for number in re.findall(r"\d+", cited)]
    if len(numbers) == 1:
        return [cited]
    if re.search(r"[._]", cited):
        return [f"{family}{numbers[0]}.{numbers[1]}"]
    if numbers[0] > numbers[1]:
        sys.exit(f"{cited} is no range")
    return [f"{family}{number}" for number in range(numbers[0], numbers[1] + 1)]


def named(citations):
    """The names of the files that name each rule; sections that they name beside rules are checked."""
    found = {}
    for path in sorted((ROOT / "Tests").rglob("*")):
        for pattern in PLACES.get(path.suffix, []) if path.name != "rules.py" else []:
            text = path.read_text()
            for match in re.finditer(pattern, text):
                for part in re.split(r", ?| and ", match[1]):
                    place = f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}"
                    if re.fullmatch(RULE, part):
                        rules = members(part)
                        if len(rules) <= WIDEST:
                            for rule in [*rules, *(rule.split(".")[0] for rule in rules)]:
                                found.setdefault(rule, set()).add(path.name)
                    elif re.fullmatch(SECTION, part):
                        check_section(part, citations, place)
    return found


def check_section(number, citations, place):
    """Checks that some article has a section, because a section beside rules names no document."""
    if any(number in article.sections for article in citations.articles.values()):
        citations.resolved += 1
    else:
        citations.wrong.append(f"{place}: no article has a section {number}")


def wrong_links(articles):
    """Messages about links to articles that do not exist, and about rule articles without a link."""
    linked = set()
    for path in sorted(ROOT.glob("Sources/*/*.docc/*.md")):
        for name in re.findall(r"<doc:([^>#]+)", path.read_text()):
            target = path.with_name(f"{name}.md")
            linked.add(str(target.relative_to(ROOT)))
            if not target.exists():
                yield f"{path.relative_to(ROOT)}: there is no article {name}"
    for article in articles.values():
        if article.path not in linked:
            yield f"{article.path} is linked from no article"


UNITS = {
    "": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "ms": 1, "s": 1000, "m": 60_000, "min": 60_000,
    "h": 3_600_000, "d": 86_400_000, "days": 86_400_000,
}


def amount(text):
    """A default as a number of bytes or milliseconds (`8 KiB`, `1m`, `60 s`), else as text."""
    quantity = re.match(r"`?(\d[\d,]*)`? ?([A-Za-z]*)", text)
    if quantity is None:
        return text.strip("` ")
    return int(quantity[1].replace(",", "")) * UNITS.get(quantity[2], 1)


def wrong_defaults(articles):
    """Messages about defaults in articles that differ from the table of settings in the article Settings."""
    row = r"(?m)^\| `([a-z0-9]+\.[a-z0-9_]+)` \| ([^|]*) \|"
    table = (ROOT / SETTINGS).read_text()
    defaults = {match[1]: match[2] for match in re.finditer(row + " `PARLEY", table)}
    if not defaults:
        yield f"{SETTINGS} has no table of settings"
    groups = {name.split(".")[0] for name in defaults}
    for article in articles.values():
        text = (ROOT / article.path).read_text()
        stated = [*re.finditer(row, text), *re.finditer(r"`\[([a-z0-9]+\.[a-z0-9_]+) = ([^\]]*)\]`", text)]
        for match in stated:
            default = defaults.get(match[1])
            if default is None and match[1].split(".")[0] in groups:
                yield f"{article.path}: {match[1]} is no setting of {SETTINGS}"
            # `none` in the table: the default depends on other things, which the article may state.
            elif default not in (None, "none") and amount(default) != amount(match[2]):
                yield f"{article.path}: {match[1]} = {match[2]}, {SETTINGS} has {default}"


def wrong_errors():
    """Messages about errors whose code, id or status differ between the source and a table of ERRORS."""
    source = (ROOT / "Sources/MessagingWire/Error/APIErrorKind.swift").read_text()
    answered = {(code, name, status) for name, code, status in
                re.findall(r'case \.\w+: \("(\w+)", (\d+), (\d+)\)', source)}
    if not answered:
        yield "no errors were found in the code"
    for place, path in ERRORS.items():
        # A row may list several statuses; only the first is in the source's table of errors.
        rows = re.findall(r"(?m)^\| (\d+) \| `(\w+)` \| (\d+)[ ,]", (ROOT / path).read_text())
        twice = {code for code, *_ in rows if [row[0] for row in rows].count(code) > 1}
        for code in sorted(twice, key=int):
            yield f"{place} has the error {code} twice"
        for error in sorted(answered ^ set(rows), key=lambda error: int(error[0])):
            difference = f"{place} lacks" if error in answered else f"no code answers, but {place} has,"
            yield f"{difference} the error {' '.join(error)}"


def missing_names():
    """Messages about tests and paths that an article or the README names and that do not exist."""
    sources = [path for path in (ROOT / "Tests").rglob("*") if path.is_dir() or path.suffix == ".swift"]
    known = {path.stem for path in sources}
    for path in [*sorted((ROOT / "Sources").rglob("*.md")), ROOT / "README.md"]:
        text, place = path.read_text(), path.relative_to(ROOT)
        for name in re.findall(r"`(?:\w+/)*(\w+Tests)`", text):
            if name not in known:
                yield f"{place}: there is no {name}"
        for name in re.findall(r"(?<![\w/.-])(?:Sources|Tests)/[\w./+-]*\w", text):
            if not (ROOT / name).exists():
                yield f"{place}: there is no {name}"
        for name in re.findall(r"`(?:\w+/)*(\w+\.(?:sh|py|http))`", text):
            if not any((ROOT / "Tests").rglob(name)):
                yield f"{place}: there is no {name}"


def main():
    articles = {document: Article(path) for document, path in ARTICLES.items()}
    citations = Citations(articles)
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and path.suffix in SUFFIXES and path.name != "rules.py":
                citations.read(path)
    for path in FILES:
        citations.read(ROOT / path)
    found = named(citations)

    planned = {rule for rules in TO_BE_TESTED.values() for rule in rules}
    exempt = CHECKED_ELSEWHERE.keys() | planned | {rule for article in articles.values() for rule in article.untested}
    rules = [rule for article in articles.values() for rule in article.rules if not rule.startswith("Ruling")]
    missing = [rule for rule in rules if rule not in found and rule not in exempt]
    needless = [rule for rule in CHECKED_ELSEWHERE if rule in found]

    problems = citations.wrong + [*wrong_defaults(articles), *wrong_links(articles), *wrong_errors(), *missing_names()]
    if missing:
        problems.append("rules that no test names: " + ", ".join(missing))
    if needless:
        problems.append("named by a test although CHECKED_ELSEWHERE lists them: " + ", ".join(needless))
    for rule in sorted(planned):
        if rule in found or rule not in rules:
            problems.append(f"TO_BE_TESTED has {rule}, which a test names or no article declares")
    if problems:
        sys.exit("\n".join(problems))

    for family in FAMILIES:
        numbers = [rule for rule in rules if rule.startswith(family)]
        if numbers:
            print(f"{sum(rule in found for rule in numbers)} of {len(numbers)} rules {family} are named by tests")
    print(f"{len(planned)} rules are still to be tested")
    print(f"{citations.resolved} citations resolved")
    print(f"{sum(len(article.untested) for article in articles.values())} rules are internal or not implemented yet")


if __name__ == "__main__":
    main()
