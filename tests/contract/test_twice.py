"""The same call a second time: what is done is done once, and the second answer says why."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from marketplace.core.scopes import Scope
from tests.vendors.cases import make_vendor

from .calls import API, body_of, call, refused, rows
from .scenes import SCENES, Scene, developer, selling, waiting
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


@pytest.mark.parametrize("operation", [BY_NAME["POST /vendor/assets/{id}/gallery-image"]], ids=["gallery"])
def test_second_upload_to_a_slot_replaces_the_first(operation: Operation, scene: Scene, caller: APIClient) -> None:
    first, second = (call(caller, operation, scene).json() for _ in range(2))
    previews = caller.get(f"{API}/vendor/assets/{scene.names['id']}").json()["previews"]
    assert [preview["id"] for preview in previews] == [second["id"]] != [first["id"]]


@pytest.mark.parametrize("operation", [BY_NAME["POST /wallet/spend"]], ids=["spend"])
def test_idempotency_key_replays_the_first_response(operation: Operation, scene: Scene, caller: APIClient) -> None:
    headers: dict[str, Any] = {"HTTP_IDEMPOTENCY_KEY": "order-1"}
    first = call(caller, operation, scene, **headers)
    before = rows()
    second = call(caller, operation, scene, **headers)
    assert (second.status_code, second.json(), second["Idempotent-Replayed"]) == (200, first.json(), "true")
    other = call(caller, operation, scene, body=body_of(operation, scene) | {"currency": "USD"}, **headers)
    refused(other, 422, "idempotency_key_reused", operation)
    assert rows() == before


@pytest.mark.parametrize("operation", [BY_NAME["POST /wallet/spend"]], ids=["spend"])
def test_any_licence_is_ownership_unless_another_is_asked_for(operation: Operation, scene: Scene, caller: APIClient) -> None:
    body = body_of(operation, scene)
    for slug in ("commercial", "personal"):
        bought = call(caller, operation, scene, body=body | {"licenseSlug": slug, "currency": "USD"})
        assert (bought.status_code, bought.json()["licenseSlug"]) == (200, slug)
        refused(call(caller, operation, scene), 409, "already_owned", operation)


@pytest.mark.parametrize("operation", [BY_NAME[name] for name in EDITS], ids=EDITS)
def test_listing_under_review_is_locked(operation: Operation, db: None, bearer_client: Callable[..., APIClient]) -> None:
    scene = waiting()
    caller = bearer_client(scene.user, scopes=frozenset({Scope.VENDOR_MANAGE}))
    before = rows()
    refused(call(caller, operation, scene), 409, "listing_locked", operation)
    assert rows() == before


def test_published_listing_without_a_new_file_is_not_submitted(db: None, bearer_client: Callable[..., APIClient]) -> None:
    scene, operation = selling(), BY_NAME["POST /vendor/assets/{id}/submit"]
    caller = bearer_client(scene.user)
    before = rows()
    refused(call(caller, operation, scene), 409, "nothing_to_review", operation)
    assert rows() == before


def test_bare_draft_fails_the_checks_that_the_specification_names(db: None, bearer_client: Callable[..., APIClient]) -> None:
    scene, operation = SCENES["draft"](), BY_NAME["POST /vendor/assets/{id}/submit"]
    caller = bearer_client(scene.user)
    before = rows()
    problem = refused(call(caller, operation, scene), 422, "submit_checks_failed", operation)
    outcomes = {check["name"]: check["passed"] for check in problem["checks"]}
    assert outcomes == {"file_integrity": False, "preview_thumbnail": False, "pricing": True, "licensing": True}
    assert rows() == before


def test_second_application_with_a_taken_store_slug_is_refused(db: None, bearer_client: Callable[..., APIClient]) -> None:
    operation, scene = BY_NAME["POST /vendor/apply"], developer()
    taken = make_vendor().store.slug
    caller = bearer_client(scene.user)
    before = rows()
    refused(call(caller, operation, scene, body=body_of(operation, scene) | {"storeSlug": taken}), 409, "store_slug_taken", operation)
    assert rows() == before


@pytest.mark.parametrize(("approve", "status"), [(True, "Approved"), (False, "Pending")])
@pytest.mark.parametrize("operation", [BY_NAME["POST /vendor/apply"]], ids=["apply"])
def test_verified_developer_is_approved_as_a_vendor_unless_auto_approve_is_off(
    approve: bool,  # noqa: FBT001 - a case of the table
    status: str,
    operation: Operation,
    scene: Scene,
    caller: APIClient,
) -> None:
    answer = call(caller, operation, scene, body=body_of(operation, scene) | {"autoApprove": approve})
    assert (answer.status_code, answer.json()["status"]) == (200, status)


def test_vendor_application_of_an_unverified_user_waits_for_staff(db: None, bearer_client: Callable[..., APIClient]) -> None:
    operation, scene = BY_NAME["POST /vendor/apply"], Scene(user=make_vendor().user)
    answer = call(bearer_client(), operation, scene, body=body_of(operation, scene) | {"autoApprove": True})
    assert (answer.status_code, answer.json()["status"]) == (200, "Pending")


def test_balance_that_is_too_low_names_price_and_balance(db: None, bearer_client: Callable[..., APIClient]) -> None:
    operation, scene = BY_NAME["POST /wallet/spend"], SCENES["for_sale"]()
    caller = bearer_client()
    before = rows()
    problem = refused(call(caller, operation, scene), 402, "insufficient_balance", operation)
    assert (problem["price"], problem["currency"], problem["balance"]) == (499, "INR", 0)
    assert rows() == before
