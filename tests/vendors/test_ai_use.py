"""What a vendor states about AI training and about parts made with AI."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from catalog.models import Listing
from marketplace.core.audit import history_of

from .cases import ASSETS, CREATE, PATCH, pointers, problem

pytestmark = [pytest.mark.django_db, pytest.mark.database]

STATED = {"aiTraining": "by_licence", "aiOrigin": "declared", "aiParts": "The cover, with an image generator."}


def patch(client: APIClient, listing: Listing, **body: Any) -> Any:
    return client.patch(f"{ASSETS}/{listing.id}", PATCH | body, format="json")


def test_statements_are_kept_until_the_declaration_is_withdrawn_with_its_parts(client: APIClient, listing: Listing) -> None:
    assert patch(client, listing, **STATED).status_code == 200
    assert patch(client, listing, title="Aurora").status_code == 200
    record = client.get(f"{ASSETS}/{listing.id}").json()
    assert {name: record[name] for name in STATED} == STATED
    changes = [entry.data["changes"] for entry in history_of(listing)]
    assert any(change.get("ai_training") == ["forbidden", "by_licence"] for change in changes)
    assert STATED["aiParts"] not in str(changes)
    assert problem(patch(client, listing, aiOrigin="undeclared")) == (422, "ai_parts_mismatch")
    assert patch(client, listing, aiOrigin="undeclared", aiParts="").status_code == 200


def test_unknown_statement_about_ai_is_refused(client: APIClient, listing: Listing) -> None:
    refused = patch(client, listing, aiTraining="maybe", aiOrigin="perhaps")
    assert sorted(pointers(refused)) == [("#/aiOrigin", "invalid_choice"), ("#/aiTraining", "invalid_choice")]


def test_parts_without_a_declaration_and_a_declaration_without_parts_are_refused(client: APIClient, listing: Listing) -> None:
    bodies = [
        {"aiOrigin": "declared"},
        {"aiOrigin": "declared", "aiParts": " "},
        {"aiParts": "The cover."},
        {"aiOrigin": "none", "aiParts": "The cover."},
    ]
    for body in bodies:
        assert problem(patch(client, listing, **body)) == (422, "ai_parts_mismatch"), body
        assert problem(client.post(ASSETS, CREATE | {"slug": "another"} | body, format="json")) == (422, "ai_parts_mismatch"), body
    listing.refresh_from_db()
    assert (listing.ai_origin, listing.ai_parts) == ("undeclared", "")
