"""manage.py seed_catalog: a made-up catalog that browsing and searching take for a real one."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from catalog.models import Deliverable, Listing, ListingStats, Store
from marketplace.accounts.models import User
from tests.factories import PublishedListingFactory

pytestmark = pytest.mark.django_db


def seed(*arguments: str) -> str:
    out = StringIO()
    call_command("seed_catalog", *arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [(["0"], "must be between 1 and"), (["5000001"], "must be between 1 and"), (["1", "--seed", "-1"], "0 or greater")],
)
def test_figures_out_of_range_are_refused(arguments: list[str], sentence: str) -> None:
    with pytest.raises(CommandError, match=sentence):
        seed("--listings", *arguments)


def test_catalog_with_listings_is_left_alone_until_told(get: Any) -> None:
    PublishedListingFactory()
    with pytest.raises(CommandError, match="Add --yes"):
        seed("--listings", "3")
    assert Listing.objects.count() == 1
    seed("--listings", "3", "--yes")
    assert get("assets")["total"] == 4


def test_same_seed_twice_is_refused_and_another_is_taken() -> None:
    seed("--listings", "2")
    with pytest.raises(CommandError, match="choose another --seed"):
        seed("--listings", "2", "--yes")
    seed("--listings", "2", "--yes", "--seed", "2")
    assert Listing.objects.count() == 4


def test_same_seed_gives_the_same_listings() -> None:
    fields = ("id", "slug", "title", "tags", "sale_inr_minor", "published_at", "stats__purchases", "live_deliverable__sha256")
    seed("--listings", "50", "--seed", "7")
    first = list(Listing.objects.order_by("id").values_list(*fields))
    Listing.objects.update(status="Draft", live_deliverable=None)
    for model in (Deliverable, Listing, Store, User):
        model.objects.all().delete()
    seed("--listings", "50", "--seed", "7")
    assert list(Listing.objects.order_by("id").values_list(*fields)) == first


def test_made_up_listings_are_browsed_found_and_shown(get: Any) -> None:
    assert "300 listings of 1 vendors" in seed("--listings", "300")
    page = get("assets", limit=50)
    assert (page["total"], len(page["items"])) == (300, 50)
    assert sum(category["assetCount"] for category in get("categories")["items"]) == 300
    first = get(f"assets/{page['items'][0]['id']}")
    assert first["title"] == page["items"][0]["title"]
    assert first["file"]["checksum"]
    assert first["id"] in {result["id"] for result in get("assets/search", q=first["title"])["results"]}
    assert ListingStats.objects.count() == 300


def test_what_is_frequent_follows_a_power_law() -> None:
    seed("--listings", "400", "--without-search")
    bought = sorted(ListingStats.objects.values_list("purchases", flat=True), reverse=True)
    assert bought.count(0) > 150
    assert sum(bought[:40]) > sum(bought) / 2


def test_nobody_signs_in_as_a_made_up_vendor() -> None:
    seed("--listings", "1", "--without-search")
    vendor = User.objects.get()
    assert (vendor.is_active, vendor.has_usable_password()) == (False, False)
