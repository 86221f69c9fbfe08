"""The API reference: every operation of the OpenAPI document as a page, readable without a script and found by search engines."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.safestring import SafeString, mark_safe
from drf_spectacular.generators import SchemaGenerator

from marketplace.core.errors import all_problems

from .rendering import code_html, rendered, tabs_html
from .snippets import ApiCall, Credential, snippets

Json = dict[str, Any]
# A response of each operation whose response is JSON, by the operation's id; recorded by `tests.contract.record_examples`.
EXAMPLE_RESPONSES = Path(__file__).parent / "examples" / "responses.json"
# The placeholder in them for the address of this service.
EXAMPLE_BASE_URL = "https://marketplace.example"
# Fields nested more deeply are described by their type only.
DEPTH = 4
_JSON = "application/json"
_METHODS = ("get", "post", "put", "patch", "delete")
_CODE = re.compile(r"`(\w+)`")
_SAMPLES = {"asset_id": "hanken-grotesk", "assetId": "hanken-grotesk", "currency": "INR", "licenseSlug": "personal", "q": "grotesk"}
# Valid values for the bodies of examples.
_BODIES = {
    "allowedLicenseSlugs": ["personal", "commercial"],
    "altText": "Crumpled brown paper in low light from the left.",
    "basePrice": 19.0,
    "bio": "Paper textures and presets.",
    "categorySlug": "presets",
    "credentials": [{"value": "cam_sk_…", "url": "https://example.com/where-it-was-found"}],
    "description": "Twelve paper textures, scanned at 600 dpi.",
    "events": ["asset.published", "order.completed"],
    "endsAt": "2030-01-31T12:00:00Z",
    "subjectId": "01936b1e-7b1a-7c3e-9d55-5f3a9c1e2b44",
    "text": "The takedown names a font that this listing does not contain.",
    "jws": "eyJhbGciOiJFZERTQSIs…",
    "licensee": {"name": "Lindqvist AB", "email": "fonts@lindqvist.example"},
    "name": "Northlight Studio",
    "percent": 25,
    "priceEur": 17.0,
    "priceInr": 1499.0,
    "readme": "Unpack the archive and place a texture above your layers.",
    "shortDescription": "Twelve scanned paper textures.",
    "slug": "paper-grain",
    "storeName": "Northlight Studio",
    "storeSlug": "northlight-studio",
    "street": "Lindenallee 5",
    "title": "Paper Grain",
    "url": "https://app.example/webhooks",
}


@dataclass(frozen=True)
class Field:
    """A row in a table of inputs or of response fields."""

    name: str
    type: str
    required: bool
    description: SafeString


class InputKind(StrEnum):
    """The kind of value of an input."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    CHOICE = "choice"
    LINES = "lines"
    JSON = "json"
    FILE = "file"


@dataclass(frozen=True)
class Input(Field):
    """A value that a caller sends."""

    # path, query, header, body or file.
    place: str
    kind: InputKind
    # An example value.
    sample: str
    # The values of an enumeration.
    choices: tuple[str, ...] = ()
    max_length: int | None = None


@dataclass(frozen=True)
class Operation:
    """An operation as its page shows it."""

    # Its name in generated clients.
    id: str
    tag: str
    method: str
    # With its parameters in braces.
    path: str
    summary: str
    description: SafeString
    # The kinds of credential that it accepts, with the scopes that they need; empty if it needs none.
    credentials: list[tuple[str, list[str]]]
    # The fields of the request's body, and its media type.
    body: list[Field]
    body_type: str
    inputs: list[Input]
    # The fields of the response, and its media type.
    response: list[Field]
    response_type: str
    # An example of it as highlighted code; empty where it is not JSON.
    response_example: SafeString
    # Status, code and title of its errors.
    problems: list[tuple[int, str, str]]
    # The call in three languages.
    example: SafeString

    @property
    def parameters(self) -> list[Input]:
        """The inputs outside of the body."""
        return [each for each in self.inputs if each.place not in {"body", "file"}]


@cache
def operations() -> dict[str, Operation]:
    """Return every operation by its id, in the order of the document; made once, at the first call."""
    document: Json = dict(SchemaGenerator().get_schema(request=None, public=True) or {})
    read = _Reader(document)
    found = (
        read.operation(path, method, item[method]) for path, item in document["paths"].items() for method in _METHODS if method in item
    )
    return {operation.id: operation for operation in found}


