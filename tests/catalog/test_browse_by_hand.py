"""Random filters on odd values find, count and order what a look at each listing does, in few queries."""

import random
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from catalog.browsing import BrowseQuery, browse, filter_listings
from catalog.labels import labels_of, normalised
from catalog.models import LabelKind, LicenseTier, Listing
from catalog.pricing import current_prices, permitted_tiers, prices_of
from catalog.search import search
from catalog.selectors.browse import Facet, Sort
from catalog.selectors.taxonomy import active_tiers
from tests.factories import CategoryFactory, PublishedListingFactory, StoreFactory

pytestmark = pytest.mark.django_db

# Signs of LIKE, of arrays and of JSON; letters whose case is more than one letter, or another's; signs that exclude.
TAGS = [
    "100%",
    "a_b",
    "axb",
    "100 percent",
    'say "no"',
    "it's",
    "a,b",
    "{a}",
    "a\\b",
    "\\",
    "Straße",
    "STRASSE",
    "İstanbul",
    "ÉTÉ",
    "ΣΑΣ",
    "!new",
    "\\!",
]
ASKED_TAGS = [*TAGS, "strasse", "Été", "σας", "a%", "a__", "%", "_", "100", "a\\\\b", "A_B", " 100%  ", "i\u0307stanbul"]
PLATFORMS = ["Figma", "100% CPU", "After_Effects 2023+", "Ünïty/figma"]
FILE_TYPES = ["OTF", "o_f", "oTf%", "ΐ", "a'b", ""]
LICENSES = [None, ["personal"], ["personal", "commercial", "extended"], ["commercial", "Team"], ["extended"]]
FACETS = tuple(Facet)
VALUES = {
    "tag": ASKED_TAGS,
    "platform": ["figma", "FIGMA", "100% cpu", "100_ cpu", "after_effects", "after-effects", "ÜNÏTY"],
    "fileType": ["otf", "o_f", "OTF%", "Ϊ́", "a'b", "%"],
    "license": ["personal", "PERSONAL", "commercial", "Team", "team", "extended", "*", "gone"],
    "category": ["fonts", "motion", "none"],
    "tier": ["free", "pro", "vip"],
    "vendor": ["first", "nobody"],
    "aiTraining": ["allowed", "forbidden", "by_licence"],
    "aiOrigin": ["undeclared", "none", "declared"],
}


