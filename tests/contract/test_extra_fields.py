"""Fields that a body does not have: whatever column of ours they name, they are refused, or ignored where answers have them."""

import json
from typing import Any

import pytest
from django.core.cache import cache
from rest_framework.test import APIClient

from marketplace.core import bounds
from tests.columns import COLUMNS, MARK

from .calls import body_of, path_of, refused, rows
from .scenes import Scene
from .shapes import Operation
from .table import WITH_BODY

pytestmark = pytest.mark.django_db


def _send(caller: APIClient, operation: Operation, path: str, body: dict[str, Any]) -> Any:
    # Many calls, none of them one too many.
    cache.clear()
    return caller.generic(operation.method, path, json.dumps(body), "application/json")


def _refused_names(answer: Any) -> set[str]:
    return {error["pointer"].removeprefix("#/") for error in refused(answer, 400, "invalid_input")["errors"]}


@pytest.mark.parametrize("operation", WITH_BODY, ids=lambda operation: operation.name)
def test_no_operation_takes_a_column_name_that_is_not_a_field_of_its_body(operation: Operation, scene: Scene, caller: APIClient) -> None:
    body, path = body_of(operation, scene), path_of(operation, scene)
    others = [name for name in COLUMNS if name not in {entry.name for entry in operation.body or ()}]
    before, taken = rows(), set(others)
    # As many at a time as one problem names; the last is of no table, so that no call succeeds.
    step = bounds.MAX_UNKNOWN_NAMES - 1
    for start in range(0, len(others), step):
        some = others[start : start + step]
        taken -= _refused_names(_send(caller, operation, path, body | dict.fromkeys([*some, "noSuchColumn"], MARK)))
    assert rows() == before
    answer = _send(caller, operation, path, body | dict.fromkeys(taken, MARK))
    while answer.status_code == 400:
        # What another operation sets is told only once nothing else is wrong.
        refused_names = _refused_names(answer)
        assert refused_names & taken
        taken -= refused_names
        assert rows() == before
        answer = _send(caller, operation, path, body | dict.fromkeys(taken, MARK))
    assert answer.status_code == 200, answer.content
    assert MARK not in answer.content.decode()
    assert MARK not in str(rows())