def by_tag() -> list[tuple[str, list[Operation]]]:
    """Return the operations by tag."""
    tags: dict[str, list[Operation]] = {}
    for operation in operations().values():
        tags.setdefault(operation.tag, []).append(operation)
    return list(tags.items())


class _Reader:
    """Reads an OpenAPI document, resolving its references."""

    def __init__(self, document: Json) -> None:
        self._schemas: Json = document["components"]["schemas"]
        self._examples: Json = json.loads(EXAMPLE_RESPONSES.read_text("utf-8").replace(EXAMPLE_BASE_URL, settings.BASE_URL))

    def operation(self, path: str, method: str, given: Json) -> Operation:
        body_type, body_schema = self._content(given.get("requestBody", {}).get("content", {}))
        response_type, response_schema = self._content(given["responses"].get("200", {}).get("content", {}))
        credentials = [(kind, scopes) for each in given.get("security", ()) for kind, scopes in each.items()]
        return Operation(
            id=given["operationId"],
            tag=given["tags"][0],
            method=method.upper(),
            path=path,
            summary=given.get("summary") or given["operationId"],
            description=_prose(given.get("description", "")),
            credentials=credentials,
            body=list(self._fields(body_schema)),
            body_type=body_type,
            inputs=list(self._inputs(given, body_schema, body_type)),
            response=list(self._fields(response_schema)),
            response_type=response_type,
            response_example=_response_example(self._examples.get(given["operationId"])),
            problems=list(_problems(given["responses"])),
            example=_example(method.upper(), path, given, self._sample_body(body_schema) if body_type == _JSON else None, response_type),
        )

    def _inputs(self, given: Json, body: Json, body_type: str) -> Iterator[Input]:
        for each in given.get("parameters", ()):
            schema = self._resolved(each["schema"]) | {"description": each.get("description", "")}
            yield self._input(each["name"], each["in"], schema, required=each.get("required", False))
        needed = set(body.get("required", ()))
        for name, part in body.get("properties", {}).items():
            schema = self._resolved(part)
            if not schema.get("readOnly"):
                yield self._input(name, "body" if body_type == _JSON else "file", schema, required=name in needed)

    def _input(self, name: str, place: str, schema: Json, *, required: bool) -> Input:
        sample = _sample(name, schema)
        return Input(
            name=name,
            place=place,
            type=self._type(schema),
            kind=InputKind.FILE if place == "file" else self._kind(schema),
            required=required,
            sample="" if sample in ("…", [], {}) else str(sample),
            description=_described(schema),
            choices=tuple(str(value) for value in schema.get("enum", ()) if value is not None),
            max_length=schema.get("maxLength"),
        )

    def _kind(self, schema: Json) -> InputKind:
        given = schema.get("type", "string")
        kind = given if isinstance(given, str) else given[0]
        if schema.get("enum"):
            return InputKind.CHOICE
        if kind == "array":
            item = self._resolved(schema.get("items", {})).get("type", "string")
            return InputKind.LINES if item == "string" else InputKind.JSON
        return {"integer": InputKind.INTEGER, "number": InputKind.NUMBER, "boolean": InputKind.BOOLEAN, "object": InputKind.JSON}.get(
            kind, InputKind.TEXT
        )

    def _content(self, content: Json) -> tuple[str, Json]:
        for media_type, described in content.items():
            return media_type, self._resolved(described.get("schema", {}))
        return "", {}

    def _resolved(self, schema: Json) -> Json:
        """Return a schema with its references and alternatives resolved."""
        whole: Json = dict(schema)
        while "$ref" in whole:
            whole = self._schemas[whole.pop("$ref").rsplit("/", 1)[1]] | whole
        for part in whole.pop("allOf", ()):
            whole = self._resolved(part) | whole
        options = [self._resolved(option) for option in whole.get("oneOf") or whole.get("anyOf") or ()]
        if real := [option for option in options if option.get("type") != "null"]:
            whole = real[0] | {name: value for name, value in whole.items() if name not in {"oneOf", "anyOf"}}
        return whole

    def _fields(self, schema: Json, prefix: str = "", depth: int = DEPTH) -> Iterator[Field]:
        if schema.get("type") == "array":
            yield from self._fields(self._resolved(schema.get("items", {})), f"{prefix}[]", depth)
            return
        required = set(schema.get("required", ()))
        for name, given in schema.get("properties", {}).items():
            whole = self._resolved(given)
            full = f"{prefix}.{name}" if prefix else name
            yield Field(full, self._type(whole), name in required, _described(whole))
            if depth > 1:
                yield from self._fields(whole, full, depth - 1)

    def _type(self, schema: Json) -> str:
        kind = schema.get("type", "object")
        kinds = [kind] if isinstance(kind, str) else kind
        names = [f"list of {self._type(self._resolved(schema.get('items', {})))}" if each == "array" else str(each) for each in kinds]
        return " or ".join(names)

    def _sample_body(self, schema: Json) -> Json:
        required = schema.get("required") or list(schema.get("properties", {}))[:2]
        known = schema.get("properties", {})
        return {name: _BODIES.get(name) or _sample(name, self._resolved(known[name])) for name in required if name in known}


