"""benchmarks.seeding: a made-up catalog that browsing and searching take for a real one."""

from typing import Any

import pytest

from benchmarks.seeding import seed
from benchmarks.seeding.fill import SeedPresent, fill
from catalog.models import Deliverable, Listing, ListingStats, Store
from marketplace.accounts.models import User
from tests.factories import PublishedListingFactory

pytestmark = pytest.mark.django_db


def test_catalog_with_listings_is_left_alone_until_told(get: Any) -> None:
    PublishedListingFactory()
    with pytest.raises(SystemExit):
        seed.main("--listings", "3")
    assert Listing.objects.count() == 1
    seed.main("--listings", "3", "--yes")
    assert get("assets")["total"] == 4


def test_same_seed_twice_is_refused_and_another_is_taken() -> None:
    fill(listings=2, seed=1)
    with pytest.raises(SeedPresent):
        fill(listings=2, seed=1)
    fill(listings=2, seed=2)
    assert Listing.objects.count() == 4


def test_same_seed_gives_the_same_listings() -> None:
    fields = ("id", "slug", "title", "tags", "price_inr_minor", "published_at", "stats__purchases", "live_deliverable__sha256")
    fill(listings=50, seed=7)
    first = list(Listing.objects.order_by("id").values_list(*fields))
    Listing.objects.update(status="Draft", live_deliverable=None)
    for model in (Deliverable, Listing, Store, User):
        model.objects.all().delete()
    fill(listings=50, seed=7)
    assert list(Listing.objects.order_by("id").values_list(*fields)) == first


def test_made_up_listings_are_browsed_found_and_shown(get: Any) -> None:
    seed.main("--listings", "300")
    page = get("assets", limit=50)
    assert (page["total"], len(page["items"])) == (300, 50)
    assert sum(category["assetCount"] for category in get("categories")["items"]) == 300
    first = get(f"assets/{page['items'][0]['id']}")
    assert first["title"] == page["items"][0]["title"]
    assert first["file"]["checksum"]
    assert first["id"] in {result["id"] for result in get("assets/search", q=first["title"])["results"]}
    assert ListingStats.objects.count() == 300


def test_what_is_frequent_follows_a_power_law() -> None:
    fill(listings=400, seed=1)
    bought = sorted(ListingStats.objects.values_list("purchases", flat=True), reverse=True)
    assert bought.count(0) > 150
    assert sum(bought[:40]) > sum(bought) / 2


def test_nobody_signs_in_as_a_made_up_vendor() -> None:
    fill(listings=1, seed=1)
    vendor = User.objects.get()
    assert (vendor.is_active, vendor.has_usable_password()) == (False, False)
