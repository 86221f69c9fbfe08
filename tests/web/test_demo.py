"""The demo catalog and its files."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from catalog import bounds
from catalog.models import Category, FeaturedListing
from catalog.models.listings import AiOrigin, AiTraining
from developers.models import ApiUsage
from library.models import Licence
from marketplace.core.money import Currency
from marketplace.demo.clock import clock_at
from marketplace.demo.entries import FOLDER, CatalogEntry, load_entries
from marketplace.demo.history import CUSTOMERS, DAYS, make_history
from marketplace.demo.invoices import make_invoice, make_seller
from marketplace.demo.people import Credentials, People, make_approval, make_credentials, make_people
from marketplace.demo.shop import FEATURED, feature_listings, fill_shop
from marketplace.jobs.models import Job
from tests.factories import UserFactory
from tests.shop import funded, on_sale, tiers
from tests.vendors.cases import make_vendor
from vendors.sandbox import zips
from wallet.mails import announce_purchase
from wallet.models import Approval, Invoice, Journal, Order

ENTRIES = load_entries()


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.slug)
def test_every_picture_of_a_gallery_is_described(entry: CatalogEntry) -> None:
    assert {path.name for path in entry.folder.glob("*.webp")} == {f"{slot}.webp" for slot in range(len(entry.pictures))}
    assert entry.deliverable.exists()
    assert len(set(entry.pictures)) == len(entry.pictures)
    assert all(0 < len(text) <= bounds.ALT_TEXT_CHARS for text in entry.pictures)


def test_demo_has_what_it_is_to_show() -> None:
    assert {folder.name for folder in (FOLDER / "files").iterdir()} == {entry.slug for entry in ENTRIES}
    # Grotesks for commercial use, which costs twice the price, below 1,000 rupees.
    prices = [entry.price_minor(Currency.INR) for entry in ENTRIES if "grotesk" in entry.tags]
    assert len([price for price in prices if price and 2 * price < 1_000_00]) == 2
    free = [entry for entry in ENTRIES if entry.kind.category == "ai-skills" and not any(map(entry.price_minor, entry.prices))]
    assert [(entry.tier, entry.waiting) for entry in free] == [("free", False)] * 2
    assert {entry.ai_training for entry in ENTRIES} == set(AiTraining)
    assert {entry.ai_origin for entry in ENTRIES} == set(AiOrigin)
    assert all((entry.ai_origin == AiOrigin.DECLARED) == bool(entry.ai_parts) for entry in ENTRIES)
    assert set(FEATURED) <= {entry.slug for entry in ENTRIES if not entry.waiting}


@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if entry.kind.category == "ai-skills"], ids=lambda entry: entry.slug)
def test_every_skill_can_be_installed_by_agents(entry: CatalogEntry) -> None:
    with entry.deliverable.open("rb") as archive:
        found = zips.inspect(archive, entry.deliverable.stat().st_size, "zip")["facts"]["skill"]
    assert found["frontmatter"]["name"] == entry.slug


@pytest.mark.slow
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
        make_invoice(people)
    # One is for a client.
    assert [invoice.treatment for invoice in Invoice.objects.all()] == ["inter_state", "inter_state"]
    page = BeautifulSoup(Client().get(f"/assets/{entry.slug}").content, "html.parser")
    assert [image["alt"] for image in page.select(".gallery img")] == entry.pictures


@pytest.mark.slow
@pytest.mark.django_db
def test_demo_history_of_sixty_days_agrees_with_the_ledger(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    tiers()
    Category.objects.get_or_create(slug="ai-skills", defaults={"name": "Skills"})
    entries = [entry for entry in ENTRIES if entry.kind.category == "ai-skills"]
    now = timezone.now()
    credentials: Credentials = {}
    with clock_at(now - timedelta(days=DAYS + 2)):
        people = make_people(credentials)
        make_seller(people)
    make_credentials(people, credentials)
    assert list(fill_shop(entries, people, until=now)) == entries
    for _ in range(2):
        make_history(people, until=now)
        orders = Order.objects.order_by("created_at")
        # As many as there are customers for each listing, at most.
        assert 20 < orders.count() <= len(CUSTOMERS) * len(entries)
    paid = orders.filter(price_minor__gt=0)
    assert [order.created_at for order in paid] == [journal.at for journal in Journal.objects.filter(kind="sale").order_by("id")]
    assert now - orders[0].created_at > timedelta(days=20)
    assert all(licence.acquired_at < now - timedelta(hours=1) for licence in Licence.objects.all())
    assert set(orders.filter(license_slug="commercial").values_list("terms__version", flat=True)) == {1, 2}
    assert Invoice.objects.exists()
    assert ApiUsage.objects.values("day").distinct().count() == DAYS
    assert not Job.objects.filter(task_path=announce_purchase.module_path).exists()
    call_command("reconcile", verbosity=0)


@pytest.mark.slow
@pytest.mark.django_db
def test_one_purchase_waits_for_the_buyer_however_often_the_demo_is_made() -> None:
    on_sale()
    people = People(UserFactory(), UserFactory(), funded(inr=10_000_000), UserFactory(), {})
    for _ in range(2):
        make_approval(people)
    approval = Approval.objects.get()
    assert (approval.owner, approval.current_status) == (people.buyer, "Waiting")


@pytest.mark.slow
@pytest.mark.django_db
def test_demo_features_listings_unless_staff_have_done_so() -> None:
    for slug in FEATURED:
        on_sale(slug=slug)
    people = People(UserFactory(), UserFactory(), UserFactory(), UserFactory(), {})
    feature_listings(people)
    assert tuple(FeaturedListing.objects.values_list("listing__slug", flat=True)) == FEATURED
    FeaturedListing.objects.exclude(position=1).delete()
    feature_listings(people)
    assert FeaturedListing.objects.count() == 1
