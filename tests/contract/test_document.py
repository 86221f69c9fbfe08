"""The generated OpenAPI document against the table."""

import json
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import jsonschema
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator
from rest_framework.test import APIClient

from marketplace.core.errors import all_problems

from .calls import API, document, document_of, nameless, operations_in_document
from .shapes import BYTES, UNSET, Auth, Field, Operation, Shape
from .table import BY_NAME, OPERATIONS, WITH_BODY

# The operations that return what a PATCH at another path changes.
READ_ELSEWHERE = {"/vendor/store": "GET /vendor/application-status"}

by_operation = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
SECURITY: dict[Auth, list[str]] = {Auth.NONE: [], Auth.KEY: ["ApiKey"], Auth.KEY_OR_BEARER: ["ApiKey", "Bearer"], Auth.BEARER: ["Bearer"]}
BOUNDS = ("maxLength", "minimum", "maximum", "minItems", "maxItems", "enum")
# What every operation may answer, and what every guarded one, every one with a path parameter and every one with a body adds.
EVERY = {
    "invalid_credential",
    "ambiguous_credentials",
    "address_too_long",
    "headers_too_large",
    # A chunked or compressed body, even of a GET.
    "length_required",
    "unsupported_type",
    "rate_limited",
    "internal_error",
    "dependency_unavailable",
}
OF_GUARDED = {"not_authenticated", "insufficient_scope"}
OF_BODIES = {"invalid_input", "malformed_body", "body_too_large"}


def plain(schema: Shape) -> Shape:
    """Return a documented shape without references, with its types as a set."""
    if "$ref" in schema:
        target = document()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        return plain(target | {name: value for name, value in schema.items() if name != "$ref"})
    for word in ("allOf", "oneOf"):
        if word in schema:
            parts = [plain(part) for part in schema[word]]
            meant = next(part for part in parts if part["types"] != {"null"})
            return meant | {"types": set().union(*(part["types"] for part in parts))}
    types = schema.get("type", [])
    return schema | {"types": {types} if isinstance(types, str) else set(types)}


def differences(expected: Shape, documented: Shape, at: str = "") -> Iterator[str]:
    """Yield where a documented shape is not that of the table."""
    found = plain(documented)
    wanted = {expected["type"]} if isinstance(expected["type"], str) else set(expected["type"])
    if found["types"] != wanted:
        yield f"{at}: {found['types']} instead of {wanted}"
        return
    if expected.get("format") != (found.get("format") if found.get("format") == "date-time" else None):
        yield f"{at}: format {found.get('format')}"
    if "enum" in expected and set(expected["enum"]) - {None} != set(found.get("enum", ())) - {None}:
        yield f"{at}: {found.get('enum')}"
    if "items" in expected:
        yield from differences(expected["items"], found["items"], f"{at}/*")
    if "properties" in expected:
        if set(found["properties"]) != set(expected["properties"]) or set(found.get("required", ())) != set(expected["required"]):
            yield f"{at}: {sorted(found['properties'])}, required {sorted(found.get('required', ()))}"
            return
        for name, shape in expected["properties"].items():
            yield from differences(shape, found["properties"][name], f"{at}/{name}")


def schemas() -> dict[str, Any]:
    return dict(document()["components"]["schemas"])


@pytest.mark.slow
def test_document_is_valid() -> None:
    OpenAPIV31SpecValidator(document()).validate()


@pytest.mark.slow
@pytest.mark.django_db
def test_served_document_is_the_generated_one(anonymous: APIClient) -> None:
    answer = anonymous.get(f"{API}/schema")
    assert answer.status_code == 200
    assert answer.json()["paths"].keys() == document()["paths"].keys()
    assert answer.json()["components"].keys() >= {"schemas", "securitySchemes"}


def test_document_and_table_hold_the_same_operations() -> None:
    assert set(operations_in_document()) == {nameless(operation.name) for operation in OPERATIONS}


