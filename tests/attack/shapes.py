"""The costliest bodies, queries and headers that fit a description: deep, wide, long, repeated, unknown, unicode, large numbers."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, cycle
from typing import Any
from urllib.parse import quote, urlencode

from marketplace.core import bounds

Schema = Mapping[str, Any]
JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data; boundary=x"
# What a server hands on of a request line or of one header.
LINE = 60 * 2**10
HEADER = bounds.HEADER_BYTES - 2**7
# The hardest of them, where there are many places to try.
HARD = ("a letter", "misspelt words", "Japanese without spaces", "commas", "digits")
# What the service takes of an address, beside its path.
ADDRESS = bounds.ADDRESS_BYTES - 500
# Django's own bound on the parameters of a query and the fields of a form.
PARAMETERS = 199
DIGITS = "9" * 1_000
# Words that many listings of the seeded catalog have.
COMMON = "branding logo poster social"
# Texts that readers of texts find hard, each repeated until it is long enough.
TEXTS = {
    "a letter": "a",
    "misspelt words": "grotseqk tempalte typfeace ",
    "combining marks": "e\u0301",
    "direction marks": "\u202e\u200b",
    "Japanese without spaces": "\u65e5\u672c\u8a9e",
    "emoji": "\U0001f469\u200d\U0001f4bb",
    "capitals that grow": "\u0130\ufb03",
    "white space": " \t\u3000",
    "hyphens": "a-",
    "an address": "https://a.a/%2e%2e/?a=a&",
    "an email": "a.a@a.",
    "Markdown": "*a_**[b](c)![`",
    "nested quotes": ">",
    "a list": "- a\n",
    "a table": "|a|b|\n|-|-|\n",
    "JSON": '{"a":[',
    "HTML": "<a href=&amp;",
    "a pattern": "(a+)+$",
    "digits": "9",
    "commas": "a,",
}


@dataclass(frozen=True)
class Shape:
    """A request but for its address; headers by their names in WSGI."""

    name: str
    body: bytes = b""
    kind: str = ""
    query: str = ""
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def size(self) -> int:
        """How many bytes are sent, without the usual headers."""
        return len(self.body) + len(self.query) + sum(len(name) + len(value) for name, value in self.headers)


def filled(unit: str, size: int) -> str:
    """Return a text of about so many bytes."""
    return unit * (size // len(unit.encode()) + 1)


def _times(part: bytes, size: int, before: bytes = b"[", after: bytes = b"]") -> bytes:
    count = max(1, (size - len(before) - len(after)) // (len(part) + 1))
    return before + b",".join([part] * count) + after


@cache
def plain_bodies(size: int) -> tuple[Shape, ...]:
    half = size // 2
    names = [f'"n{number:06}":0'.encode() for number in range(size // 12)]
    bodies = {
        "empty objects": _times(b"{}", size),
        "numbers": _times(b"0", size),
        "numbers of a thousand digits": _times(DIGITS.encode(), size),
        "one number": b"9" * size,
        "one long text": json.dumps({"a": "a" * size}).encode(),
        "escapes": b'{"a":"' + b"\\ud83d\\ude00" * (size // 12) + b'"}',
        "unknown names": b"{" + b",".join(names) + b"}",
        "a name again at the end": b"{" + b",".join([*names, names[-1]]) + b"}",
        "one name repeated": _times(b'"a":0', size, b"{", b"}"),
        "objects in a name": b'{"a":' + _times(b'{"a":0}', size) + b"}",
        "deep lists": b"[" * half + b"]" * half,
        "deep objects": b'{"a":' * (size // 6) + b"0" + b"}" * (size // 6),
        "deep lists, many": _times(b"[" * 31 + b"]" * 31, size),
        "lists without an end": b"[" * size,
        "a list without an end": b"[" + b"0," * half,
        "a text without an end": b'"' + b"a" * size,
        "white space": b" " * size + b"{}",
        "no UTF-8": b'"' + b"\xff" * size + b'"',
    }
    return tuple(Shape(name, body, JSON) for name, body in bodies.items())


@cache
def plain_forms(size: int) -> tuple[Shape, ...]:
    part = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n'
    file = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n\r\n'
    long_name = b'--x\r\nContent-Disposition: form-data; name="file"; filename="' + b'a\\"' * (size // 3) + b'"\r\n\r\na\r\n--x--\r\n'
    bodies = {
        "a form of empty parts": part * (size // len(part)) + b"--x--\r\n",
        "a form of empty files": file * (size // len(file)) + b"--x--\r\n",
        "a name of a file": long_name,
        "headers of a part": b"--x\r\n" + b"A: b\r\n" * (size // 6) + b"\r\n\r\n--x--\r\n",
        "beginnings of boundaries": file + b"\r\n--" * (size // 4) + b"\r\n--x--\r\n",
        "a field of beginnings of boundaries": part + b"\r\n--" * (size // 4) + b"\r\n--x--\r\n",
        "a part without an end": file + b"a" * size,
    }
    return (
        Shape("a form of empty parameters", b"a=&" * (size // 3), FORM),
        Shape("a form of one long parameter", b"a=" + b"%F0%9F%98%80" * (size // 12 - 1), FORM),
        *(Shape(name, body, MULTIPART) for name, body in bodies.items()),
    )


def bodies_of(schema: Schema, good: Mapping[str, Any], size: int) -> Iterator[Shape]:
    """Yield bodies in which each property in turn is costly."""
    for name, inner in schema.get("properties", {}).items():
        for what, value in _values(inner, size):
            yield Shape(f"{name}: {what}", _bytes({**good, name: value}), JSON)
    for what, unit in TEXTS.items():
        texts = {name: filled(unit, size)[: inner["maxLength"]] for name, inner in _texts(schema).items()}
        yield Shape(f"every text at its bound: {what}", _bytes({**good, **texts}), JSON)


def _bytes(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode(errors="replace")


def _texts(schema: Schema) -> dict[str, Schema]:
    return {name: inner for name, inner in schema.get("properties", {}).items() if "maxLength" in inner}


def _values(schema: Schema, size: int) -> Iterator[tuple[str, Any]]:
    """Yield values for a property: of other kinds, and of its own beyond its bounds and at them."""
    for what in HARD:
        yield f"long, {what}", filled(TEXTS[what], size)
    for what, unit in TEXTS.items() if "maxLength" in schema else ():
        yield f"at its bound, {what}", filled(unit, schema["maxLength"])[: schema["maxLength"]]
    yield "objects", [{}] * (size // 4)
    yield "lists", [[]] * (size // 4)
    yield "texts", [""] * (size // 4)
    yield "an object", {f"n{number:06}": 0 for number in range(size // 14)}
    yield "a number of a thousand digits", int(DIGITS)
    yield "a small number", float("1e-300")
    items = schema.get("items")
    if isinstance(items, Mapping):
        count = schema.get("maxItems", 1_000)
        yield "long texts", ["a" * (size // count)] * count
        yield "few objects of many unknown names", [{f"n{n}": 0 for n in range(size // count // 10)}] * count
        for name in items.get("properties", {}):
            yield f"long texts in {name}", [{name: "a" * (size // count)}] * count
            yield f"objects in {name}", [{name: [{}] * (size // count // 4)}] * count


def queries_of(parameters: Mapping[str, Schema], good: Mapping[str, str], units: Iterable[str] = TEXTS) -> Iterator[Shape]:
    """Yield queries in which each parameter in turn is costly, then all of them, then unknown ones.

    Args:
        parameters: Their schemas by name.
        good: Those of a query that is taken.
        units: Which of `TEXTS` each parameter is tried with by itself.
    """
    for name, schema in parameters.items():
        for what in units:
            bound = min(schema.get("maxLength", ADDRESS), ADDRESS)
            yield Shape(f"?{name}: {what}", query=urlencode({**good, name: filled(TEXTS[what], bound)[:bound]})[:ADDRESS])
        yield Shape(f"?{name}: too long", query=urlencode({**good, name: "a" * (ADDRESS // 2)})[:ADDRESS])
        yield Shape(f"?{name}: digits", query=urlencode({**good, name: DIGITS}))
        yield Shape(f"?{name} {PARAMETERS} times", query="&".join([f"{name}=1"] * PARAMETERS)[:ADDRESS])
    for what, unit in TEXTS.items() if parameters else ():
        each = ADDRESS // 9 // len(parameters)
        every = {name: filled(unit, each)[: schema.get("maxLength", each)] for name, schema in parameters.items()}
        yield Shape(f"every parameter: {what}", query=urlencode({**every, **good})[:ADDRESS])
    yield from unknown_queries()


def filters_of(filters: Mapping[str, Sequence[str]], others: Collection[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield arguments in which filters have all the values that they take: all filters, each, every two; alone and with other arguments.

    Args:
        filters: Values of each that find much.
        others: Which other arguments are taken, besides a range of prices.
    """
    costly = {"limit": 50, "facets": "category,tier,fileType,license", "sort": "price_desc"}
    both = {name: value for name, value in costly.items() if name in others} | {"minPrice": 0, "maxPrice": 999_999}
    rests: dict[str, dict[str, Any]] = {"": {}, f"; {', '.join(both)}": both}
    if "q" in others:
        rests = {
            "; a word": {"q": "sans"},
            "; common words": both | {"q": COMMON},
            "; misspelt words": both | {"q": filled(TEXTS["misspelt words"], 180)},
        }
    for chosen in (tuple(filters), *combinations(filters, 1), *combinations(filters, 2)):
        named = ", ".join(chosen) if len(chosen) < len(filters) else "all filters"
        for what, signs in (("wanted", ("",)), ("excluded", ("!",)), ("wanted and excluded", ("", "!"))):
            given = {name: [sign + value for sign, value in zip(cycle(signs), filters[name], strict=False)] for name in chosen}
            for rest, values in rests.items():
                yield f"{named}, many values each, {what}{rest}", given | values


