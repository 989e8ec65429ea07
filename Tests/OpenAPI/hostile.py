"""Invalid variants of an example, as a hostile client would send."""

import copy
import json
import random

# Stands for a piece of JSON that Python's writer would not write.
MARK = "\ue000{}\ue001"
RAW = [
    "1e400", "-1e400", "9" * 40, "9" * 100, "-0", "1.5", "0.1e1", "NaN", '"\\ud800"', '"\\udc00x"', '"\\ud83d\\ude00"',
    "[" * 40 + "]" * 40, "[" * 70 + "]" * 70, '{"a":' * 40 + "1" + "}" * 40, '{"a":1,"a":2}', '{"a":1,"\\u0061":2}',
    '{"' + "k" * 3000 + '":"v"}', "nul", "", '"\t"', "'x'"]
VALUES = [
    None, True, False, 0, -1, 1, 2**31, 2**53 + 1, 2**63, -2**63, 1.5, "", " ", "x", "\0", "/", "a/b", "..", "%00", "é" * 129,
    "x" * 2049, "x" * 70_000, "\u202e\u0301\u200d", "😀" * 30, "layer:///", "layer:///conversations/", "layer:///identities/%",
    "layer:///identities/%ff", "00000000-0000-0000-0000-000000000000", "layer:///messages/x/parts/0", "'; DROP TABLE messages --",
    "\\", "\\.", "metadata.", "metadata." + "a." * 400 + "a", "metadata.__proto__", [], [None], [[]], ["x", "x"],
    ["layer:///identities/u%d" % n for n in range(40)], ["u%d" % n for n in range(1500)], {}, {"": ""}, {"a": None},
    {"id": 5}, {"k%d" % n: "v" for n in range(200)}]
WHOLE = [
    "", " ", "null", "5", '"x"', "[]", "[[]]", "[null]", "{}", "[{}]", "{", "}", "{}{}", "\ufeff{}", '{"a":1,}', "[" * 100_000,
    '{"a":' * 50_000, "[" + "{}," * 2000 + "{}]", '{"\\ud800":1}', "true", "\0"]
TEXTS = [
    b"", b"%00", b"%2F", b"%2e%2e", b"%zz", b"%", b"%ff%fe", b"%ED%A0%80", b"x" * 129, b"%C3%A9" * 129, b"x" * 9000, b"0", b"-1",
    b"1.5", b"99999999999999999999999999", b"+1", b"%D9%A1", b"%F0%9F%98%80", b"null", b"a%2Fb", b"*", b";", b"layer:///messages/x",
    b"00000000-0000-0000-0000-000000000000", b"FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF", b"%22v1%22", b"last_message", b"a,b"]
FIELDS = [
    "", " ", "x", "0", "-1", "1.5", "9" * 30, "x" * 300, "x" * 9000, "é", "\"v1\"", "*", "W/\"v1\"", "\"", "a b", "a,b", "text/plain; q=x", "image/",
    "/png", "00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000000, 00000000-0000-0000-0000-000000000001",
    "return=representation", "return=", "00-0-0-0", "\x7f", "\x01"]


def places(value, path=()):
    """Every place in a value, from the outside in."""
    yield path
    if isinstance(value, dict):
        for name in value:
            yield from places(value[name], path + (name,))
    elif isinstance(value, list):
        for index in range(len(value)):
            yield from places(value[index], path + (index,))


def replaced(value, path, new):
    """The same value with something else at a place."""
    if not path:
        return new
    value = copy.deepcopy(value)
    holder = value
    for name in path[:-1]:
        holder = holder[name]
    holder[path[-1]] = new
    return value


def without(value, path):
    """The same value with nothing at a place."""
    value = copy.deepcopy(value)
    holder = value
    for name in path[:-1]:
        holder = holder[name]
    del holder[path[-1]]
    return value


def members(schema, description, depth=0):
    """The names an object may have by its schema."""
    schema = description.resolved(schema)
    if depth < 3:
        for part in schema.get("anyOf", []):
            yield from members(part, description, depth + 1)
    yield from schema.get("properties", {})


def bodies(operation, generator):
    """Bodies made of the example: each member missing, and each value replaced by each invalid value."""
    example = operation.body
    yield from (text.encode() for text in WHOLE)
    yield from ([b"\xff", b"\x22\xc0\xaf\x22", b"\x22\xed\xa0\x80\x22", b" " * 1_048_577])
    spots = list(places(example))
    for path in spots:
        if path:
            yield json.dumps(without(example, path)).encode()
    if isinstance(example, dict):
        # Members that the example leaves out.
        spots += [(name,) for name in members(operation.schema, operation.description) if name not in example]
    for path in spots:
        for value in VALUES:
            yield json.dumps(replaced(example, path, value)).encode()
        for raw in RAW:
            yield json.dumps(replaced(example, path, MARK)).replace(json.dumps(MARK), raw).encode()
    for _ in range(30):
        value = example
        for _ in range(generator.randrange(2, 5)):
            spots = [path for path in places(value) if path]
            if spots:
                value = replaced(value, generator.choice(spots), generator.choice(VALUES))
        yield json.dumps(value).encode()


def variants(operation, most, seed):
    """Arguments of `Play.send`, `most` of them at most; the same for the same seed."""
    generator = random.Random(f"{seed} {operation.name} {operation.description.version}")
    found = []
    for parameter in operation.parameters:
        place = {"path": "path", "query": "query", "header": "fields"}[parameter["in"]]
        for value in FIELDS if place == "fields" else TEXTS:
            if place == "path" and not value:
                # An empty segment is the end of another path.
                continue
            found.append({place: {parameter["name"]: value}})
    if operation.schema:
        found += [{"body": body} for body in bodies(operation, generator)]
    generator.shuffle(found)
    return found[:most]
