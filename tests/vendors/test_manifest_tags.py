"""The tags of manifests: what they are made of, and that what they name is found by them."""

from pathlib import Path
from typing import Any

import font_roboto
import pytest
from rest_framework.test import APIClient

from catalog import bounds
from catalog.manifests import ensure_manifest
from catalog.manifests.tags import tags_of
from catalog.models import Listing
from catalog.services.visibility import listing_changed
from tests.factories import CategoryFactory, PublishedListingFactory
from tests.files import makers

from .cases import ASSETS, PATCH

pytestmark = pytest.mark.django_db

NOTHING: dict[str, Any] = {"tags": [], "category": "fonts", "glyphCount": 0, "skill": None} | {
    name: [] for name in ("axes", "families", "styles", "scripts", "formats", "platforms")
}
SKILL = {
    "name": "release-notes-writer",
    "description": "Turns merged pull requests into release notes that customers understand. Use when a changelog is needed.",
    "headings": ["Collect the pull requests", "Write the changelog"],
}


@pytest.mark.parametrize(
    ("sources", "tags"),
    [
        # No serif, and not bold.
        (
            {"glyphCount": 1, "families": ["Source Sans Serif"], "styles": ["SemiBold Italic"]},
            ["font", "sans serif", "semibold", "italic", "Source Sans Serif"],
        ),
        ({"glyphCount": 1, "axes": [{"tag": "wdth"}, {"tag": "XXXX"}]}, ["font", "variable font", "width"]),
        # The vendor's first, and none that is too long.
        (
            {"tags": ["x" * bounds.TAG_CHARS, "y" * (bounds.TAG_CHARS + 1), *map(str, range(99))]},
            ["x" * bounds.TAG_CHARS, *map(str, range(bounds.MAX_TAGS - 1))],
        ),
        (
            {"category": "presets", "formats": ["cube", "txt", "xmp"]},
            ["preset", "lut", "color grading", "lightroom", "photo preset", "cube", "xmp"],
        ),
        (
            {"category": "motion", "formats": ["aep", "mogrt"], "platforms": ["Premiere Pro 2024+", "Final Cut v11"]},
            ["motion graphics", "after effects", "premiere pro", "motion template", "final cut", "aep", "mogrt"],
        ),
        (
            {"category": "ai-skills", "skill": SKILL, "tags": ["Agent"]},
            [
                *("Agent", "ai skill", "agent skill", "release notes writer"),
                *("pull", "requests", "changelog", "turns", "merged", "release"),
            ],
        ),
    ],
)
def test_tags_are_made_of_category_style_formats_host_tools_and_the_words_of_a_skill(sources: dict[str, Any], tags: list[str]) -> None:
    assert tags_of(NOTHING | sources) == tags


@pytest.mark.slow
def test_real_family_is_tagged_by_name_styles_and_scripts_and_the_vendor_can_adopt_the_tags(client: APIClient, listing: Listing) -> None:
    folder = Path(font_roboto.__file__).parent / "files"
    members = {f"Roboto-{style}.ttf": (folder / f"Roboto-{style}.ttf").read_bytes() for style in ("Thin", "Bold", "Italic")}
    assert client.post(f"{ASSETS}/{listing.id}/file", makers.form(makers.zipped(members), "asset.zip")).status_code == 200
    found = client.post(f"{ASSETS}/{listing.id}/manifest/generate").json()["tags"]
    assert {"font", "Roboto", "thin", "bold", "italic", "latin", "cyrillic", "greek", "truetype"} <= set(found)
    assert "variable font" not in found
    assert client.patch(f"{ASSETS}/{listing.id}", PATCH | {"tags": found}, format="json").status_code == 200


@pytest.mark.slow
def test_listing_is_found_by_each_tag_of_its_manifest(anonymous: APIClient) -> None:
    """A font that says nothing of itself is found by each of its tags, once its vendor has taken them over."""
    PublishedListingFactory(title="Something else", category=CategoryFactory(slug="motion", name="Motion"))
    listing = PublishedListingFactory(title="Kestrel")
    assert listing.approved_deliverable is not None
    listing.approved_deliverable.technical = {
        "format": "ttf",
        "contentsByExtension": {"ttf": 1},
        "glyphCount": 400,
        "variableAxes": ["wght"],
        "axes": [{"tag": "wght", "min": 100, "default": 400, "max": 900}],
        "familyNames": ["Kestrel Sans Condensed"],
        "style": "Bold",
        "scripts": ["Cyrillic", "Latin"],
    }
    listing.approved_deliverable.save()
    found = ensure_manifest(listing).body["tags"]
    Listing.objects.filter(pk=listing.pk).update(tags=found)
    listing_changed(Listing.objects.get(pk=listing.pk))
    assert {"variable font", "weight", "sans serif", "condensed", "bold", "cyrillic"} <= set(found)
    for tag in found:
        results = anonymous.get("/api/v1/assets/search", {"q": tag}).json()["results"]
        assert [result["id"] for result in results][:1] == [str(listing.id)], tag