def unknown_queries() -> Iterator[Shape]:
    yield Shape("unknown parameters", query="&".join(f"n{number}={'a' * 30}" for number in range(PARAMETERS))[:ADDRESS])
    yield Shape("too many parameters", query="a=&" * (ADDRESS // 3))
    yield Shape("a long parameter", query="n=" + quote("\u65e5") * (LINE // 9))


def headers() -> Iterator[Shape]:
    values = {
        "HTTP_ACCEPT": "a/b;q=0.1,",
        "HTTP_ACCEPT_ENCODING": "gzip;q=0.1,",
        "HTTP_AUTHORIZATION": "Bearer a",
        "HTTP_COOKIE": "a=b; ",
        "HTTP_IF_NONE_MATCH": 'W/"a",',
        "HTTP_IF_MODIFIED_SINCE": "Mon, 01 Jan 2024 ",
        "HTTP_IDEMPOTENCY_KEY": "a",
        "HTTP_ORIGIN": "https://a.",
        "HTTP_RANGE": "0-1,",
        "HTTP_REFERER": "https://a.a/",
        "HTTP_X_API_KEY": "cam_sk_",
        "HTTP_X_FORWARDED_FOR": "1.2.3.4, ",
        "HTTP_X_REQUEST_ID": "a-",
    }
    for name, unit in values.items():
        begun = "bytes=" if name == "HTTP_RANGE" else ""
        yield Shape(name.removeprefix("HTTP_"), headers=((name, (begun + filled(unit, HEADER))[:HEADER]),))


def forms_of(fields: Mapping[str, str], size: int) -> Iterator[Shape]:
    """Yield forms in which each field in turn is long, then all of them, then each is repeated."""
    for name in fields:
        for what in HARD:
            # Percent-encoding makes three bytes of one.
            yield Shape(f"{name}: {what}", _form({**fields, name: filled(TEXTS[what], size // 3)})[:size], FORM)
        yield Shape(
            f"{name} repeated, {PARAMETERS} fields in all", _form(fields) + f"&{name}=1".encode() * (PARAMETERS - len(fields)), FORM
        )
    for what, unit in TEXTS.items():
        each = size // max(1, len(fields)) // 3
        yield Shape(f"every field: {what}", _form({name: filled(unit, each) for name in fields})[:size], FORM)


def _form(fields: Mapping[str, str]) -> bytes:
    return urlencode(fields).encode()
