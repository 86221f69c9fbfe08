"""What every public address may cost, whatever it is asked for, and that what it finds is what a look at each listing finds.

Reading the catalog's version, once or twice in each anonymous request, is left out of the counts.
"""

import itertools
import random
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from django.core.cache import caches
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from catalog.models import Listing, SearchTerm
from catalog.search.vocabulary import current_vocabulary
from catalog.selectors import matching
from tests.factories import CategoryFactory, PublishedListingFactory, StoreFactory

pytestmark = pytest.mark.django_db

FACETS = "category,tier,fileType,license"
# Of each filter: values that some have, and one that nothing has.
CHOICES: dict[str, list[str]] = {
    "category": ["fonts", "motion", "nowhere"],
    "tier": ["free", "pro", "vip"],
    "vendor": ["first", "second", "nobody"],
    "license": ["personal", "commercial", "unknown"],
    "tag": ["bold", "glow", "unheard-of"],
    "platform": ["figma", "sketch", "paper"],
    "fileType": ["otf", "mp4", "doc"],
    "minPrice": ["0", "200"],
    "maxPrice": ["300", "900"],
}
LICENSES = {"personal", "commercial", "extended"}


def queries() -> Iterator[dict[str, str]]:
    """Yield every set of filters, each with values that the dice choose."""
    dice = random.Random(11)
    for size in range(len(CHOICES) + 1):
        for names in itertools.combinations(CHOICES, size):
            query = {name: dice.choice(CHOICES[name]) for name in names}
            if Decimal(query.get("minPrice", 0)) <= Decimal(query.get("maxPrice", 1000)):
                yield query | ({"currency": dice.choice(["USD", "INR"])} if {"minPrice", "maxPrice"} & set(names) else {})


@pytest.fixture
def listings() -> list[Listing]:
    """Listings of all kinds."""
    stores, motion = [StoreFactory(slug="first"), StoreFactory(slug="second")], CategoryFactory(slug="motion", name="Motion")
    dice = random.Random(7)
    return [
        PublishedListingFactory(
            title=f"{dice.choice(['Brush', 'Neon', 'Plain'])} Script {number}",
            store=dice.choice(stores),
            tags=dice.choice([["Bold"], ["Bold", "Glow"], ["Hand"]]),
            supported_platforms=dice.choice(["Figma, Sketch 99+", "Figma", ""]),
            file_type=dice.choice(["OTF", "MP4"]),
            allowed_license_slugs=dice.choice([None, ["personal"], ["commercial"]]),
            tier_requirement=dice.choice(["free", "free", "pro"]),
            base_price_minor=dice.choice([10_000, 40_000, 100_000]),
            price_inr_minor=dice.choice([None, 10_000, 40_000]),
            **({"category": motion} if number % 3 == 0 else {}),
        )
        for number in range(24)
    ]


def keeps(listing: Listing, query: dict[str, str]) -> bool:
    """Tell whether filters keep a listing: the rules of browsing, in the plainest words."""
    price = listing.base_price_minor if query.get("currency") == "USD" else listing.price_inr_minor
    priced = {"minPrice", "maxPrice"} & query.keys()
    low, high = Decimal(query.get("minPrice", 0)) * 100, Decimal(query.get("maxPrice", 10_000)) * 100
    permitted = LICENSES if listing.allowed_license_slugs is None else set(listing.allowed_license_slugs)
    platforms = {part.strip().removesuffix(" 99+").lower() for part in listing.supported_platforms.split(",")}
    return (
        query.get("category", listing.category.slug) == listing.category.slug
        and query.get("tier", listing.tier_requirement) == listing.tier_requirement
        and query.get("vendor", listing.store.slug) == listing.store.slug
        and query.get("license", "personal") in permitted | ({"personal"} if "license" not in query else set())
        and query.get("tag", "-") in {"-", *(tag.lower() for tag in listing.tags)}
        and query.get("platform", "-") in {"-", *platforms}
        and query.get("fileType", listing.file_type.lower()) == listing.file_type.lower()
        and (not priced or (price is not None and low <= price <= high))
    )


