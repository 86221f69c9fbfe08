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
from marketplace.demo.invoices import make_invoice, make_seller
from marketplace.demo.people import People
from marketplace.demo.shop import fill_shop
from tests.factories import UserFactory
from tests.shop import funded, tiers
from tests.vendors.cases import make_vendor
from wallet.models import Invoice

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
def test_demo_shows_its_pictures_and_invoices_a_purchase(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    tiers()
    entry = next(entry for entry in ENTRIES if entry.scene == "reveal")
    Category.objects.get_or_create(slug=entry.category, defaults={"name": "Motion"})
    staff = UserFactory(is_staff=True, is_superuser=True)
    people = People(staff, UserFactory(), funded(inr=10_000_000), {entry.store: make_vendor()})
    assert list(fill_shop([entry], people)) == [entry]
    make_seller(people)
    for _ in range(2):
        make_invoice([entry], people)
    assert Invoice.objects.get().treatment == "inter_state"
    page = BeautifulSoup(Client().get(f"/assets/{entry.slug}").content, "html.parser")
    assert tuple(image["alt"] for image in page.select(".gallery img")) == alt_texts_of(entry)
