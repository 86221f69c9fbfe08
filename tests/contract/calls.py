"""Calls an operation of the table, and checks the response."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from django.apps import apps
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from drf_spectacular.generators import SchemaGenerator
from rest_framework.test import APIClient

from marketplace.core.errors import all_problems
from tests.architecture.source import PACKAGES
from tests.files import makers

from .scenes import Scene
from .shapes import Operation

API = "/api/v1"
MEMBERS = {"type", "title", "status", "detail", "instance", "code", "requestId"}
# camelCase, of which only members of JSON are written.
FIELD_NAME = re.compile(r"\b[a-z]+[A-Z]\w*")
OF_EVERY_ANSWER = {
    "Access-Control-Allow-Origin",
    "Access-Control-Expose-Headers",
    "Content-Length",
    "Content-Security-Policy",
    "Content-Type",
    "Cross-Origin-Opener-Policy",
    # For our proxy, which takes it out.
    "X-Accel-Expires",
    "Cross-Origin-Resource-Policy",
    "Permissions-Policy",
    "Referrer-Policy",
    "Vary",
    "X-Content-Type-Options",
    "X-Frame-Options",
}
# Rows that tell of the call itself, not of what it changed: when a credential was last used.
OWN_TRACES = {"developers_apikey", "developers_accesstoken"}
FILES: dict[str, tuple[str, Callable[[], bytes]]] = {
    "archive": ("aurora.zip", lambda: makers.archive(a_txt="glyphs")),
    "web font": ("aurora.woff2", lambda: makers.font(flavor="woff2")),
    "image": ("card.png", makers.picture),
    "sound": ("chime.wav", lambda: makers.sound("WAV", 0.1)),
}


def path_of(operation: Operation, scene: Scene, **names: str) -> str:
    """Return the address in the scene, or with other names."""
    return API + operation.path.format(**(scene.names | names))


def body_of(operation: Operation, scene: Scene, *, every_field: bool = False) -> dict[str, Any]:
    """Return a good body: the required fields, or all that have a good value."""
    fields = operation.body or ()
    samples = {entry.name: entry.sample for entry in fields if entry.required or every_field}
    body = samples | {name: value for name, value in scene.body.items() if name in samples}
    return {name: value for name, value in body.items() if value is not None}


def query_of(operation: Operation, scene: Scene) -> dict[str, str]:
    """Return the required query parameters."""
    return {query.name: scene.query[query.name] for query in operation.query if query.required}


def call(
    client: APIClient,
    operation: Operation,
    scene: Scene,
    *,
    body: Any = None,
    query: Mapping[str, Any] | None = None,
    names: Mapping[str, str] | None = None,
    **extra: Any,
) -> Any:
    """Send a call that is good but for what is given."""
    path = path_of(operation, scene, **(names or {}))
    parameters = query_of(operation, scene) if query is None else query
    if operation.method == "GET":
        return client.get(path, parameters, **extra)
    send = getattr(client, operation.method.lower())
    if operation.form:
        name, content = FILES[operation.form]
        form = {"file": SimpleUploadedFile(name, content())} if body is None else body
        return send(path, form, query_params=parameters, **extra)
    if operation.body is None and body is None:
        return send(path, query_params=parameters, **extra)
    return send(path, body_of(operation, scene) if body is None else body, format="json", query_params=parameters, **extra)


def refused(answer: Any, status: int, code: str, operation: Operation | None = None) -> dict[str, Any]:
    """Assert that an answer is the problem document of this code, which the operation documents; return it."""
    problem: dict[str, Any] = answer.json()
    assert (answer.status_code, problem.get("code")) == (status, code), problem
    assert answer["Content-Type"] == "application/problem+json"
    assert problem.keys() >= MEMBERS
    assert problem["status"] == status
    assert problem["title"] == all_problems()[code].title
    assert problem["type"] == f"http://testserver/problems/{code}"
    assert problem["instance"] == answer.wsgi_request.path
    assert problem["requestId"] == answer["X-Request-Id"]
    assert isinstance(problem["detail"], str)
    assert problem["detail"].strip()
    assert code == "invalid_input" or not FIELD_NAME.search(problem["detail"]), "a sentence for people names a field"
    assert answer["Cache-Control"] == "no-store"
    if operation is not None:
        documented = document_of(operation)["responses"]
        assert own_headers(answer) <= documented[str(status)]["headers"].keys()
        assert f"`{code}`" in documented[str(status)]["description"], f"{operation.name} does not document {status} {code}"
    return problem


def own_headers(answer: Any) -> set[str]:
    """Return the names of an answer's headers, but for those that every answer of the web has."""
    return set(answer.headers) - OF_EVERY_ANSWER


def pointers(answer: Any, operation: Operation) -> set[str]:
    """Assert that an answer is a refusal of its input; return where."""
    problem = refused(answer, 400, "invalid_input", operation)
    assert problem["errors"]
    first = problem["errors"][0]
    assert first["pointer"] in problem["detail"]
    assert first["detail"] in problem["detail"]
    assert all(error.keys() == {"pointer", "code", "detail"} and all(error.values()) for error in problem["errors"])
    return {error["pointer"] for error in problem["errors"]}


def codes(answer: Any, operation: Operation) -> dict[str, str]:
    """Assert that an answer is a refusal of its input; return the code of each error by where it is."""
    pointers(answer, operation)
    return {error["pointer"]: error["code"] for error in answer.json()["errors"]}


@cache
def _tables() -> tuple[str, ...]:
    return tuple(
        model._meta.db_table
        for model in apps.get_models(include_auto_created=True)
        if model.__module__.split(".")[0] in PACKAGES and model._meta.db_table not in OWN_TRACES
    )


def rows() -> dict[str, list[str]]:
    """Return everything that the product has stored, but for the credentials' last use."""
    stored = {}
    # Past the ORM, which would take most of the suite's time to build these queries.
    with connection.cursor() as cursor:
        for table in _tables():
            cursor.execute(f"SELECT * FROM {table}")  # noqa: S608 - names of our own tables
            stored[table] = sorted(map(repr, cursor.fetchall()))
    return stored


@cache
def document() -> dict[str, Any]:
    """Return the OpenAPI document."""
    made: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return made


@cache
def operations_in_document() -> dict[str, dict[str, Any]]:
    """Return each operation of the document by its name in the table; the names in braces do not count."""
    return {
        nameless(f"{method.upper()} {path.removeprefix(API)}"): operation
        for path, methods in document()["paths"].items()
        for method, operation in methods.items()
    }


def document_of(operation: Operation) -> dict[str, Any]:
    """Return what the document says of an operation."""
    return operations_in_document()[nameless(operation.name)]


def nameless(path: str) -> str:
    """Return a path with the names of its parameters left out."""
    return "/".join("{}" if part.startswith("{") else part for part in path.split("/"))
