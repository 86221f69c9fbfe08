"""Bad input: each field, each parameter, each way in which a body cannot be read. Nothing ever changes."""

import gzip
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from rest_framework.test import APIClient

from tests.files.helpers import Unread

from .calls import body_of, call, codes, path_of, pointers, refused, rows
from .scenes import Scene
from .shapes import Field, Operation
from .table import BY_NAME, OPERATIONS, WITH_BODY

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("unlimited")]

WRONG_TYPES: dict[str, tuple[Any, ...]] = {
    "string": (5, True, ["x"], {"x": 1}),
    "number": ("1", True, [1], {"x": 1}),
    "integer": ("1", True, [1], {"x": 1}),
    "array": ("x", 5, {"x": 1}),
    "object": ("x", 5, True, ["x"]),
    "boolean": ("true", 1, 0, [True]),
}
MIB = 2**20


def bad_values(entry: Field) -> Iterator[tuple[Any, set[str]]]:
    """Yield values that the field must refuse, each with the codes that the error may have, none for those of the table."""
    for value in WRONG_TYPES[entry.type]:
        yield value, {"not_a_list"} if entry.type == "array" else {"invalid", "invalid_choice"}
    for bad in entry.bad:
        value, *code = bad if isinstance(bad, tuple) else (bad,)
        yield value, set(code)
    limits = entry.bounds
    if "maxLength" in limits:
        yield "x" * (limits["maxLength"] + 1), {"unknown_category" if entry.name == "categorySlug" else "max_length"}
    if "minimum" in limits:
        yield limits["minimum"] - 1, {"min_value"}
    if "maximum" in limits:
        yield limits["maximum"] + 1, {"max_value"}
        yield 10**30, {"max_value", "invalid"}
    if "maxItems" in limits:
        objects = entry.sample if isinstance(entry.sample[0], dict) else []
        yield objects * (limits["maxItems"] + 1) or [f"x{n}" for n in range(limits["maxItems"] + 1)], {"max_length"}
    if "enum" in limits.get("items", {}):
        yield ["nonsense"], {"invalid_choice"}
    elif "items" in limits:
        yield ["ok", "x" * (limits["items"]["maxLength"] + 1)], {"max_length"}


@pytest.mark.parametrize("operation", WITH_BODY, ids=lambda operation: operation.name)
def test_each_wrong_field_is_named_and_an_unreadable_body_refused_without_a_change(
    operation: Operation, scene: Scene, caller: APIClient, subtests: pytest.Subtests
) -> None:
    fields = operation.body or ()
    good, whole, before = body_of(operation, scene), body_of(operation, scene, every_field=True), rows()
    for name in [entry.name for entry in fields if entry.required]:
        with subtests.test("missing", field=name):
            rest = {known: value for known, value in whole.items() if known != name}
            assert pointers(call(caller, operation, scene, body=rest), operation) == {f"#/{name}"}
    for entry in fields:
        for value, allowed in bad_values(entry):
            with subtests.test("bad", field=entry.name, value=repr(value)[:40]):
                [(pointer, named)] = codes(call(caller, operation, scene, body=good | {entry.name: value}), operation).items()
                # A list or an object is refused as a whole or at one of its items.
                assert re.fullmatch(rf"#/{entry.name}(/\w+)?" if isinstance(value, list | dict) else f"#/{entry.name}", pointer)
                assert named in allowed or not allowed
        with subtests.test("misspelt", field=entry.name):
            answer = call(caller, operation, scene, body=good | {f"{entry.name}z": 1})
            (error,) = refused(answer, 400, "invalid_input", operation)["errors"]
            assert (error["pointer"], error["code"]) == (f"#/{entry.name}z", "unknown_field")
            assert entry.name in error["detail"]
    for name in [entry.name for entry in fields if not entry.nullable]:
        with subtests.test("null", field=name):
            assert codes(call(caller, operation, scene, body=good | {name: None}), operation) == {f"#/{name}": "null"}
    with subtests.test("unknown"):
        answer = call(caller, operation, scene, body=good | {"storname": 1, "a/b": 2})
        assert pointers(answer, operation) == {"#/storname", "#/a~1b"}
    path, text = path_of(operation, scene), json.dumps(good | {"twice": 1})[:-1]
    for inside in (', "twice": 1}', r', "tw\u0069ce": 1}', ', "inner": [{"a": 1, "b": {}, "a": 1}]}'):
        with subtests.test("a name twice", inside=inside):
            answer = caller.generic(operation.method, path, text + inside, "application/json")
            assert "twice in one object" in refused(answer, 400, "malformed_body", operation)["detail"]
    with subtests.test("in chunks"):
        headers: dict[str, Any] = {"HTTP_TRANSFER_ENCODING": "chunked", "CONTENT_LENGTH": ""}
        refused(caller.generic(operation.method, path, "", "application/json", **headers), 411, "length_required", operation)
    assert rows() == before


@pytest.mark.parametrize(
    "operation", [entry for entry in OPERATIONS if entry.takes_json and entry.body is None], ids=lambda operation: operation.name
)
def test_operation_without_a_body_takes_no_field(operation: Operation, scene: Scene, caller: APIClient) -> None:
    before = rows()
    assert pointers(call(caller, operation, scene, body={"force": True}), operation) == {"#/force"}
    assert rows() == before
    assert call(caller, operation, scene, body={}).status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize("operation", [entry for entry in OPERATIONS if entry.takes_json], ids=lambda operation: operation.name)
