"""What the demo catalog says of its pictures."""

from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from catalog import bounds
from catalog.models import Category
from marketplace.demo.alt_texts import alt_texts_of
from marketplace.demo.entries import CatalogEntry, build_media, load_entries
from marketplace.demo.people import People
from marketplace.demo.shop import fill_shop
from tests.factories import UserFactory
from tests.shop import tiers
from tests.vendors.cases import make_vendor

ENTRIES = load_entries()
# What decides how many pictures there are.
KINDS = {(entry.category, bool(entry.sound)): entry for entry in ENTRIES}


@pytest.mark.parametrize("entry", KINDS.values(), ids=lambda entry: entry.slug)
def test_every_picture_of_a_gallery_is_described(entry: CatalogEntry) -> None:
    assert len(alt_texts_of(entry)) == len(build_media(entry).gallery)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.slug)
def test_description_of_a_picture_is_a_sentence_of_its_own_within_the_bound(entry: CatalogEntry) -> None:
    texts = alt_texts_of(entry)
    assert len(set(texts)) == len(texts)
    assert all(0 < len(text) <= bounds.ALT_TEXT_CHARS for text in texts)


@pytest.mark.django_db
def test_gallery_in_the_storefront_says_what_each_picture_shows(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    tiers()
    entry = next(entry for entry in ENTRIES if entry.scene == "reveal")
    Category.objects.get_or_create(slug=entry.category, defaults={"name": "Motion"})
    staff = UserFactory(is_staff=True, is_superuser=True)
    assert list(fill_shop([entry], People(staff, UserFactory(), UserFactory(), UserFactory(), {entry.store: make_vendor()}))) == [entry]
    page = BeautifulSoup(Client().get(f"/assets/{entry.slug}").content, "html.parser")
    assert tuple(image["alt"] for image in page.select(".gallery img")) == alt_texts_of(entry)