def test_every_operation_field_and_parameter_says_what_it_means() -> None:
    fields = [(f"{name}.{field}", of) for name, shape in schemas().items() for field, of in shape.get("properties", {}).items()]
    silent = [name for name, field in fields if not field.get("description")]
    for path, item in document()["paths"].items():
        for method, operation in item.items():
            silent += [f"{method} {path}: {part}" for part in ("summary", "description") if not operation.get(part)]
            silent += [f"{method} {path}: {each['name']}" for each in operation.get("parameters", ()) if not each.get("description")]
    assert silent == []


def test_every_meaning_is_of_a_field_or_parameter_that_there_is() -> None:
    fields = {name for shape in schemas().values() for name in shape.get("properties", {})}
    fields |= {f"{title}.{name}" for title, shape in schemas().items() for name in shape.get("properties", {})}
    operations = (operation for item in document()["paths"].values() for operation in item.values())
    parameters = {parameter["name"] for operation in operations for parameter in operation.get("parameters", ())}
    packages = ("marketplace", "developers", "catalog", "vendors", "library", "wallet")
    described = {name for package in packages for name in import_module(f"{package}.api.descriptions").DESCRIPTIONS}
    assert described - fields - parameters == set()


def test_no_shape_has_the_name_of_one_of_its_fields_which_generated_clients_would_mix_up() -> None:
    assert [name for name, shape in schemas().items() if name.lower() in map(str.lower, shape.get("properties", {}))] == []


def test_security_schemes_are_the_credentials_and_the_way_to_a_token(settings: Any) -> None:
    schemes = document()["components"]["securitySchemes"]
    assert schemes["ApiKey"] == {"type": "apiKey", "in": "header", "name": "X-Api-Key"}
    assert (schemes["Bearer"]["type"], schemes["Bearer"]["scheme"]) == ("http", "bearer")
    assert set(schemes) == {"ApiKey", "Bearer", "OAuth"}
    flow = schemes["OAuth"]["flows"]["authorizationCode"]
    assert (flow["authorizationUrl"], flow["tokenUrl"]) == (f"{settings.BASE_URL}/oauth/authorize", f"{settings.BASE_URL}/oauth/token")
    assert set(flow["scopes"]) == {"catalog:read", "library:read", "library:download", "account:read", "wallet:spend", "wallet:fund"}


@by_operation
def test_security_of_an_operation_in_the_document_follows_the_auth_column_of_the_table(operation: Operation) -> None:
    scopes = [operation.scope] if operation.scope else []
    ways = [{name: scopes} for name in SECURITY[operation.auth]]
    # `vendor:manage` is for a user's own tokens.
    if operation.auth == Auth.KEY_OR_BEARER or operation.scope == "wallet:fund":
        ways.append({"OAuth": scopes})
    assert document_of(operation)["security"] == ways


@by_operation
def test_headers_of_every_response_are_documented(operation: Operation) -> None:
    responses = document_of(operation)["responses"]
    assert all(responses[status]["headers"].keys() >= {"X-Request-Id", "RateLimit", "RateLimit-Policy"} for status in responses)
    wanted = {"401": "WWW-Authenticate", "403": "WWW-Authenticate", "416": "Content-Range", "429": "Retry-After", "503": "Retry-After"}
    for status in wanted.keys() & responses.keys():
        assert wanted[status] in responses[status]["headers"]


def test_every_header_of_the_document_is_one_that_some_response_has() -> None:
    referred = {
        header["$ref"].removeprefix("#/components/headers/")
        for operation in operations_in_document().values()
        for response in operation["responses"].values()
        for header in response["headers"].values()
    }
    assert referred == set(document()["components"]["headers"])


@by_operation
def test_response_is_documented_as_the_table_has_it(operation: Operation) -> None:
    content = document_of(operation)["responses"]["200"]["content"]
    if operation.response is BYTES:
        # A page is a text.
        assert all(plain(entry["schema"]).get("format") == "binary" or media_type == "text/html" for media_type, entry in content.items())
        return
    assert list(content) == ["application/json"]
    assert list(differences(operation.response, content["application/json"]["schema"])) == []


