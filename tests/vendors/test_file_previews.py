"""Previews made of an approved file: what they hold, when they are made anew, who sees them."""

import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from bs4 import BeautifulSoup
from django.test import Client
from fontTools.ttLib import TTFont
from PIL import Image

from catalog.events import ListingPublished
from catalog.font_samples import REPERTOIRE
from catalog.font_tester import type_tester_of
from catalog.models import Category, FilePreview, Listing
from marketplace.core.events import emit
from marketplace.demo.entries import load_entries
from marketplace.demo.previews import load_previews
from marketplace.storage import default_storage
from tests.factories import DeliverableFactory, UserFactory
from tests.files.makers import drawn_font, font, zipped
from tests.shop import on_sale, store_file
from vendors import file_previews
from vendors.inspection import inspect_deliverable
from vendors.sandbox.runner import Limits
from vendors.services.file_previews import attach_file_previews, make_file_previews

pytestmark = pytest.mark.django_db
DEMO = Path(__file__).parents[2] / "marketplace/demo/files"
SERIF = (DEMO / "instrument-serif/instrument-serif-1.0.0.zip").read_bytes()
LOADERS = (DEMO / "orbit-loaders/orbit-loaders-1.0.0.zip").read_bytes()


@pytest.fixture(autouse=True)
def _files_are_parsed_here() -> None:
    """Let the child do it, under its limits."""


def selling(content: bytes, **fields: Any) -> Listing:
    """Return a listing on sale whose stored file was inspected."""
    listing = on_sale(content, **fields)
    record_inspection(listing)
    return listing


def record_inspection(listing: Listing) -> None:
    file = listing.approved_deliverable
    assert file is not None
    inspection = inspect_deliverable(storage=default_storage, key=file.object_key, size=file.file_size)
    file.format, file.technical, file.entries = inspection.format, inspection.technical, list(inspection.entries)
    file.save()


def made_of(listing: Listing) -> list[FilePreview]:
    make_file_previews(listing_id=listing.pk)
    return list(FilePreview.objects.filter(deliverable__listing=listing))


def kept_of(slug: str, listing: Listing) -> list[FilePreview]:
    """Return the previews that the demo keeps of a file, as those of the listing's."""
    assert listing.approved_deliverable is not None
    entry = next(entry for entry in load_entries() if entry.slug == slug)
    attach_file_previews(deliverable=listing.approved_deliverable, made=load_previews(entry))
    return list(FilePreview.objects.filter(deliverable__listing=listing))


def stored(preview: FilePreview) -> bytes:
    return b"".join(default_storage.read(preview.object_key))


def frames_of(picture: Image.Image) -> int:
    return int(getattr(picture, "n_frames", 1))


def motion() -> Category:
    return Category.objects.get_or_create(slug="motion", defaults={"name": "Motion"})[0]


@pytest.mark.slow
def test_each_style_of_a_family_is_a_subset_that_keeps_kerning_and_says_what_it_is() -> None:
    previews = made_of(selling(SERIF))
    assert [(each.details["style"], each.details["italic"]) for each in previews] == [("Regular", False), ("Italic", True)]
    with zipfile.ZipFile(io.BytesIO(SERIF)) as archive:
        whole = TTFont(io.BytesIO(archive.read("InstrumentSerif-Regular.ttf")))
    subset = TTFont(io.BytesIO(stored(previews[0])))
    assert set(map(chr, subset.getBestCmap())) == set(map(chr, whole.getBestCmap())) & set(REPERTOIRE)
    assert len(subset.getBestCmap()) < len(whole.getBestCmap()) / 2
    assert "kern" in {record.FeatureTag for record in subset["GPOS"].table.FeatureList.FeatureRecord}
    assert subset["name"].getDebugName(1) == "Preview of Instrument Serif"
    assert "French" in previews[0].details["languages"]
    assert "Russian" not in previews[0].details["languages"]
    # The demo keeps what the service makes of its files.
    kept = {entry.slug: [preview.details for _, preview in load_previews(entry)] for entry in load_entries()}
    assert kept["instrument-serif"] == [preview.details for preview in previews]
    fonts = {"bricolage-grotesque", "fraunces", "hanken-grotesk", "instrument-serif"}
    assert {slug for slug, made in kept.items() if made} == fonts | {"checkout-moments", "orbit-loaders", "weather-in-motion"}


