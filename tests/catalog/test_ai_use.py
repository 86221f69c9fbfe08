"""Whether an asset may be used to train AI models and was made with AI: responses and the header `Content-Usage`."""

import uuid
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from rest_framework.test import APIClient

from catalog.ai_use import training_sentence
from catalog.models import FilePreview, Listing, Preview
from catalog.models.files import FilePreviewKind
from marketplace.storage import default_storage
from tests.factories import ListingFactory, PublishedListingFactory

pytestmark = [pytest.mark.django_db, pytest.mark.database]

DECLARED = {"ai_origin": "declared", "ai_parts": "The background of the cover picture."}


def test_asset_detail_and_manifest_have_the_same_statements_about_ai(get: Any, key_client: Any) -> None:
    listing = PublishedListingFactory(ai_training="allowed", **DECLARED)
    detail, manifest = get(f"assets/{listing.slug}"), key_client().get(f"/api/v1/assets/{listing.slug}/manifest").json()
    said = {"aiTraining": "allowed", "aiOrigin": "declared", "aiParts": DECLARED["ai_parts"]}
    assert [{name: answer[name] for name in said} for answer in (detail, manifest)] == [said, said]
    assert training_sentence("allowed") in manifest["promptInstructions"]["limits"]


@pytest.mark.parametrize(("term", "header"), [("allowed", "train-ai=y"), ("forbidden", "train-ai=n"), ("by_licence", None)])
def test_listing_page_and_its_pictures_send_the_ai_training_header_unless_licences_decide(
    anonymous: APIClient, term: str, header: str | None
) -> None:
    listing = PublishedListingFactory(ai_training=term)
    preview = Preview.objects.create(listing=listing, kind="Gallery", slot=0, **_stored(), details={"width": 9, "height": 9})
    poster = FilePreview.objects.create(deliverable=listing.approved_deliverable, kind=FilePreviewKind.ANIMATION, position=0, **_stored())
    page = f"/assets/{listing.slug}"
    for address in (page, f"{page}/pictures/1", preview.url, f"/file-previews/{poster.pk}"):
        response = anonymous.get(address)
        assert (response.status_code, response.headers.get("Content-Usage")) == (200, header), address
    assert anonymous.get(preview.url, headers={"if-none-match": "*"}).headers.get("Content-Usage") == header


def test_lists_forbid_training_by_header_and_robots_txt_has_no_usage_line(anonymous: APIClient) -> None:
    store = PublishedListingFactory(ai_training="allowed").store
    for address in ("/browse", f"/stores/{store.slug}"):
        assert anonymous.get(address).headers["Content-Usage"] == "train-ai=n"
    # A line there would hold for each asset below its path, too.
    assert "usage" not in anonymous.get("/robots.txt").content.decode().lower()


def test_database_refuses_what_contradicts_itself() -> None:
    listing = ListingFactory()
    for values in (
        {"ai_origin": "declared"},
        {"ai_origin": "none", "ai_parts": "The cover."},
        {"ai_parts": "The cover."},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            Listing.objects.filter(pk=listing.pk).update(**values)


def _stored() -> dict[str, Any]:
    """Return the columns of a preview whose bytes are stored."""
    key = f"previews/{uuid.uuid4()}"
    default_storage.save_bytes(key, b"bytes")
    return {"object_key": key, "content_type": "image/webp", "size": 5, "sha256": "b" * 64}
