"""The same call a second time: what is done is done once, and the second answer says why."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from tests.factories import UserFactory

from .calls import API, body_of, call, refused, rows
from .scenes import Scene, draft, for_sale, selling, waiting
from .shapes import Operation
from .table import BY_NAME

pytestmark = [pytest.mark.django_db, pytest.mark.database]

SECOND = [
    ("POST /vendor/apply", "vendor_profile_exists"),
    ("POST /vendor/assets", "slug_taken"),
    ("POST /vendor/assets/{id}/submit", "invalid_transition"),
    ("POST /vendor/assets/{id}/withdraw", "invalid_transition"),
    ("POST /vendor/assets/{id}/unpublish", "invalid_transition"),
    ("DELETE /vendor/assets/{id}/file", "not_found"),
    ("POST /vendor/assets/{id}/discounts", "discount_overlaps"),
    ("DELETE /vendor/assets/{id}/discounts/{discount_id}", "not_found"),
    ("DELETE /vendor/assets/{id}/previews/{preview_id}", "not_found"),
    ("POST /wallet/spend", "already_owned"),
    ("POST /orders/{order_id}/refund-requests", "refund_unavailable"),
]
HARMLESS = [
    "PATCH /vendor/assets/{id}",
    "PATCH /vendor/assets/{id}/regional-prices",
    "PATCH /vendor/assets/{id}/licensing",
    "PATCH /vendor/assets/{id}/previews/{preview_id}",
    "POST /vendor/assets/{id}/manifest/generate",
    "POST /vendor/assets/{id}/preflight",
]
# What a listing under review refuses.
# A resumable upload began before the review: `tests/vendors/test_uploads.py`.
EDITS = [name for name, operation in BY_NAME.items() if "listing_locked" in operation.refusals and "upload_id" not in operation.path]


def refused_unchanged(
    bearer_client: Callable[..., APIClient], operation: Operation, scene: Scene, status: int, code: str
) -> dict[str, Any]:
    """Assert that the scene's user is refused with this code, and that nothing changes; return the problem."""
    caller = bearer_client(scene.user, scopes=operation.scopes)
    before = rows()
    problem = refused(call(caller, operation, scene), status, code, operation)
    assert rows() == before
    return problem


@pytest.mark.parametrize(("operation", "code"), [pytest.param(BY_NAME[name], code, id=name) for name, code in SECOND])
def test_second_call_conflicts_and_changes_nothing(operation: Operation, code: str, scene: Scene, caller: APIClient) -> None:
    assert call(caller, operation, scene).status_code == 200
    before = rows()
    refused(call(caller, operation, scene), 404 if code == "not_found" else 409, code, operation)
    assert rows() == before


@pytest.mark.parametrize("operation", [BY_NAME[name] for name in HARMLESS], ids=HARMLESS)
def test_second_call_of_an_idempotent_operation_has_the_same_response(operation: Operation, scene: Scene, caller: APIClient) -> None:
    first, second = call(caller, operation, scene), call(caller, operation, scene)
    assert (first.status_code, second.status_code) == (200, 200)
    assert first.json() == second.json()


@pytest.mark.parametrize("operation", [BY_NAME["POST /library/download/{id}"]], ids=["download"])
def test_each_call_issues_a_link_of_its_own_to_the_same_package(operation: Operation, scene: Scene, caller: APIClient) -> None:
    first, second = (call(caller, operation, scene).json() for _ in range(2))
    assert first["downloadUrl"] != second["downloadUrl"]
    assert first["checksum"] == second["checksum"]


@pytest.mark.parametrize("operation", [BY_NAME["POST /vendor/assets/{id}/gallery-image"]], ids=["gallery"])
def test_second_upload_to_a_slot_replaces_the_first(operation: Operation, scene: Scene, caller: APIClient) -> None:
    first, second = (call(caller, operation, scene).json() for _ in range(2))
    previews = caller.get(f"{API}/vendor/assets/{scene.names['id']}").json()["previews"]
    assert [preview["id"] for preview in previews] == [second["id"]] != [first["id"]]


@pytest.mark.parametrize("operation", [BY_NAME["POST /wallet/spend"]], ids=["spend"])
def test_any_licence_is_ownership_unless_another_is_asked_for(operation: Operation, scene: Scene, caller: APIClient) -> None:
    body = body_of(operation, scene)
    for slug in ("commercial", "personal"):
        bought = call(caller, operation, scene, body=body | {"licenseSlug": slug, "currency": "USD"})
        assert (bought.status_code, bought.json()["licenseSlug"]) == (200, slug)
        refused(call(caller, operation, scene), 409, "already_owned", operation)


@pytest.mark.parametrize("operation", [BY_NAME[name] for name in EDITS], ids=EDITS)
def test_listing_under_review_is_locked(operation: Operation, db: None, bearer_client: Callable[..., APIClient]) -> None:
    refused_unchanged(bearer_client, operation, waiting(), 409, "listing_locked")


def test_published_listing_without_a_new_file_is_not_submitted(db: None, bearer_client: Callable[..., APIClient]) -> None:
    refused_unchanged(bearer_client, BY_NAME["POST /vendor/assets/{id}/submit"], selling(), 409, "nothing_to_review")


def test_bare_draft_fails_the_checks_that_the_specification_names(db: None, bearer_client: Callable[..., APIClient]) -> None:
    problem = refused_unchanged(bearer_client, BY_NAME["POST /vendor/assets/{id}/submit"], draft(), 422, "submit_checks_failed")
    outcomes = {check["name"]: check["passed"] for check in problem["checks"]}
    assert outcomes == {"file_integrity": False, "preview_thumbnail": False, "pricing": True, "licensing": True}


def test_balance_that_is_too_low_names_price_and_balance(db: None, bearer_client: Callable[..., APIClient]) -> None:
    scene = for_sale()
    scene.user = UserFactory()
    problem = refused_unchanged(bearer_client, BY_NAME["POST /wallet/spend"], scene, 402, "insufficient_balance")
    assert (problem["price"], problem["currency"], problem["balance"]) == (499, "INR", 0)