@pytest.mark.slow
def test_page_of_a_large_font_family_says_how_many_styles_can_be_tried() -> None:
    styles = {f"style{number:02}.otf": drawn_font({"A": 100}, {"A": 500}, cff=False, name=f"Style {number}") for number in range(26)}
    listing = selling(zipped(styles), category=Category.objects.get_or_create(slug="fonts", defaults={"name": "Fonts"})[0])
    made = made_of(listing)
    assert {each.details["stylesOfFile"] for each in made} == {26}
    tester = type_tester_of(None, made)
    assert tester is not None
    assert (len(tester.styles), tester.styles_of_file) == (24, 26)
    assert "24 of 26 styles" in Client().get(f"/assets/{listing.slug}").content.decode()


@pytest.mark.slow
def test_style_in_several_formats_is_shown_once_with_its_axes_and_a_damaged_font_left_out() -> None:
    axes = (("wght", 100, 400, 900, "Weight"),)
    [preview] = made_of(selling(zipped({"a.woff2": font(axes, "woff2"), "a.ttf": font(axes), "b.ttf": font()[:300]})))
    assert preview.details["familyNames"] == ["Tiny Sans"]
    assert preview.details["axes"] == [{"tag": "wght", "min": 100, "default": 400, "max": 900}]
    assert [axis.axisTag for axis in TTFont(io.BytesIO(stored(preview)))["fvar"].axes] == ["wght"]


@pytest.mark.slow
def test_new_file_replaces_the_previews_of_the_one_before_and_the_same_file_keeps_them(
    django_capture_on_commit_callbacks: Any,
) -> None:
    listing = selling(zipped({"a.ttf": font(), "b.txt": "b"}))
    [before] = made_of(listing)
    assert made_of(listing) == [before]
    listing.approved_deliverable = DeliverableFactory(listing=listing, approved_at=listing.published_at)
    listing.save()
    store_file(listing, font(letters="ABC"))
    record_inspection(listing)
    with django_capture_on_commit_callbacks(execute=True):
        [after] = made_of(listing)
    assert after.details["characters"] == "ABC"
    with pytest.raises(FileNotFoundError):
        stored(before)


def test_listing_that_was_deleted_before_its_previews_were_made_gets_none() -> None:
    listing, _ = selling(font()), selling(font())
    Listing.objects.filter(pk=listing.pk).update(status="Draft", approved_deliverable=None)
    Listing.objects.filter(pk=listing.pk).delete()
    make_file_previews(listing_id=listing.pk)
    assert not FilePreview.objects.exists()


@pytest.mark.slow
def test_publication_creates_file_previews(django_capture_on_commit_callbacks: Any) -> None:
    listing = selling(font())
    with django_capture_on_commit_callbacks(execute=True):
        emit(ListingPublished(listing.pk))
    assert FilePreview.objects.filter(deliverable=listing.approved_deliverable).count() == 1


@pytest.mark.slow
def test_animations_play_in_a_picture_and_have_a_still_one(client: Client) -> None:
    previews = made_of(selling(LOADERS, category=motion()))
    assert {each.details["name"] for each in previews} == {"orbit", "arc", "bounce", "blocks"}
    # JSON of another category is no animation.
    assert made_of(selling(LOADERS)) == []
    for preview in previews:
        assert preview.size <= 300 * 1024
        with Image.open(io.BytesIO(stored(preview))) as moving:
            assert (moving.format, moving.info["loop"]) == ("WEBP", 0)
            assert max(moving.size) == 320
            assert 1 < frames_of(moving) <= 120
        shown, poster = client.get(preview.url), client.get(f"{preview.url}/poster")
        assert (shown["Content-Type"], poster["Content-Type"]) == ("image/webp", "image/webp")
        with Image.open(io.BytesIO(poster.getvalue())) as still:
            assert frames_of(still) == 1


