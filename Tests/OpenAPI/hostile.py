"""Invalid variants of an example, as a hostile client would send."""

import copy
import functools
import json
import random

# A placeholder for JSON text that Python's encoder would not write.
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


def paths(value, path=()):
    """The paths of all values within a value, outer ones first."""
    yield path
    if isinstance(value, dict):
        for name in value:
            yield from paths(value[name], path + (name,))
    elif isinstance(value, list):
        for index in range(len(value)):
            yield from paths(value[index], path + (index,))


def replaced(value, path, new):
    """A copy of the value with another value at a path."""
    if not path:
        return new
    value = copy.deepcopy(value)
    holder = value
    for name in path[:-1]:
        holder = holder[name]
    holder[path[-1]] = new
    return value


def without(value, path):
    """A copy of the value without the value at a path."""
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
    """Functions that return variants of the example: without each member, and with each value replaced by each invalid
    value. Few of the thousands are sent, so only those are made."""
    example = operation.body
    yield from (text.encode for text in WHOLE)
    yield from (functools.partial(bytes, body) for body in [
        b"\xff", b"\x22\xc0\xaf\x22", b"\x22\xed\xa0\x80\x22", b" " * 1_048_577])
    found_paths = list(paths(example))
    for path in found_paths:
        if path:
            yield functools.partial(body_without, example, path)
    if isinstance(example, dict):
        # Members that the example leaves out.
        found_paths += [(name,) for name in members(operation.schema, operation.description) if name not in example]
    for path in found_paths:
        for value in VALUES:
            yield functools.partial(body_with, example, path, value)
        for raw in RAW:
            yield functools.partial(body_with_text, example, path, raw)
    for _ in range(30):
        yield functools.partial(body_with_several, example, generator)


def body_without(example, path):
    return json.dumps(without(example, path)).encode()


def body_with(example, path, value):
    return json.dumps(replaced(example, path, value)).encode()


def body_with_text(example, path, raw):
    return json.dumps(replaced(example, path, MARK)).replace(json.dumps(MARK), raw).encode()


def body_with_several(value, generator):
    """With two to four random values replaced."""
    for _ in range(generator.randrange(2, 5)):
        found_paths = [path for path in paths(value) if path]
        if found_paths:
            value = replaced(value, generator.choice(found_paths), generator.choice(VALUES))
    return json.dumps(value).encode()


def variants(operation, limit, seed):
    """Arguments of `ExampleClient.send`, at most `limit` of them; the same for the same seed."""
    generator = random.Random(f"{seed} {operation.name} {operation.description.version}")
    # Arguments, and functions that return a body.
    found = []
    for parameter in operation.parameters:
        location = {"path": "path", "query": "query", "header": "fields"}[parameter["in"]]
        for value in FIELDS if location == "fields" else TEXTS:
            if location == "path" and not value:
                # With an empty segment the request would be one of another path.
                continue
            found.append({location: {parameter["name"]: value}})
    if operation.schema:
        found += bodies(operation, generator)
    generator.shuffle(found)
    return [{"body": one()} if callable(one) else one for one in found[:limit]]
