"""Query parameters by their names: unknown ones are refused, empty ones are ignored, and none is read beyond a bound."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from .calls import call, path_of, query_of, refused, rows
from .scenes import Scene
from .shapes import Operation
from .table import BY_NAME, OPERATIONS

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("unlimited")]

# Others pass signed links on, and may add parameters of their own.
REFUSING = [operation for operation in OPERATIONS if "{token}" not in operation.path]


def sent(client: APIClient, operation: Operation, scene: Scene, query: str) -> Any:
    return client.generic(operation.method, f"{path_of(operation, scene)}?{query}", "", "application/json")


def unknown(answer: Any, operation: Operation) -> dict[str, str]:
    """Return what is said of each unknown parameter, by its pointer."""
    errors = refused(answer, 400, "invalid_input", operation)["errors"]
    assert {error["code"] for error in errors} == {"unknown_parameter"}
    return {error["pointer"]: error["detail"] for error in errors}


@pytest.mark.parametrize("operation", REFUSING, ids=lambda operation: operation.name)
def test_unknown_parameters_are_named_and_a_long_query_string_is_not_read(
    operation: Operation, scene: Scene, caller: APIClient, subtests: pytest.Subtests
) -> None:
    before = rows()
    with subtests.test("each is named"):
        assert unknown(sent(caller, operation, scene, "zzzz=1&qqqq="), operation).keys() == {"?zzzz", "?qqqq"}
    with subtests.test("of many not all are named"):
        query = "&".join(f"{'x' * 30}{number}=" for number in range(150))
        assert len(unknown(sent(caller, operation, scene, query), operation)) <= 10
    with subtests.test("a long query string is refused before its names are compared"):
        refused(sent(caller, operation, scene, "x" * 8193), 414, "address_too_long", operation)
        refused(sent(caller, operation, scene, "&".join(f"x{number}=" for number in range(201))), 400, "malformed_request", operation)
    assert rows() == before


@pytest.mark.parametrize("operation", [entry for entry in REFUSING if entry.query], ids=lambda operation: operation.name)
def test_misspelt_parameter_is_answered_with_the_one_that_there_is(operation: Operation, scene: Scene, caller: APIClient) -> None:
    for name in [query.name for query in operation.query if len(query.name) > 2]:
        for misspelt in {name[:-2] + name[-1] + name[-2], name.swapcase(), f"{name}s"}:
            assert name in unknown(sent(caller, operation, scene, f"{misspelt}=1"), operation)[f"?{misspelt}"]


@pytest.mark.slow
@pytest.mark.parametrize("operation", [entry for entry in OPERATIONS if entry.query], ids=lambda operation: operation.name)
def test_empty_optional_parameter_is_ignored(operation: Operation, scene: Scene, caller: APIClient) -> None:
    for name in [query.name for query in operation.query if not query.required]:
        assert call(caller, operation, scene, query=query_of(operation, scene) | {name: ""}).status_code == 200, name


@pytest.mark.parametrize("operation", [BY_NAME["GET /downloads/{token}"]], ids=["package"])
def test_signed_link_ignores_parameters_that_others_added(operation: Operation, scene: Scene, caller: APIClient) -> None:
    assert sent(caller, operation, scene, "utm_source=mail").status_code == 200