INVALID = ("{}", "[1]", "not JSON", json.dumps({"w": 1e9, "h": 0, "fr": 0, "ip": 0, "op": -5, "layers": []}))


@pytest.mark.slow
@pytest.mark.parametrize("contents", [INVALID, ['{"v": ' + "[" * 100_000]], ids=["invalid", "deep"])
def test_invalid_animations_get_no_preview(contents: Sequence[str]) -> None:
    content = zipped({f"{number}.json": content for number, content in enumerate(contents)})
    assert made_of(selling(content, category=motion())) == []


@pytest.mark.slow
def test_animation_without_end_is_shown_for_six_seconds() -> None:
    with zipfile.ZipFile(io.BytesIO(LOADERS)) as archive:
        lottie = json.loads(archive.read("blocks.json"))
    lottie["op"] = lottie["fr"] * 3600
    [preview] = made_of(selling(zipped({"a.json": json.dumps(lottie)}), category=motion()))
    with Image.open(io.BytesIO(stored(preview))) as moving:
        assert frames_of(moving) <= 120


def test_previews_are_public_while_the_listing_and_their_file_are_on_sale(client: Client, settings: Any) -> None:
    listing = selling(font())
    [preview] = made_of(listing)
    answer = client.get(preview.url)
    assert (answer.status_code, answer["Content-Type"]) == (200, "font/woff2")
    assert "public" not in answer["Cache-Control"]
    assert client.get(f"{preview.url}/poster").status_code == 404
    Listing.objects.filter(pk=listing.pk).update(status="Draft")
    assert client.get(preview.url).status_code == 404
    client.force_login(UserFactory())
    assert client.get(preview.url).status_code == 404
    client.force_login(listing.store.owner)
    assert client.get(preview.url).status_code == 200
    settings.ADMIN_REQUIRES_SECOND_FACTOR = True
    staff = UserFactory(is_staff=True)
    client.force_login(staff)
    assert client.get(preview.url).status_code == 404
    Authenticator.objects.create(user=staff, type="totp", data={})
    staff.refresh_from_db()
    client.force_login(staff)
    assert client.get(preview.url).status_code == 200
    # A newer file is on sale.
    newer = DeliverableFactory(listing=listing, approved_at=listing.published_at)
    Listing.objects.filter(pk=listing.pk).update(status="Published", approved_deliverable=newer)
    assert client.get(preview.url).status_code == 404


@pytest.mark.slow
def test_page_of_a_font_family_shows_every_style_and_loads_only_subsets(client: Client) -> None:
    listing = selling(SERIF)
    previews = kept_of("instrument-serif", listing)
    page = BeautifulSoup(client.get(f"/assets/{listing.slug}").content, "html.parser")
    assert [option.get_text() for option in page.select("#tester-style option")] == ["Instrument Serif Regular", "Instrument Serif Italic"]
    assert {tag["data-feature"] for tag in page.select("[data-feature]")} >= {"kern", "liga", "ss01"}
    assert len(page.select(".glyphs li")) == len(previews[0].details["characters"])
    shown = page.select("#tester")[0].get_text()
    assert ("Icelandic" in shown, "Vietnamese" in shown) == (True, False)
    css = client.get(str(page.select("link[href*='specimen.css']")[0]["href"])).content.decode()
    assert all(preview.url in css for preview in previews)
    assert str(listing.approved_deliverable_id) not in css


@pytest.mark.slow
def test_file_that_takes_too_long_has_no_previews(monkeypatch: pytest.MonkeyPatch) -> None:
    listing = selling(font())
    monkeypatch.setattr(file_previews, "LIMITS", Limits(cpu_seconds=60, wall_seconds=0.01))
    assert made_of(listing) == []
