"""Random filters on odd labels find, count and order what looking at each listing by hand does, whichever way they are answered."""

import random
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from itertools import product
from typing import Any

import pytest
from django.utils import timezone

from catalog import labels
from catalog.api import browsing
from catalog.api.filters import matching_of
from catalog.models import LicenseTier, Listing
from catalog.pricing import sale_prices
from catalog.search import search
from catalog.selectors import matching
from tests.factories import CategoryFactory, PublishedListingFactory, StoreFactory

pytestmark = pytest.mark.django_db

# Signs of LIKE, of arrays and of the text that labels are written in; letters whose case is more than one letter, or another's.
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
    "été",
    "ΣΑΣ",
]
ASKED_TAGS = [*TAGS, "strasse", "Été", "σας", "a%", "a__", "%", "_", "100", "a\\\\b", "A_B", "|a_b|", " 100%  ", "i\u0307stanbul"]
PLATFORMS = ["Figma", "100% CPU", "After_Effects 2023+", "Ünïty/figma"]
FILE_TYPES = ["OTF", "o_f", "oTf%", "ΐ", "a'b"]
LICENSES = [None, ["personal"], ["personal", "commercial", "extended"], ["Team"]]
# A tier's slug may be written in capitals; another's is not the same in them.
ACTIVE = {"personal", "commercial", "Team"}
SORTS = ["popular", "newest", "price_asc", "price_desc"]
FACETS = ("category", "tier", "fileType", "license")


@pytest.fixture
def catalog() -> list[Listing]:
    """Two dozen listings, each of a random kind, and a licence tier that is sold no more."""
    chance, now = random.Random(5), timezone.now()
    categories = [CategoryFactory(slug=slug) for slug in ("fonts", "motion")]
    stores = [StoreFactory(slug=slug) for slug in ("first", "second")]
    PublishedListingFactory(title="Sample")
    LicenseTier.objects.filter(slug="extended").update(is_active=False)
    LicenseTier.objects.create(slug="Team", name="Team")
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
            price_inr_minor=chance.choice([None, 0, 10_000, 50_000]),
            purchases=chance.randrange(3),
            published_at=now - timedelta(hours=number // 3),
        )
    return list(Listing.objects.select_related("category", "store", "stats"))


def licences_of(listing: Listing) -> set[str]:
    """Return by hand what a listing is sold under."""
    permitted = listing.allowed_license_slugs
    return ACTIVE if permitted is None else ACTIVE.intersection(permitted)


def is_kept(listing: Listing, name: str, value: str) -> bool:
    """Tell by hand whether a filter keeps a listing."""
    match name:
        case "category":
            return listing.category.slug == value
        case "tier":
            return listing.tier_requirement == value
        case "vendor":
            return listing.store.slug == value
        case "minPrice":
            return listing.price_inr_minor is not None and listing.price_inr_minor >= int(value) * 100
        case "license":
            return value in licences_of(listing)
    kind = "type" if name == "fileType" else name
    return labels.label(kind, value) in labels.labels_of(listing)


def counts(listings: list[Listing], name: str) -> Counter[str]:
    """Count by hand the values of a facet."""
    match name:
        case "category":
            return Counter(listing.category.slug for listing in listings)
        case "tier":
            return Counter(listing.tier_requirement for listing in listings)
        case "fileType":
            return Counter(labels.plain(listing.file_type) for listing in listings if listing.file_type)
    return Counter(slug for listing in listings for slug in licences_of(listing))


