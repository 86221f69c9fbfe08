"""Real answers against the table: always 200, exactly its keys, its types, and the values that were sent."""

from typing import Any

import jsonschema
import pytest
from rest_framework.test import APIClient

from . import vendor
from .calls import API, FILES, body_of, call, document_of, own_headers
from .scenes import Scene
from .shapes import BYTES, UNSET, Operation
from .table import BY_NAME, OPERATIONS

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]

by_operation = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)


def checked(answer: Any, operation: Operation) -> Any:
    """Assert that an answer is a success of the operation's shape; return its body."""
    assert answer.status_code == 200, answer.content
    assert answer["X-Request-Id"]
    documented = document_of(operation)["responses"]["200"]["headers"].keys()
    assert own_headers(answer) <= documented
    assert ("ETag" in answer) == ("ETag" in documented)
    if operation.response is BYTES:
        return b"".join(answer.streaming_content) if answer.streaming else answer.content
    assert answer["Content-Type"] == "application/json"
    body = answer.json()
    jsonschema.Draft202012Validator(operation.response).validate(body)
    return body


def shown_to_vendor(caller: APIClient, answer: Any) -> Any:
    """Return the listing of an answer, or of the picture that it is about, as its vendor reads it."""
    return checked(caller.get(f"{API}/vendor/assets/{answer.get('assetId', answer['id'])}"), BY_NAME["GET /vendor/assets/{id}"])


@by_operation
def test_valid_call_returns_exactly_the_documented_keys(operation: Operation, scene: Scene, caller: APIClient) -> None:
    body = checked(call(caller, operation, scene), operation)
    if operation.response is BYTES:
        assert body
        return
    echoed = body_of(operation, scene) | scene.shows
    sent = {name: value for name, value in echoed.items() if name in body}
    assert {name: body[name] for name in sent} == sent


@pytest.mark.parametrize("operation", [entry for entry in OPERATIONS if entry.body], ids=lambda operation: operation.name)
def test_body_with_every_field_is_taken_and_echoed(operation: Operation, scene: Scene, caller: APIClient) -> None:
    sent = body_of(operation, scene, every_field=True)
    answer = checked(call(caller, operation, scene, body=sent), operation)
    shown = answer | (shown_to_vendor(caller, answer) if operation.path.startswith("/vendor/assets") else {})
    echoed = {name: value for name, value in sent.items() if name in shown and name != "assetId"}
    assert {name: shown[name] for name in echoed} == echoed
    if operation.path.startswith("/vendor/assets"):
        assert echoed == sent


@pytest.mark.parametrize("operation", [BY_NAME["POST /vendor/assets"]], ids=["create"])
def test_new_listing_has_defaults_and_takes_every_text_and_number_at_its_bounds(
    operation: Operation, scene: Scene, caller: APIClient
) -> None:
    shown = shown_to_vendor(caller, checked(call(caller, operation, scene), operation))
    defaults = {entry.name: entry.default for entry in vendor.CREATE if entry.default is not UNSET}
    assert {name: shown[name] for name in defaults} == defaults
    assert (shown["status"], shown["currency"], shown["vendorId"]) == ("Draft", "USD", str(scene.user.pk))
    assert set(defaults) == {entry.name for entry in vendor.CREATE if not entry.required}
    longest = {entry.name: "x" * entry.bounds["maxLength"] for entry in vendor.CREATE if "maxLength" in entry.bounds}
    start = "https://example.com/"
    longest["videoUrl"] = start + longest["videoUrl"][len(start) :]
    del longest["categorySlug"]
    for edge, texts in (("minimum", {"slug": "least"}), ("maximum", {"aiOrigin": "declared"} | longest)):
        values = texts | {entry.name: entry.bounds[edge] for entry in vendor.CREATE if entry.type == "number"}
        made = call(caller, operation, scene, body=body_of(operation, scene) | values)
        shown = shown_to_vendor(caller, checked(made, operation))
        assert {name: shown[name] for name in values} == values


@pytest.mark.parametrize("operation", [entry for entry in OPERATIONS if "{id}" in entry.path], ids=lambda operation: operation.name)
def test_slug_names_the_asset_as_the_id_does(operation: Operation, scene: Scene, caller: APIClient) -> None:
    if operation.form:
        # The address is resolved before the body is read: an empty form is refused for itself.
        assert call(caller, operation, scene, body={}, names={"id": "aurora-sans"}).json()["code"] in {
            "upload_incomplete",
            "malformed_body",
        }
        return
    checked(call(caller, operation, scene, names={"id": "aurora-sans"}), operation)


# The pictures of a store: `tests/vendors/test_store_pictures.py`.
@pytest.mark.slow
@pytest.mark.parametrize(
    "operation", [entry for entry in OPERATIONS if entry.form and "{id}" in entry.path], ids=lambda operation: operation.name
)
def test_upload_record_tells_what_was_sent(operation: Operation, scene: Scene, caller: APIClient) -> None:
    shown = checked(call(caller, operation, scene, query={"slot": "3"} if operation.query else {}), operation)
    name, content = FILES[operation.form or ""]
    assert shown["assetId"] == scene.names["id"]
    if operation.form == "archive":
        assert (shown["originalFilename"], shown["fileSize"]) == (name, len(content()))
        return
    kind = {"web font": "FontSpecimen", "image": "Gallery", "sound": "AudioPreview"}[operation.form or ""]
    assert (shown["kind"], shown["url"], shown.get("sortOrder")) == (
        kind,
        f"/api/v1/previews/{shown['id']}",
        3 if kind == "Gallery" else None,
    )
