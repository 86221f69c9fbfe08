"""The demo catalog and its files."""

from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.test import Client
from django.utils import timezone

from catalog import bounds
from catalog.models import Category
from marketplace.demo.entries import FOLDER, CatalogEntry, load_entries
from marketplace.demo.invoices import make_invoice, make_seller
from marketplace.demo.people import People
from marketplace.demo.shop import fill_shop
from tests.factories import UserFactory
from tests.shop import funded, tiers
from tests.vendors.cases import make_vendor
from wallet.models import Invoice

ENTRIES = load_entries()


def test_files_belong_to_the_entries() -> None:
    assert {folder.name for folder in (FOLDER / "files").iterdir()} == {entry.slug for entry in ENTRIES}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.slug)
def test_every_picture_of_a_gallery_is_described(entry: CatalogEntry) -> None:
    assert {path.name for path in entry.folder.glob("*.webp")} == {f"{slot}.webp" for slot in range(len(entry.pictures))}
    assert entry.deliverable.exists()
    assert len(set(entry.pictures)) == len(entry.pictures)
    assert all(0 < len(text) <= bounds.ALT_TEXT_CHARS for text in entry.pictures)


@pytest.mark.django_db
def test_demo_shows_its_pictures_and_invoices_a_purchase(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    tiers()
    entry = next(entry for entry in ENTRIES if entry.kind.category == "motion")
    Category.objects.get_or_create(slug=entry.kind.category, defaults={"name": "Motion"})
    staff = UserFactory(is_staff=True, is_superuser=True)
    people = People(staff, UserFactory(), funded(inr=10_000_000), UserFactory(), {entry.store: make_vendor()})
    assert list(fill_shop([entry], people, until=timezone.now())) == [entry]
    make_seller(people)
    for _ in range(2):
        make_invoice([entry], people)
    assert Invoice.objects.get().treatment == "inter_state"
    page = BeautifulSoup(Client().get(f"/assets/{entry.slug}").content, "html.parser")
    assert [image["alt"] for image in page.select(".gallery img")] == entry.pictures
