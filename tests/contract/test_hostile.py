"""Texts and numbers that break programs: each is taken or refused, and none is an error of ours."""

import json
from typing import Any
from urllib.parse import urlencode

import pytest
from rest_framework.test import APIClient

from .calls import body_of, path_of, query_of, refused
from .scenes import Scene
from .shapes import Field, Operation, Query
from .table import OPERATIONS, WITH_BODY

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.full]

# As they stand in JSON.
HOSTILE = (
    *(r'"\u0000"', r'"\ud800"', r'"\udc00x"', r'"a\u2028b"', r'"\u202e\u200b"', '"' + "\\u0301" * 50 + '"', '"%s{}$(id)"'),
    *("1e400", "-1e400", "1e-400", "-0.0", "9" * 400, "9007199254740993", "0.30000000000000004", "[" * 20 + "]" * 20, '{"$ne": null}'),
)
HOSTILE_IN_ADDRESSES = ("%00", "%ff%fe", "%ed%a0%80", "%f0%9f%98%80", "..%2f..%2fetc", "%0d%0aX-Evil:1", "9" * 400, "'--", "%25s")


def judged(answer: Any) -> None:
    """Assert that an answer is a success or a refusal of what was sent."""
    if answer.status_code == 200:
        return
    problem = answer.json()
    assert answer.status_code < 500, problem
    refused(answer, answer.status_code, problem["code"])


@pytest.mark.parametrize(
    ("operation", "entry"),
    [pytest.param(operation, entry, id=f"{operation.name} {entry.name}") for operation in WITH_BODY for entry in operation.body or ()],
)
def test_hostile_value_of_a_field_is_accepted_or_refused_without_a_crash(
    operation: Operation, entry: Field, scene: Scene, caller: APIClient
) -> None:
    rest = {name: value for name, value in body_of(operation, scene).items() if name != entry.name}
    for number, value in enumerate(HOSTILE):
        # What is taken once is not refused for being there already.
        unique = {
            name: f"{value}-{number}" if name.lower().endswith("slug") and name != "categorySlug" else value for name, value in rest.items()
        }
        text = json.dumps(unique)[:-1] + f'{", " if unique else ""}"{entry.name}": {value}}}'
        judged(caller.generic(operation.method, path_of(operation, scene), text, "application/json"))


@pytest.mark.parametrize(
    ("operation", "parameter"),
    [pytest.param(entry, query, id=f"{entry.name} {query.name}") for entry in OPERATIONS for query in entry.query],
)
def test_hostile_query_parameter_is_accepted_or_refused_without_a_crash(
    operation: Operation, parameter: Query, scene: Scene, caller: APIClient
) -> None:
    rest = "".join(f"&{name}={value}" for name, value in query_of(operation, scene).items() if name != parameter.name)
    for value in HOSTILE_IN_ADDRESSES:
        judged(caller.generic(operation.method, f"{path_of(operation, scene)}?{parameter.name}={value}{rest}", "", ""))


@pytest.mark.parametrize("operation", [entry for entry in OPERATIONS if "{" in entry.path], ids=lambda operation: operation.name)
def test_hostile_id_in_the_path_is_not_found(operation: Operation, scene: Scene, caller: APIClient) -> None:
    for value in HOSTILE_IN_ADDRESSES:
        path = path_of(operation, scene, **dict.fromkeys(scene.names, value))
        answer = caller.generic(operation.method, f"{path}?{urlencode(query_of(operation, scene))}", "", "application/json")
        assert answer.status_code == 404, value
        judged(answer)
