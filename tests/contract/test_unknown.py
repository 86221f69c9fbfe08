"""What does not exist and what is someone else's: the same answer, so that nobody learns which."""

import re
from typing import Any

import pytest
from rest_framework.test import APIClient

from tests.catalog.cases import add_candidate
from tests.factories import ListingFactory
from tests.shop import on_sale

from .calls import call, refused, rows
from .scenes import Scene
from .shapes import Operation
from .table import BY_NAME, ON_ONE_ASSET, OPERATIONS

pytestmark = pytest.mark.django_db

UNKNOWN = ("01900000-0000-7000-8000-000000000000", "nothing-of-that-name", "x" * 300, "%00", "A%20B")


def without_the_call(problem: dict[str, Any]) -> dict[str, Any]:
    """Return what a problem says, but for which call it answers."""
    return {name: value for name, value in problem.items() if name not in {"instance", "requestId"}}


@pytest.mark.parametrize(
    ("operation", "name"),
    [
        pytest.param(operation, name, id=f"{operation.name} {name}")
        for operation in OPERATIONS
        for name in re.findall(r"{(\w+)}", operation.path)
        if name != "token"
    ],
)
def test_unknown_name_and_that_of_someone_elses_listing_are_answered_alike(
    operation: Operation, name: str, scene: Scene, caller: APIClient
) -> None:
    theirs = [add_candidate(ListingFactory()), *([on_sale()] if "vendor" in operation.path else [])] if name == "id" else []
    before = rows()
    problems = [
        refused(call(caller, operation, scene, names={name: unknown}), 404, "not_found", operation)
        for unknown in (*UNKNOWN, *(str(value) for listing in theirs for value in (listing.id, listing.slug)))
    ]
    assert all(without_the_call(problem) == without_the_call(problems[0]) for problem in problems)
    assert rows() == before


@pytest.mark.parametrize("operation", [BY_NAME["POST /wallet/spend"]], ids=["spend"])
def test_asset_that_is_not_for_sale_cannot_be_bought(operation: Operation, scene: Scene, caller: APIClient) -> None:
    draft = ListingFactory()
    before = rows()
    problems = [
        refused(call(caller, operation, scene, body={"assetId": asset_id}), 404, "not_found", operation)
        for asset_id in (UNKNOWN[0], UNKNOWN[1], "a/b", "%", str(draft.id), draft.slug)
    ]
    assert all(without_the_call(problem) == without_the_call(problems[0]) for problem in problems)
    assert {problem["instance"] for problem in problems} == {"/api/v1/wallet/spend"}
    assert rows() == before


@pytest.mark.slow
@pytest.mark.parametrize(
    "operation", [entry for entry in ON_ONE_ASSET if "not_owned" in entry.refusals], ids=lambda operation: operation.name
)
def test_asset_for_sale_but_not_owned_has_its_own_problem_code(operation: Operation, scene: Scene, caller: APIClient) -> None:
    other = on_sale()
    before = rows()
    refused(call(caller, operation, scene, names={"id": str(other.id)}), 403, "not_owned", operation)
    assert rows() == before


@pytest.mark.parametrize("operation", [BY_NAME["GET /downloads/{token}"]], ids=["package"])
def test_link_that_was_tampered_with_is_not_found(operation: Operation, scene: Scene, caller: APIClient) -> None:
    token = scene.names["token"]
    for other in ("nothing", token[:-1], token + "x", ("A" if token[0] != "A" else "B") + token[1:], "%00"):
        refused(call(caller, operation, scene, names={"token": other}), 404, "link_invalid", operation)