def test_body_that_cannot_be_read_is_refused(operation: Operation, scene: Scene, caller: APIClient) -> None:
    def send(content: Any, content_type: str = "application/json", **headers: str) -> Any:
        return caller.generic(operation.method, path_of(operation, scene), content, content_type, headers=headers)

    before = rows()
    for content in ("{", "", b"\xff\xfe", '{"a": NaN}', "[" * 40 + "]" * 40, '{"a": ' * 40 + "1" + "}" * 40):
        # No body at all is an empty one: then the required fields are missing, if there are any.
        if content:
            refused(send(content), 400, "malformed_body", operation)
    for content, code in (("[]", "invalid"), ('"text"', "invalid"), ("5", "invalid"), ("null", "null")):
        assert codes(send(content), operation) == {"#": code}
    for content_type in ("text/plain", "application/xml", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        refused(send("a=1", content_type), 415, "unsupported_type", operation)
    packed = send(gzip.compress(b"{}"), **{"Content-Encoding": "gzip"})
    assert "Content-Encoding" in refused(packed, 415, "unsupported_type", operation)["detail"]
    problem = refused(send('{"title": "' + "x" * MIB + '"}'), 413, "body_too_large", operation)
    assert problem["maximumBytes"] == MIB
    # What is too large by its length is not read at all.
    environ: dict[str, Any] = {"CONTENT_LENGTH": str(MIB + 1), "wsgi.input": Unread()}
    answer = caller.generic(operation.method, path_of(operation, scene), "", "application/json", **environ)
    assert refused(answer, 413, "body_too_large", operation)["maximumBytes"] == MIB
    assert rows() == before


@pytest.mark.slow
@pytest.mark.parametrize("operation", [entry for entry in OPERATIONS if entry.query], ids=lambda operation: operation.name)
def test_bad_parameter_is_named(operation: Operation, scene: Scene, caller: APIClient) -> None:
    before = rows()
    good = {query.name: scene.query[query.name] for query in operation.query if query.required}
    for parameter in operation.query:
        for value in parameter.bad:
            assert pointers(call(caller, operation, scene, query=good | {parameter.name: value}), operation) == {f"?{parameter.name}"}, (
                value
            )
        if parameter.required:
            rest = {name: value for name, value in good.items() if name != parameter.name}
            assert pointers(call(caller, operation, scene, query=rest), operation) == {f"?{parameter.name}"}
    assert rows() == before


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_other_methods_are_refused_with_those_that_are_allowed_and_options_names_them_to_anybody(
    operation: Operation, scene: Scene, caller: APIClient, anonymous: APIClient
) -> None:
    path = path_of(operation, scene)
    allowed = {entry.method for entry in OPERATIONS if entry.path == operation.path}
    before = rows()
    for method in {"GET", "POST", "PUT", "PATCH", "DELETE"} - allowed:
        answer = caller.generic(method, path, "{}", "application/json")
        refused(answer, 405, "method_not_allowed")
        named = set(answer["Allow"].split(", "))
        assert allowed <= named <= allowed | {"HEAD"}
        assert method not in named
    answer = anonymous.options(path)
    assert answer.status_code == 204
    assert allowed | {"OPTIONS"} <= set(answer["Allow"].split(", ")) <= allowed | {"OPTIONS", "HEAD"}
    assert rows() == before


@pytest.mark.slow
@pytest.mark.parametrize("operation", [entry for entry in OPERATIONS if entry.form], ids=lambda operation: operation.name)
def test_request_that_is_no_upload_is_refused(operation: Operation, scene: Scene, caller: APIClient) -> None:
    before = rows()
    query = "?slot=0" if operation.query else ""
    path = path_of(operation, scene) + query
    refused(caller.post(path, {}, format="json"), 415, "unsupported_type", operation)
    refused(caller.generic("POST", path, "x", "multipart/form-data"), 400, "malformed_body", operation)
    refused(caller.generic("POST", path, "--x--\r\n", "multipart/form-data; boundary=x"), 400, "upload_incomplete", operation)
    refused(call(caller, operation, scene, body={"file": "text"}), 400, "upload_incomplete", operation)
    assert pointers(call(caller, operation, scene, body={"other": "text"}), operation) == {"#/other"}
    assert rows() == before


@pytest.mark.parametrize("path", ["", "assets/", "vendor/assets/x/y"])
def test_unknown_api_path_is_a_problem_document(path: str, anonymous: APIClient) -> None:
    refused(anonymous.get(f"/api/v1/{path}"), 404, "not_found")


@pytest.mark.slow
@pytest.mark.parametrize("operation", [BY_NAME["POST /wallet/spend"]], ids=["spend"])
def test_bad_idempotency_key_is_named(operation: Operation, scene: Scene, caller: APIClient) -> None:
    for key in ("", "x" * 256, "two words", "\u00e9"):
        assert pointers(call(caller, operation, scene, HTTP_IDEMPOTENCY_KEY=key), operation) == {"Idempotency-Key"}
    assert call(caller, operation, scene).status_code == 200