def _described(schema: Json) -> SafeString:
    """Return the description of a field, with its bounds."""
    # Without the list of values that drf-spectacular appends: they are added below.
    text = re.split(r"(?:^|\n\n)\*", schema.get("description", ""))[0].strip()
    bounds = []
    if schema.get("enum"):
        bounds.append("One of " + ", ".join(f"`{value}`" for value in schema["enum"] if value is not None) + ".")
    for name, wording in (
        ("minimum", "at least {}"),
        ("maximum", "at most {}"),
        ("maxLength", "up to {} characters"),
        ("maxItems", "up to {}"),
    ):
        if name in schema:
            bounds.append(wording.format(f"{schema[name]:,}".removesuffix(".0")))
    if "default" in schema and schema["default"] not in (None, ""):
        bounds.append(f"default `{schema['default']}`")
    sentence = ", ".join(bounds)
    return _prose(f"{text} {sentence[:1].upper()}{sentence[1:]}{'.' if sentence and not sentence.endswith('.') else ''}".strip())


def _prose(text: str) -> SafeString:
    return mark_safe(rendered(text)[0])  # noqa: S308 - our own document, and HTML in its Markdown is escaped


def _problems(responses: Json) -> Iterator[tuple[int, str, str]]:
    known = all_problems()
    for status, response in responses.items():
        for code in _CODE.findall(response.get("description", "")) if int(status) >= 400 else ():
            if code in known:
                yield int(status), code, known[code].title


def _sample(name: str, schema: Json) -> Any:
    if name in _SAMPLES:
        return _SAMPLES[name]
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type", "string")
    return {"number": 19.0, "integer": 1, "boolean": True, "array": [], "object": {}}.get(kind if isinstance(kind, str) else kind[0], "…")


def _response_example(response: Any) -> SafeString:
    if response is None:
        return SafeString()
    html = code_html(json.dumps(response, indent=2, ensure_ascii=False), "json")
    return mark_safe(html)  # noqa: S308 - escaped by the highlighter


def _example(method: str, path: str, given: Json, body: Json | None, response_type: str) -> SafeString:
    """Return the call in three languages, with the credential that it needs."""
    wanted = [each for each in given.get("parameters", ()) if each["in"] == "query" and each.get("required")]
    query = "&".join(f"{each['name']}={_sample(each['name'], each['schema'])}" for each in wanted)
    filled = re.sub(r"\{(\w+)\}", lambda match: _SAMPLES.get(match[1], f"<{match[1]}>"), path)
    kinds = {kind for each in given.get("security", ()) for kind in each}
    call = ApiCall(
        method=method,
        url=f"{settings.BASE_URL}{filled}" + (f"?{query}" if query else ""),
        credential=(Credential.KEY if kinds == {"ApiKey"} else Credential.TOKEN) if kinds else Credential.NONE,
        body=body,
        upload="multipart/form-data" in given.get("requestBody", {}).get("content", {}),
        response_type=response_type,
    )
    return mark_safe(tabs_html(f"example-{given['operationId']}", snippets(call)))  # noqa: S308 - escaped by the highlighter