@pytest.fixture
def catalog() -> list[Listing]:
    """Two dozen listings, each of a random kind, and a licence tier that is sold no more."""
    chance, now = random.Random(5), timezone.now()
    categories = [CategoryFactory(slug=slug) for slug in ("fonts", "motion")]
    stores = [StoreFactory(slug=slug) for slug in ("first", "second")]
    # A tier's slug may be written in capitals; another's is not the same in them.
    LicenseTier.objects.create(slug="Team", name="Team", price_factor="1.5")
    LicenseTier.objects.filter(slug="extended").update(is_active=False)
    for number in range(24):
        PublishedListingFactory(
            category=chance.choice(categories),
            store=chance.choice(stores),
            tier_requirement=chance.choice(["free", "pro"]),
            tags=chance.sample(TAGS, 4),
            supported_platforms=", ".join(chance.sample(PLATFORMS, 2)),
            file_type=chance.choice(FILE_TYPES),
            allowed_license_slugs=chance.choice(LICENSES),
            title=f"Sample {number}",
            base_price_minor=chance.choice([500, 1000, 20_000]),
            price_inr_minor=chance.choice([None, 0, 10_000, 50_000]),
            price_eur_minor=chance.choice([None, 10_000]),
            discount_bp=chance.choice([0, 2500]),
            purchases=chance.randrange(3),
            ai_training=chance.choice(VALUES["aiTraining"]),
            ai_origin=chance.choice(["undeclared", "none"]),
            published_at=now - timedelta(hours=number // 3),
        )
    return list(Listing.objects.select_related("category", "store", "stats"))


def sold_under(listing: Listing) -> set[str]:
    return {tier.slug for tier in permitted_tiers(listing, active_tiers())}


def values_of(listing: Listing, name: str) -> set[str]:
    match name:
        case "category":
            return {listing.category.slug}
        case "tier":
            return {listing.tier_requirement}
        case "vendor":
            return {listing.store.slug}
        case "license":
            return sold_under(listing)
        case "aiTraining":
            return {listing.ai_training}
        case "aiOrigin":
            return {listing.ai_origin}
        case "fileType":
            # A file of the factory holds one OpenType font.
            return {normalised(listing.file_type) or "otf"}
    return {value for kind, value in labels_of(listing) if kind == LabelKind(name)}


def price_of(listing: Listing, slug: str | None, currency: str) -> int | None:
    """Return the price of a licence, of the first permitted one where none is named."""
    tiers = active_tiers()
    if slug is None:
        prices = current_prices(listing)
    elif slug not in sold_under(listing):
        return None
    else:
        prices = prices_of(listing, next(tier for tier in tiers if tier.slug == slug), tiers)
    found: int | None = getattr(prices, currency.lower())
    return found


def is_kept(listing: Listing, query: dict[str, list[str]]) -> bool:
    """Tell by hand whether filters keep a listing."""
    for name in VALUES.keys() & query.keys():
        same = normalised if name in {"tag", "platform", "fileType"} else str
        has = values_of(listing, name)
        wanted = {same(value.removeprefix("\\") if value.startswith("\\!") else value) for value in query[name] if value[0] != "!"}
        if (wanted and not wanted & has) or {same(value[1:]) for value in query[name] if value[0] == "!"} & has:
            return False
    if not {"minPrice", "maxPrice"} & query.keys():
        return True
    low, high = (int(query.get(name, [default])[0]) * 100 for name, default in (("minPrice", "0"), ("maxPrice", "999999")))
    licenses: list[Any] = [value for value in query.get("license", []) if value[0] != "!"] or [None]
    prices = [price_of(listing, slug, query.get("currency", ["INR"])[0]) for slug in licenses]
    return any(price is not None and low <= price <= high for price in prices)


def place_of(listing: Listing, sort: str, query: dict[str, list[str]]) -> Any:
    """Return by hand what an order goes by."""
    if sort in {"popular", "newest"}:
        newest = -(listing.published_at or timezone.now()).timestamp()
        return (-listing.stats.purchases if sort == "popular" else 0, newest, listing.id)
    asked, sign = {value for value in query.get("license", []) if value[0] != "!"}, 1 if sort == "price_asc" else -1
    slug = asked.pop() if len(asked) == 1 else None
    price, dollars = price_of(listing, slug, query.get("currency", ["INR"])[0]), price_of(listing, slug, "USD") or 0
    return (price is None, sign * (dollars if price is None else price), listing.id)


def queries() -> Iterator[dict[str, list[str]]]:
    """Yield random filters: one value, several, excluded ones, prices."""
    chance = random.Random(6)
    yield {}
    yield from ({"tag": [f"\\{tag}" if tag.startswith("!") else tag]} for tag in ASKED_TAGS)
    for _ in range(60):
        query = {}
        for name in chance.sample(sorted(VALUES), chance.choice([0, 1, 1, 2, 3])):
            values = chance.sample(VALUES[name], chance.choice([1, 1, 2]))
            query[name] = [f"!{value}" if chance.random() < 0.3 else f"\\{value}" if value.startswith("!") else value for value in values]
        if chance.random() < 0.5:
            query |= {"currency": [chance.choice(["INR", "USD", "EUR"])], "minPrice": [chance.choice(["0", "100"])]}
            query |= {"maxPrice": ["150"]} if chance.random() < 0.5 else {}
            query |= {"license": [chance.choice(["commercial", "Team"])]} if chance.random() < 0.5 else {}
        yield query


def parameters_of(query: dict[str, list[str]]) -> QueryDict:
    """Return a query as it is read from an address."""
    parameters = QueryDict(mutable=True)
    for name, values in query.items():
        parameters.setlist(name, values)
    return parameters


def answered(query: dict[str, list[str]], **more: str) -> dict[str, Any]:
    """Return the answer of GET assets, which takes three queries at most."""
    parameters = parameters_of(query | {name: [value] for name, value in more.items()})
    asked = BrowseQuery(data=parameters.dict())
    asked.is_valid(raise_exception=True)
    with CaptureQueriesContext(connection) as context:
        answer = browse(*filter_listings(parameters), asked.validated_data)
    assert len(context.captured_queries) <= 3, query
    return answer.model_dump(mode="json", by_alias=True, exclude_unset=True)


def counts(listings: list[Listing], name: str) -> Counter[str]:
    return Counter(value for listing in listings for value in values_of(listing, name))


@pytest.mark.slow
def test_browsing_finds_what_a_check_of_every_listing_finds(catalog: list[Listing]) -> None:
    for number, query in enumerate(queries()):
        sort = Sort.values[number % len(Sort)]
        kept = sorted((listing for listing in catalog if is_kept(listing, query)), key=lambda each: place_of(each, sort, query))
        expected = [str(listing.id) for listing in kept]
        answer = answered(query, sort=sort, limit="50", facets=",".join(FACETS))
        assert [item["id"] for item in answer["items"]] == expected, (sort, query)
        assert answer["total"] == len(kept), query
        for name in FACETS:
            assert {entry["value"]: entry["count"] for entry in answer["facets"][name]} == counts(kept, name), (query, name)
        page = answered(query, sort=sort, limit="3", page="2")
        assert [item["id"] for item in page["items"]] == expected[3:6], (sort, query)
        if page["nextCursor"]:
            following = answered(query, sort=sort, limit="3", cursor=page["nextCursor"])
            assert [item["id"] for item in following["items"]] == expected[6:9], (sort, query)
        if query:
            hits = search("sample", within=filter_listings(parameters_of(query))[0], limit=100).hits
            assert {str(hit.id) for hit in hits} == set(expected), query