@by_operation
def test_problems_are_documented(operation: Operation) -> None:
    wanted = EVERY | operation.refusals
    if operation.scope:
        wanted |= OF_GUARDED
    elif operation.auth != Auth.NONE:
        wanted |= {"not_authenticated"}
    if "{" in operation.path:
        wanted |= {"not_found"}
    if operation.method != "GET":
        wanted |= OF_BODIES
    responses = document_of(operation)["responses"]
    for code in wanted:
        assert f"`{code}`" in responses[str(all_problems()[code].status)]["description"]
    for status in {all_problems()[code].status for code in wanted}:
        assert responses[str(status)]["content"] == {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    other = [status for status in responses if status.startswith("2") and status not in {"200", "206"}]
    # A purchase that waits for an approval was not made.
    assert other == (["202"] if operation.name == "POST /wallet/spend" else [])


@by_operation
def test_parameters_are_documented(operation: Operation) -> None:
    documented = document_of(operation).get("parameters", [])
    query = {parameter["name"]: parameter for parameter in documented if parameter["in"] == "query"}
    assert set(query) == {parameter.name for parameter in operation.query}
    assert len([parameter for parameter in documented if parameter["in"] == "path"]) == operation.path.count("{")
    for parameter in operation.query:
        found, schema = query[parameter.name], query[parameter.name]["schema"]
        assert (found.get("required", False), schema["type"]) == (parameter.required, parameter.type)
        assert schema.get("default", UNSET) == parameter.default
        assert {name: schema.get(name) for name in BOUNDS} == {name: parameter.bounds.get(name) for name in BOUNDS}
        if parameter.maximum:
            # No `maximum`: a larger one is taken, and cut.
            assert f"Maximum {parameter.maximum};" in found["description"]


@by_operation
def test_body_is_documented(operation: Operation) -> None:
    body = document_of(operation).get("requestBody")
    if operation.form:
        form = {"type": "object", "required": ["file"]}
        schema = body["content"]["multipart/form-data"]["schema"]  # type: ignore[index]  # a missing one is a failure
        assert {name: schema[name] for name in form} == form
        assert schema["properties"].keys() == {"file"}
        assert body["required"] is True  # type: ignore[index]  # as above
    elif operation.body is None:
        assert body is None
    else:
        assert list(body["content"]) == ["application/json"]  # type: ignore[index]  # as above
        schema = plain(body["content"]["application/json"]["schema"])  # type: ignore[index]  # as above
        assert schema["properties"].keys() == {entry.name for entry in operation.body}
        required = {entry.name for entry in operation.body if entry.required}
        assert set(schema.get("required", ())) == required
        assert body.get("required", False) is bool(required)  # type: ignore[union-attr]  # as above


@pytest.mark.parametrize(
    ("operation", "entry"),
    [pytest.param(operation, entry, id=f"{operation.name} {entry.name}") for operation in WITH_BODY for entry in operation.body or ()],
)
def test_field_is_documented(operation: Operation, entry: Field) -> None:
    body = plain(document_of(operation)["requestBody"]["content"]["application/json"]["schema"])
    documented = plain(body["properties"][entry.name])
    assert documented["types"] == {entry.type} | ({"null"} if entry.nullable else set())
    assert {name: documented.get(name) for name in BOUNDS} == {name: entry.bounds.get(name) for name in BOUNDS}
    if "items" in documented:
        documented["items"] = plain(documented["items"])
    if "items" in entry.bounds:
        assert entry.bounds["items"].items() <= documented["items"].items()
    if entry.sample is not None:
        # A client that checks what it sends must not refuse what the service takes.
        jsonschema.Draft202012Validator({name: value for name, value in documented.items() if name != "types"}).validate(entry.sample)


def objects(schema: Shape) -> Iterator[Shape]:
    """Yield a shape and those in it that are objects."""
    found = plain(schema)
    if "properties" in found:
        yield found
    for part in (*found.get("properties", {}).values(), *([found["items"]] if "items" in found else [])):
        yield from objects(part)


@pytest.mark.parametrize(
    "operation", [entry for entry in OPERATIONS if entry.takes_json and entry.body], ids=lambda operation: operation.name
)
def test_body_is_closed_and_every_text_and_list_in_it_is_bounded(operation: Operation) -> None:
    shapes = list(objects(document_of(operation)["requestBody"]["content"]["application/json"]["schema"]))
    assert shapes
    for shape in shapes:
        assert shape["additionalProperties"] is False
        for name, part in ((name, plain(part)) for name, part in shape["properties"].items()):
            assert "string" not in part["types"] or "maxLength" in part or "enum" in part, name
            assert "array" not in part["types"] or "maxItems" in part, name
            assert not part["types"] & {"number", "integer"} or {"minimum", "maximum"} <= part.keys(), name


@pytest.mark.parametrize("patch", [entry for entry in WITH_BODY if entry.method == "PATCH"], ids=lambda operation: operation.name)
def test_body_that_was_read_can_be_sent_back(patch: Operation) -> None:
    read = BY_NAME.get(
        READ_ELSEWHERE.get(patch.path, f"GET {patch.path}"), BY_NAME["GET /vendor/assets/{id}"] if "assets/{id}/" in patch.path else None
    )
    assert read is not None
    shown = plain(document_of(read)["responses"]["200"]["content"]["application/json"]["schema"])
    if "previews" in patch.path:
        shown = plain(plain(shown["properties"]["previews"])["items"])
    body = plain(document_of(patch)["requestBody"]["content"]["application/json"]["schema"])
    ignored = "|".join(["^$", *body.get("patternProperties", {})])
    assert [name for name in shown["properties"] if name not in body["properties"] and not re.search(ignored, name)] == []


def test_documented_price_accepts_every_valid_price() -> None:
    entry = BY_NAME["POST /vendor/assets"]
    body = plain(document_of(entry)["requestBody"]["content"]["application/json"]["schema"])
    price = jsonschema.Draft202012Validator(body["properties"]["basePrice"])
    assert [cents / 100 for cents in range(10_000) if not price.is_valid(cents / 100)] == []


def test_no_pattern_has_a_class_that_other_languages_read_differently() -> None:
    patterns = re.findall(r'"pattern": "((?:[^"\\]|\\.)*)"', json.dumps(document()))
    assert patterns
    # In JSON, a backslash is two.
    assert [pattern for pattern in patterns if re.search(r"\\\\[sSwWdDbB]", pattern)] == []


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.usefixtures("unlimited")
def test_white_space_is_what_the_document_says(anonymous: APIClient) -> None:
    search, report = (document_of(BY_NAME[name]) for name in ("GET /assets/search", "POST /leaked-credentials"))
    queries = {each["name"]: jsonschema.Draft202012Validator(each["schema"]) for each in search["parameters"]}
    body = plain(report["requestBody"]["content"]["application/json"]["schema"])
    line = jsonschema.Draft202012Validator(plain(body["properties"]["credentials"]["items"])["properties"]["value"])
    # The last two are no white space.
    for space in (" ", "\n", "\x1c", "\x85", "\xa0", "\u2003", "\u3000", "\u200b", "\ufeff"):
        for name, value in (("q", space), ("tag", f"!{space}"), ("cursor", space), ("facets", f"{space}tier")):
            answer = anonymous.get(f"{API}/assets/search", {"q": "a", name: value})
            # Which cursors there are is no matter of white space.
            taken = answer.status_code == 200 or answer.json()["errors"][0]["code"] == "invalid_cursor"
            assert queries[name].is_valid(value) is taken, (name, value)
        for value in (space, f"{space}a{space}", f"a{space}a"):
            answer = anonymous.post(f"{API}/leaked-credentials", {"credentials": [{"value": value}]}, format="json")
            assert line.is_valid(value) is (answer.status_code < 400), value
