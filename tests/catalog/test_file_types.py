"""The type of a listing's file: what it holds counts, not that it is an archive."""

from typing import Any

import pytest
from django.test import Client

from catalog.models import Deliverable, ListingIndex
from catalog.services.visibility import listing_changed
from tests.factories import CategoryFactory, PublishedListingFactory

pytestmark = pytest.mark.django_db


def published(category: str, contents: dict[str, int], **fields: Any) -> Any:
    listing = PublishedListingFactory(category=CategoryFactory(slug=category), **fields)
    technical = {"format": "zip", "contentsByExtension": contents}
    if "skill" in fields.get("tags", []):
        technical["skill"] = {"name": "keeper"}
    Deliverable.objects.filter(listing=listing).update(technical=technical)
    listing.approved_deliverable.refresh_from_db()
    listing_changed(listing)
    return listing


@pytest.mark.parametrize(
    ("category", "contents", "fields", "file_type"),
    [
        ("fonts", {"txt": 9, "ttf": 2}, {}, "ttf"),
        ("fonts", {"otf": 2, "woff2": 2}, {"file_type": "ZIP"}, "otf"),
        ("fonts", {"otf": 2}, {"file_type": " Type  family"}, "type family"),
        ("motion", {"json": 3}, {}, "lottie"),
        ("motion", {"json": 3, "html": 1}, {}, "html"),
        ("presets", {"json": 3}, {}, ""),
        ("presets", {"flac": 2}, {"file_type": "zip"}, "flac"),
        ("ai-skills", {"md": 3}, {"tags": ["skill"]}, "ai-skill"),
    ],
)
def test_file_type_is_the_vendors_or_that_of_the_contents(
    category: str, contents: dict[str, int], fields: dict[str, Any], file_type: str
) -> None:
    published(category, contents, **fields)
    assert ListingIndex.objects.get().file_type == file_type


@pytest.mark.slow
def test_type_of_contents_is_shown_in_the_api(client: Client) -> None:
    listing = published("fonts", {"ttf": 2}, file_type="zip")
    assert client.get(f"/api/v1/assets/{listing.slug}").json()["fileType"] == "ttf"
