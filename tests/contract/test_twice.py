"""The same call a second time: what is done is done once, and the second answer says why."""

from collections.abc import Callable

import pytest
from rest_framework.test import APIClient

from .calls import body_of, call, refused, rows
from .scenes import Scene, waiting
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


@pytest.mark.parametrize("operation", [BY_NAME[name] for name in EDITS], ids=EDITS)
def test_listing_under_review_is_locked(operation: Operation, db: None, bearer_client: Callable[..., APIClient]) -> None:
    scene = waiting()
    caller = bearer_client(scene.user, scopes=operation.scopes)
    before = rows()
    refused(call(caller, operation, scene), 409, "listing_locked", operation)
    assert rows() == before


@pytest.mark.parametrize("operation", [BY_NAME["POST /wallet/spend"]], ids=["spend"])
def test_any_licence_is_ownership_unless_another_is_asked_for(operation: Operation, scene: Scene, caller: APIClient) -> None:
    body = body_of(operation, scene)
    for slug in ("commercial", "personal"):
        bought = call(caller, operation, scene, body=body | {"licenseSlug": slug, "currency": "USD"})
        assert (bought.status_code, bought.json()["licenseSlug"]) == (200, slug)
        refused(call(caller, operation, scene), 409, "already_owned", operation)