def queries() -> Iterator[dict[str, str]]:
    """Yield random filters; most ask for labels."""
    chance = random.Random(6)
    values = {
        "tag": ASKED_TAGS,
        "platform": ["figma", "FIGMA", "100% cpu", "100_ cpu", "after_effects", "after-effects", "ÜNÏTY"],
        "fileType": ["otf", "o_f", "OTF%", "Ϊ́", "a'b", "%"],
        "license": ["personal", "PERSONAL", "commercial", "Team", "team", "extended", "*", "gone", "personal|type:otf"],
        "category": ["fonts", "motion", "none"],
        "tier": ["free", "pro"],
        "vendor": ["first", "nobody"],
        "minPrice": ["0", "100"],
    }
    yield from ({"tag": tag} for tag in ASKED_TAGS)
    yield from ({"license": slug} for slug in values["license"])
    for _ in range(40):
        yield {name: chance.choice(values[name]) for name in chance.sample(sorted(values), chance.randint(1, 4))}


def asked(**query: Any) -> dict[str, Any]:
    """Return the answer that GET assets is given, made anew."""
    return browsing.answer(browsing.browsing_of(browsing.parameters_of(query)))


def test_what_is_found_is_what_looking_at_each_listing_finds(catalog: list[Listing], monkeypatch: pytest.MonkeyPatch) -> None:
    orders = {sort: [item["id"] for item in asked(sort=sort, limit="100")["items"]] for sort in SORTS}
    for number, query in enumerate(queries()):
        sort = SORTS[number % len(SORTS)]
        kept = [listing for listing in catalog if all(is_kept(listing, *condition) for condition in query.items())]
        ids = {listing.id for listing in kept}
        expected = [each for each in orders[sort] if each in ids]
        # Collected or walked along, by the labels' index or in their text.
        for collects, common in product([True, False], [1, 10**9]):
            monkeypatch.setattr(matching._Known, "collects", lambda _known, _items, collects=collects: collects)
            monkeypatch.setattr(matching, "COMMON", common)
            case = (query, collects, common)
            answer = asked(sort=sort, limit="100", facets=",".join(FACETS), **query)
            assert [item["id"] for item in answer["items"]] == expected, case
            assert answer["total"] == len(kept), case
            for name in FACETS:
                assert {entry["value"]: entry["count"] for entry in answer["facets"][name]} == counts(kept, name), (*case, name)
            assert [item["id"] for item in asked(sort=sort, limit="3", page="2", **query)["items"]] == expected[3:6], case
        hits = search("sample", limit=100, within=matching_of(browsing.browsing_of(browsing.parameters_of(query)).filters).queryset()).hits
        assert {hit.id for hit in hits} == ids, query


@pytest.mark.parametrize("prices", [{"minPrice": "1"}, {"maxPrice": "100"}, {"minPrice": "1", "maxPrice": "499.99"}, {"minPrice": "600"}])
@pytest.mark.parametrize("currency", ["INR", "USD", "EUR"])
def test_prices_keep_the_same_whether_they_are_collected_or_walked_along(
    catalog: list[Listing], prices: dict[str, str], currency: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def costs(listing: Listing) -> int | None:
        found: int | None = getattr(sale_prices(listing), currency.lower())
        return found

    low, high = (float(prices.get(name, default)) * 100 for name, default in (("minPrice", "0"), ("maxPrice", "inf")))
    kept = {listing.id for listing in catalog if costs(listing) is not None and low <= (costs(listing) or 0) <= high}
    asked_for = prices if currency == "INR" else prices | {"currency": currency}
    tagged = {listing.id for listing in catalog if labels.label("tag", TAGS[0]) in labels.labels_of(listing)}
    for sort, cap, few in product(SORTS, [1, 5_000], [0, 10_000]):
        monkeypatch.setattr(matching, "CAP", cap)
        monkeypatch.setattr(matching, "FEW", few)
        order = [item["id"] for item in asked(sort=sort, limit="50")["items"]]
        for query, ids in ((asked_for, kept), (asked_for | {"tag": TAGS[0]}, kept & tagged)):
            answer, case = asked(sort=sort, limit="50", **query), (sort, cap, few, query)
            assert [item["id"] for item in answer["items"]] == [each for each in order if each in ids], case
            assert (answer["total"], answer.get("totalIsExact", True)) == (min(len(ids), cap), len(ids) <= cap), case
