"""What a vendor states about AI training and about parts made with AI."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from catalog.models import Listing
from marketplace.core.audit import history_of

from .cases import ASSETS, CREATE, PATCH, pointers, problem, publish

pytestmark = [pytest.mark.django_db, pytest.mark.database]

STATED = {"aiTraining": "by_licence", "aiOrigin": "declared", "aiParts": "The cover, with an image generator."}


def patch(client: APIClient, listing: Listing, **body: Any) -> Any:
    return client.patch(f"{ASSETS}/{listing.id}", PATCH | body, format="json")


def stated(client: APIClient, listing: Listing) -> dict[str, Any]:
    record = client.get(f"{ASSETS}/{listing.id}").json()
    return {name: record[name] for name in STATED}


def test_statements_are_stored_and_a_patch_without_them_keeps_them(client: APIClient, listing: Listing) -> None:
    assert patch(client, listing, **STATED).status_code == 200
    assert patch(client, listing, title="Aurora").status_code == 200
    assert stated(client, listing) == STATED
    changes = [entry.data["changes"] for entry in history_of(listing)]
    assert any(change.get("ai_training") == ["forbidden", "by_licence"] for change in changes)


def test_new_listing_takes_statements(client: APIClient) -> None:
    created = client.post(ASSETS, CREATE | STATED, format="json").json()
    assert stated(client, Listing.objects.get(pk=created["id"])) == STATED


def test_statement_about_a_published_listing_is_found_at_once(client: APIClient, anonymous: APIClient, listing: Listing) -> None:
    publish(listing)
    patch(client, listing, aiTraining="allowed", aiOrigin="none")
    found = anonymous.get("/api/v1/assets", {"aiTraining": "allowed", "aiOrigin": "!undeclared"}).json()["items"]
    assert [item["id"] for item in found] == [str(listing.id)]


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"aiTraining": "maybe"}, ("#/aiTraining", "invalid_choice")),
        ({"aiTraining": None}, ("#/aiTraining", "null")),
        ({"aiOrigin": ["none"]}, ("#/aiOrigin", "invalid_choice")),
        ({"aiOrigin": "declared", "aiParts": "x" * 501}, ("#/aiParts", "max_length")),
        ({"aiOrigin": "declared", "aiParts": "a\nb"}, ("#/aiParts", "control_characters")),
    ],
)
def test_malformed_statement_about_ai_is_refused(client: APIClient, listing: Listing, body: Any, error: tuple[str, str]) -> None:
    assert pointers(patch(client, listing, **body)) == [error]


@pytest.mark.parametrize(
    "body",
    [
        {"aiOrigin": "declared"},
        {"aiParts": "The cover."},
        {"aiOrigin": "none", "aiParts": "The cover."},
        {"aiOrigin": "declared", "aiParts": " "},
    ],
)
def test_parts_without_a_declaration_and_a_declaration_without_parts_are_refused(
    client: APIClient, listing: Listing, body: dict[str, str]
) -> None:
    assert problem(patch(client, listing, **body)) == (422, "ai_parts_mismatch")
    assert problem(client.post(ASSETS, CREATE | {"slug": "another"} | body, format="json")) == (422, "ai_parts_mismatch")
    listing.refresh_from_db()
    assert (listing.ai_origin, listing.ai_parts) == ("undeclared", "")


def test_declaration_is_withdrawn_together_with_its_parts(client: APIClient, listing: Listing) -> None:
    patch(client, listing, **STATED)
    assert problem(patch(client, listing, aiOrigin="undeclared")) == (422, "ai_parts_mismatch")
    assert patch(client, listing, aiOrigin="undeclared", aiParts="").status_code == 200


def test_listing_under_review_is_locked(client: APIClient, listing: Listing) -> None:
    Listing.objects.update(status="PendingReview")
    assert problem(patch(client, listing, aiTraining="allowed")) == (409, "listing_locked")


def test_listing_of_someone_else_does_not_exist(other_client: APIClient, listing: Listing) -> None:
    assert problem(patch(other_client, listing, aiTraining="allowed")) == (404, "not_found")
