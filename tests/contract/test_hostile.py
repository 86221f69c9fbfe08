"""Texts and numbers that break programs: each is taken or refused, and none is an error of ours."""

import json
from itertools import product
from typing import Any

import pytest
from rest_framework.test import APIClient

from .calls import body_of, path_of, query_of, refused
from .scenes import Scene
from .shapes import Operation
from .table import OPERATIONS, WITH_BODY

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.full, pytest.mark.usefixtures("unlimited")]

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


@pytest.mark.parametrize("operation", WITH_BODY, ids=lambda operation: operation.name)
def test_hostile_value_of_a_field_is_accepted_or_refused_without_a_crash(operation: Operation, scene: Scene, caller: APIClient) -> None:
    for number, (entry, value) in enumerate(product(operation.body or (), HOSTILE)):
        # What is taken once is not refused for being there already.
        rest = {
            name: f"{good}-{number}" if name.lower().endswith("slug") and name != "categorySlug" else good
            for name, good in body_of(operation, scene).items()
            if name != entry.name
        }
        text = json.dumps(rest)[:-1] + f'{", " if rest else ""}"{entry.name}": {value}}}'
        judged(caller.generic(operation.method, path_of(operation, scene), text, "application/json"))


@pytest.mark.parametrize("operation", [entry for entry in OPERATIONS if entry.query], ids=lambda operation: operation.name)
def test_hostile_query_parameter_is_accepted_or_refused_without_a_crash(operation: Operation, scene: Scene, caller: APIClient) -> None:
    for parameter, value in product(operation.query, HOSTILE_IN_ADDRESSES):
        rest = "".join(f"&{name}={given}" for name, given in query_of(operation, scene).items() if name != parameter.name)
        judged(caller.generic(operation.method, f"{path_of(operation, scene)}?{parameter.name}={value}{rest}", "", ""))