def cold(path: str, query: dict[str, Any]) -> tuple[Any, int]:
    """Return an answer that nothing was remembered for, and how many queries it took."""
    for store in caches.all():
        store.clear()
    # It is in memory until the catalog changes.
    current_vocabulary()
    with CaptureQueriesContext(connection) as context:
        response = APIClient().get(f"/api/v1/{path}", query)
    assert response.status_code == 200, response.content
    return response.json(), sum("FROM catalog_catalogversion" not in asked["sql"] for asked in context.captured_queries)


@pytest.mark.parametrize("few", [0, 10_000])
def test_browse_takes_two_queries_at_most_and_finds_what_a_look_at_each_finds(
    listings: list[Listing], monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(matching, "FEW", few)
    dice = random.Random(few)
    for query in queries():
        expected = {str(listing.pk) for listing in listings if keeps(listing, query)}
        asked = query | {"sort": dice.choice(["popular", "newest", "price_asc", "price_desc"])}
        whole, taken = cold("assets", asked | {"limit": 50, "facets": FACETS})
        assert taken <= 2, asked
        assert (whole["total"], {item["id"] for item in whole["items"]}) == (len(expected), expected), asked
        assert sum(value["count"] for value in whole["facets"]["tier"]) == len(expected), asked
        ids = [item["id"] for item in whole["items"]]
        faceted = dice.choice([{}, {"facets": FACETS}])
        page = dice.choice([2, 4, 1_000_000])
        part, taken = cold("assets", asked | faceted | {"limit": 2, "page": page})
        assert (taken <= 2, part["total"], [item["id"] for item in part["items"]]) == (True, len(ids), ids[2 * page - 2 : 2 * page]), asked
        if part["nextCursor"]:
            following, taken = cold("assets", asked | faceted | {"limit": 2, "cursor": part["nextCursor"]})
            assert (taken <= 2, [item["id"] for item in following["items"]]) == (True, ids[2 * page : 2 * page + 2]), asked


@pytest.mark.parametrize(
    "q", ["script", "scirpt", "brush script", "brsuh scirpt", "brush zzzz", "zzzzqqqq", "\u2026", "b", "zzzzqqqqx brush yyyyvvvvx"]
)
def test_search_takes_five_queries_at_most_and_keeps_to_the_filters(listings: list[Listing], q: str) -> None:
    assert SearchTerm.objects.exists()
    for query in random.Random(q).sample(list(queries()), 24):
        kept = {str(listing.pk) for listing in listings if keeps(listing, query)}
        for faceted in ({}, {"facets": FACETS}):
            answer, taken = cold("assets/search", query | faceted | {"q": q, "limit": 50})
            assert taken <= 5, (query, faceted)
            found = {result["id"] for result in answer["results"]}
            assert found == kept if q == "script" else found <= kept, query


def test_other_addresses_take_no_more_than_they_should(listings: list[Listing], key_client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    listing = listings[0]
    for path, most in ((f"assets/{listing.pk}", 3), (f"assets/{listing.slug}", 3), ("categories", 2)):
        assert cold(path, {})[1] <= most, path
    for q in ("b", "brush", "brsuh", "brush scr", "zzzzqqqq", "a b c d e f g h i j k l m"):
        assert cold("assets/suggest", {"q": q})[1] <= 4, q
    client, path = key_client(), f"/api/v1/assets/{listing.pk}/manifest"
    # The first notes the use of the key and makes the manifest.
    client.get(path)
    caches["answers"].clear()
    with CaptureQueriesContext(connection) as context:
        assert client.get(path).status_code == 200
    # The credential, the listing, its manifest, the licence tiers.
    assert sum("FROM catalog_catalogversion" not in asked["sql"] for asked in context.captured_queries) <= 4
