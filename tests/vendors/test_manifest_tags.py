"""The tags of manifests: made from real files, good enough that what they name is found by them."""

import io
import zipfile
from collections.abc import Callable
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
from tests.factories import CategoryFactory, ListingFactory, PublishedListingFactory
from tests.files import makers
from vendors.models import VendorProfile

from .cases import ASSETS, PATCH

pytestmark = pytest.mark.django_db

SKILL = b"""---
name: release-notes-writer
description: >
  Turns merged pull requests and commit messages into release notes that customers understand. Use when a changelog,
  a release announcement or an upgrade guide is needed.
---
# Release notes

## Collect the pull requests

Secret steps that buyers pay for.

```sh
# not a heading
git log
```

## Group changes by customer value

## Write the changelog
"""


@pytest.fixture
def tags(client: APIClient, vendor: VendorProfile) -> Callable[..., list[str]]:
    """Upload an archive to a new draft and return the tags of its manifest."""

    def make(category: str, members: dict[str, bytes], **fields: Any) -> list[str]:
        listing = ListingFactory(store=vendor.store, category=CategoryFactory(slug=category, name=category), **fields)
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        assert client.post(f"{ASSETS}/{listing.id}/file", makers.form(buffer.getvalue(), "asset.zip")).status_code == 200
        found: list[str] = client.post(f"{ASSETS}/{listing.id}/manifest/generate").json()["tags"]
        # They can be taken over as the listing's own.
        assert len(found) <= bounds.MAX_TAGS
        assert all(0 < len(tag) <= bounds.TAG_CHARS for tag in found)
        assert client.patch(f"{ASSETS}/{listing.id}", PATCH | {"categorySlug": category, "tags": found}, format="json").status_code == 200
        return found

    return make


def roboto(*styles: str) -> dict[str, bytes]:
    folder = Path(font_roboto.__file__).parent / "files"
    return {f"Roboto-{style}.ttf": (folder / f"Roboto-{style}.ttf").read_bytes() for style in styles}


@pytest.mark.slow
def test_real_family_is_tagged_by_name_styles_and_scripts(tags: Callable[..., list[str]]) -> None:
    found = tags("fonts", roboto("Thin", "Bold", "Italic"))
    assert {"font", "Roboto", "thin", "bold", "italic", "latin", "cyrillic", "greek", "truetype"} <= set(found)
    assert "variable font" not in found


@pytest.mark.slow
def test_preset_pack_is_tagged_by_what_it_is_for(tags: Callable[..., list[str]]) -> None:
    cube = b"LUT_3D_SIZE 2\n" + b"0 0 0\n" * 8
    found = tags("presets", {"warm.cube": cube, "cold.cube": cube, "warm.xmp": b"<x/>", "Read me.txt": b"x"})
    assert {"preset", "lut", "color grading", "lightroom", "photo preset", "cube"} <= set(found)


@pytest.mark.slow
def test_motion_template_is_tagged_by_its_host_tool(tags: Callable[..., list[str]]) -> None:
    found = tags("motion", {"title.mogrt": b"x", "title.aep": b"x"}, supported_platforms="Premiere Pro 2024+, Final Cut v11")
    assert {"motion graphics", "motion template", "premiere pro", "after effects", "final cut"} <= set(found)
    assert not any("2024" in tag or "11" in tag for tag in found)


@pytest.mark.slow
def test_skill_is_tagged_by_what_it_says_of_itself(tags: Callable[..., list[str]]) -> None:
    found = tags("ai-skills", {"release/SKILL.md": SKILL})
    assert {"ai skill", "agent skill", "release notes writer", "release", "changelog"} <= set(found)
    assert not {"secret", "heading", "when", "that"} & set(found)


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


def test_sans_serif_font_is_not_tagged_as_serif() -> None:
    sources = {
        "tags": [],
        "category": "fonts",
        "glyphCount": 1,
        "axes": [],
        "families": ["Source Sans Serif"],
        "styles": ["SemiBold Italic"],
        "scripts": [],
        "skill": None,
        "formats": [],
        "platforms": [],
    }
    assert tags_of(sources) == ["font", "sans serif", "semibold", "italic", "Source Sans Serif"]
