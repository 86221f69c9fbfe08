"""Which POST takes an Idempotency-Key, and what the key does; why the others need none."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from tests.factories import UserFactory

from .calls import body_of, call, document_of, refused, rows
from .scenes import Scene
from .shapes import Auth, Operation
from .table import BY_NAME, OPERATIONS

pytestmark = [pytest.mark.django_db, pytest.mark.database]

BY_KEY = [
    "POST /wallet/quote",
    "POST /wallet/spend",
    "POST /wallet/top-ups",
    "POST /orders/{order_id}/refund-requests",
    "POST /vendor/apply",
    "POST /vendor/assets",
    "POST /vendor/assets/{id}/discounts",
    "POST /vendor/assets/{id}/submit",
    "POST /vendor/assets/{id}/withdraw",
    "POST /vendor/assets/{id}/unpublish",
    "POST /appeals",
    "POST /webhooks",
    "POST /webhooks/{webhook_id}/rotate-secret",
    "POST /webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver",
]
_REPLACES = "a second upload replaces the first"
_READS = "changes nothing"
WITHOUT = {
    "POST /vendor/assets/{id}/file": _REPLACES,
    "POST /vendor/assets/{id}/font-specimen": _REPLACES,
    "POST /vendor/assets/{id}/gallery-image": _REPLACES,
    "POST /vendor/assets/{id}/audio-preview": _REPLACES,
    "POST /vendor/store/logo": _REPLACES,
    "POST /vendor/store/banner": _REPLACES,
    "POST /vendor/uploads/{upload_id}/finish": "repeated, it gives the same answer",
    "POST /vendor/assets/{id}/manifest/generate": "the same input makes the same manifest",
    "POST /vendor/assets/{id}/preflight": _READS,
    "POST /certificates/verify": _READS,
    "POST /library/download/{id}": "another link to the same package, for 15 minutes",
    "POST /leaked-credentials": "what was revoked stays revoked",
}
# What a repeated request sends differently.
OTHER: dict[str, dict[str, Any]] = {
    "POST /wallet/quote": {"currency": "USD"},
    "POST /wallet/spend": {"currency": "USD"},
    "POST /wallet/top-ups": {"amount": 4321.0},
    "POST /orders/{order_id}/refund-requests": {"details": "It is broken."},
    "POST /vendor/apply": {"storeName": "Another"},
    "POST /vendor/assets": {"title": "Another"},
    "POST /vendor/assets/{id}/discounts": {"percent": 33},
    "POST /appeals": {"text": "Another reason."},
    "POST /webhooks": {"description": "Another"},
    "POST /webhooks/{webhook_id}/rotate-secret": {"overlapHours": 3},
}
KEY: dict[str, Any] = {"HTTP_IDEMPOTENCY_KEY": "once"}


def takes_key(operation: Operation) -> bool:
    """Tell whether the document names the header."""
    return any(parameter["name"] == "Idempotency-Key" for parameter in document_of(operation).get("parameters", ()))


def test_every_post_takes_an_idempotency_key_or_says_why_not() -> None:
    posts = {operation.name for operation in OPERATIONS if operation.method == "POST"}
    assert {*BY_KEY, *WITHOUT} == posts
    assert {operation.name for operation in OPERATIONS if takes_key(operation)} == set(BY_KEY)


@pytest.mark.parametrize("operation", [BY_NAME[name] for name in BY_KEY], ids=BY_KEY)
def test_repeated_request_gets_the_first_response_and_changes_nothing(operation: Operation, scene: Scene, caller: APIClient) -> None:
    before = rows()
    if operation.body is not None:
        # What is refused keeps no response.
        assert call(caller, operation, scene, body={"nonsense": 1}, **KEY).status_code == 400
        assert rows() == before
    first = call(caller, operation, scene, **KEY)
    assert (first.status_code, "Idempotent-Replayed" in first) == (200, False)
    before = rows()
    second = call(caller, operation, scene, **KEY)
    assert (second.status_code, second.json(), second["Idempotent-Replayed"]) == (200, first.json(), "true")
    assert second.get("ETag") == first.get("ETag")
    if operation.body is not None:
        other = call(caller, operation, scene, body=body_of(operation, scene) | OTHER[operation.name], **KEY)
        refused(other, 422, "idempotency_key_reused", operation)
    assert rows() == before


def test_response_with_a_secret_is_not_readable_in_the_database(key_client: Any) -> None:
    operation = BY_NAME["POST /webhooks"]
    assert operation.auth is Auth.KEY
    answer = key_client().post("/api/v1/webhooks", body_of(operation, Scene(None)), format="json", **KEY)  # type: ignore[arg-type]  # nobody is needed
    assert answer.json()["secret"] not in str(rows())


def test_idempotency_key_of_one_app_is_unknown_to_another(key_client: Any) -> None:
    user, body = UserFactory(), body_of(BY_NAME["POST /webhooks"], Scene(None))  # type: ignore[arg-type]  # nobody is needed
    first, second = (key_client(user).post("/api/v1/webhooks", body, format="json", **KEY) for _ in range(2))
    assert (first.status_code, second.status_code, "Idempotent-Replayed" in second) == (200, 200, False)
    assert first.json()["id"] != second.json()["id"]
