"""GET /api/v1/assets: filters, facets and cursors."""

import base64
from datetime import timedelta
from decimal import Decimal
from typing import Any
from unicodedata import normalize

import orjson
import pytest
from django.utils import timezone

from catalog.catalog_version import change_version
from catalog.models import LicenseTier
from catalog.selectors import browse
from catalog.services.taxonomy import save_license_tier
from marketplace.core.audit import history_of
from tests.factories import CategoryFactory, PublishedListingFactory, StoreFactory, UserFactory

pytestmark = pytest.mark.django_db


def titles(answer: Any) -> set[str]:
    return {item["title"] for item in answer["items"]}


def counts(answer: Any, name: str) -> dict[str, int]:
    return {entry["value"]: entry["count"] for entry in answer["facets"][name]}


@pytest.fixture
def varied() -> None:
    """Listings that differ in everything that can be filtered."""
    CategoryFactory(slug="motion", name="Motion")
    store = StoreFactory(slug="foundry")
    PublishedListingFactory(
        title="One",
        store=store,
        file_type="OTF",
        tags=["bold", "sans serif"],
        supported_platforms="Figma, After Effects 2023+",
        price_inr_minor=50_000,
        base_price_minor=600,
        allowed_license_slugs=["personal"],
    )
    PublishedListingFactory(
        title="Two",
        file_type="otf ",
        tags=["bold"],
        price_inr_minor=100_000,
        base_price_minor=1200,
        price_eur_minor=1100,
        tier_requirement="pro",
    )
    PublishedListingFactory(title="Three", category__slug="motion", file_type="MP4", supported_platforms="figma", base_price_minor=0)


# What each filter finds is tried in `test_browse_by_hand.py`; here are the bounds of what is written.
FILTERS: list[tuple[dict[str, Any], set[str]]] = [
    ({"category": "", "tier": "", "tag": "", "limit": "", "page": ""}, {"One", "Two", "Three"}),
    ({"category": "None"}, set()),
    ({"tag": " BOLD "}, {"One", "Two"}),
    ({"tag": "bold|"}, set()),
    ({"tag": "bold' OR '1'='1"}, set()),
    ({"tag": ["bold", "!sans serif"]}, {"Two"}),
    ({"platform": "After Effects"}, {"One"}),
    ({"fileType": "otf"}, {"One", "Two"}),
    ({"minPrice": "500"}, {"One", "Two"}),
    ({"minPrice": "500.01"}, {"Two"}),
    ({"maxPrice": "500"}, {"One", "Three"}),
    ({"maxPrice": "499.99"}, {"Three"}),
    ({"minPrice": "6", "maxPrice": "12", "currency": "USD"}, {"One", "Two"}),
    ({"currency": "EUR"}, {"One", "Two", "Three"}),
]


@pytest.mark.slow
@pytest.mark.database_full
def test_each_filter_finds_the_listings_that_match_it(get: Any, varied: None, unlimited: None, subtests: pytest.Subtests) -> None:
    for query, found in FILTERS:
        with subtests.test(query=query):
            answer = get("assets", **query)
            assert (titles(answer), answer["total"]) == (found, len(found))
            assert "totalIsExact" not in answer


def test_licence_tier_that_is_not_active_finds_nothing(get: Any, varied: None) -> None:
    tier = LicenseTier.objects.get(slug="personal")
    tier.is_active = False
    save_license_tier(tier=tier, changed=["is_active"], actor=UserFactory(is_staff=True))
    assert get("assets", license="personal")["total"] == 0
    assert counts(get("assets", facets="license"), "license") == {"commercial": 2, "extended": 2}


def test_changed_price_factor_reorders_listings_at_once(get: Any) -> None:
    PublishedListingFactory(title="Font", price_inr_minor=10_000)
    assert get("assets", license="commercial", maxPrice="200")["total"] == 1
    tier = LicenseTier.objects.get(slug="commercial")
    tier.price_factor = Decimal(3)
    save_license_tier(tier=tier, changed=["price_factor"], actor=UserFactory(is_staff=True))
    assert [(entry.data["factor_before"], entry.data["factor_after"]) for entry in history_of(tier)] == [("2", "3")]
    assert get("assets", license="commercial", maxPrice="200")["total"] == 0
    item = get("assets", license="commercial", maxPrice="300")["items"][0]
    assert [sold["priceINR"] for sold in item["licenses"]] == [100, 300, 500]


def test_price_under_a_licence_that_costs_many_times_as_much_is_a_price(get: Any) -> None:
    PublishedListingFactory(title="Dear", price_inr_minor=99_999_999)
    PublishedListingFactory(title="Without rupees")
    tier = LicenseTier.objects.get(slug="extended")
    tier.price_factor = Decimal(20)
    save_license_tier(tier=tier, changed=["price_factor"], actor=UserFactory(is_staff=True))
    for sort in ("price_asc", "price_desc"):
        assert [item["title"] for item in get("assets", license="extended", sort=sort)["items"]] == ["Dear", "Without rupees"]
    assert get("assets", license="extended", minPrice="1")["total"] == 1


def test_order_by_the_price_of_a_licence_stays_where_another_is_excluded(get: Any) -> None:
    for title, price, licenses in (("Both", 10_000, ["personal", "commercial"]), ("One", 15_000, ["commercial"])):
        PublishedListingFactory(title=title, price_inr_minor=price, allowed_license_slugs=licenses)
    for asked in (["commercial"], ["commercial", "!extended"], ["commercial", "commercial"]):
        assert [item["title"] for item in get("assets", license=asked, sort="price_asc")["items"]] == ["One", "Both"], asked


def test_tags_platforms_and_file_types_match_however_they_are_encoded(get: Any) -> None:
    spellings = (normalize("NFC", "café"), normalize("NFD", "café"))
    for text in spellings:
        PublishedListingFactory(tags=[text], supported_platforms="\uff26igma 5, x", file_type=text)
    for text in spellings:
        assert get("assets", tag=text.upper())["total"] == 2
        assert get("assets", fileType=text, facets="fileType")["facets"]["fileType"] == [{"value": "café", "count": 2}]
    assert get("assets", platform="figma")["total"] == 2


def test_bad_parameters_are_each_named_with_what_is_wrong(refused: Any) -> None:
    """Which values are bad is in `tests/contract/catalog.py`; here is what is said of one of each kind, and what no single value shows."""
    for query, *errors in (
        ({"limit": "0", "sort": "cheapest"}, ("?limit", "min_value"), ("?sort", "invalid_choice")),
        ({"category": "a\x00b"}, ("?category", "null_characters_not_allowed")),
        ({"minPrice": "10", "maxPrice": "9.99"}, ("?maxPrice", "below_minimum")),
        ({"minPrice": "1.001"}, ("?minPrice", "max_decimal_places")),
        # As JSON writes a number that is almost nothing.
        ({"minPrice": "4.023791096946595e-107"}, ("?minPrice", "max_digits")),
        ({"tag": ["bold"] * 21}, ("?tag", "max_length")),
        ({"facets": "category," * 12 + "category"}, ("?facets", "max_length")),
    ):
        assert sorted(refused("assets", **query)) == errors, query
    assert refused("assets/search", q="script", minPrice="2", maxPrice="1") == [("?maxPrice", "below_minimum")]


def test_total_and_the_facets_that_were_asked_for_are_counted_up_to_a_limit(
    get: Any, varied: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = {"tag": "bold", "minPrice": "0", "currency": "USD", "limit": 1}
    answer = get("assets", facets="category,tier,tier", **query)
    assert (answer["facets"].keys(), answer["facetsAreExact"]) == ({"category", "tier"}, True)
    monkeypatch.setattr(browse, "COUNT_LIMIT", 1)
    monkeypatch.setattr(browse, "FACET_LIMIT", 1)
    change_version()
    answer = get("assets", facets="category", **query)
    assert (answer["total"], answer["totalIsExact"], answer["facetsAreExact"]) == (1, False, False)
    assert counts(answer, "category") == {"fonts": 1}
    # Pages go on beyond what was counted.
    assert titles(get("assets", page=2, **query)) | titles(answer) == {"One", "Two"}
    assert get("assets", category="fonts")["total"] == 2


def test_stored_total_of_a_single_filter_is_exact_beyond_the_count_limit(get: Any, varied: None, monkeypatch: pytest.MonkeyPatch) -> None:
    queries: list[dict[str, str]] = [{"tag": "bold"}, {"tag": "bold", "category": "fonts"}, {"fileType": "otf"}]
    counted = [get("assets", minPrice="0", currency="USD", **query)["total"] for query in queries]
    monkeypatch.setattr(browse, "COUNT_LIMIT", 1)
    for query, total in zip(queries, counted, strict=True):
        answer = get("assets", **query)
        assert (answer["total"], "totalIsExact" in answer) == (total, False)
        assert total == len(answer["items"]) > 1


def test_most_frequent_values_come_first_and_no_more_than_the_bound(get: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browse, "FACET_VALUES", 2)
    for file_type in ("a", "b", "b", "c", "c", "c"):
        PublishedListingFactory(file_type=file_type)
    for query in ({}, {"minPrice": "0", "currency": "USD"}):
        assert [entry["value"] for entry in get("assets", facets="fileType", **query)["facets"]["fileType"]] == ["c", "b"]


def test_search_counts_facets_of_what_it_found(get: Any, varied: None) -> None:
    PublishedListingFactory(title="Zeppelin", file_type="OTF")
    PublishedListingFactory(title="Zeppelin", category__slug="motion", file_type="MP4")
    PublishedListingFactory(title="Zeppelin", tier_requirement="pro")
    answer = get("assets/search", q="zeppelin", tier="free", facets="category,fileType", limit=1)
    assert answer["count"] == len(answer["results"]) == 1
    assert counts(answer, "category") == {"fonts": 1, "motion": 1}
    assert counts(answer, "fileType") == {"otf": 1, "mp4": 1}
    assert answer["facetsAreExact"] is True
    assert "facets" not in get("assets/search", q="zeppelin")


@pytest.mark.slow
def test_cursor_neither_repeats_nor_skips_when_listings_come_and_go(get: Any) -> None:
    now = timezone.now()
    made = [PublishedListingFactory(published_at=now - timedelta(days=number)) for number in range(4)]
    first = get("assets", sort="newest", limit=2)
    PublishedListingFactory(published_at=now + timedelta(days=1))
    second = get("assets", sort="newest", limit=2, cursor=first["nextCursor"])
    assert [item["id"] for item in [*first["items"], *second["items"]]] == [str(row.id) for row in made]


def tampered(cursor: str, **changes: Any) -> str:
    content = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    for position, value in changes.items():
        content[int(position.removeprefix("at"))] = value
    return base64.urlsafe_b64encode(orjson.dumps(content)).decode().rstrip("=")


def test_cursor_of_another_order_or_other_filters_or_a_made_up_one_is_refused(get: Any, refused: Any) -> None:
    for _ in range(3):
        PublishedListingFactory()
    cursor = get("assets", limit=1)["nextCursor"]
    for query in ({"sort": "newest"}, {"sort": "price_asc"}, {"category": "fonts"}, {"minPrice": "0"}):
        assert refused("assets", limit=1, cursor=cursor, **query) == [("?cursor", "invalid_cursor")]
    # The number of items may change on the way, and a currency alone asks for nothing.
    assert len(get("assets", limit=2, cursor=cursor, currency="EUR")["items"]) == 2
    made_up = [
        "%%%",
        "é",
        cursor[:-4],
        tampered(cursor, at1=0),
        tampered(cursor, at1=10**7),
        tampered(cursor, at2=2**63),
        tampered(cursor, at2=1.5),
        tampered(cursor, at4="x"),
        tampered(cursor, at4=None),
        base64.urlsafe_b64encode(b"[" * 200).decode(),
    ]
    for text in made_up:
        assert refused("assets", limit=1, cursor=text) == [("?cursor", "invalid_cursor")], text


def test_last_page_has_no_cursor_and_a_cursor_none_but_its_own_page(get: Any, refused: Any) -> None:
    for _ in range(2):
        PublishedListingFactory()
    assert get("assets", limit=2)["nextCursor"] is None
    assert get("assets", limit=1, page=2)["nextCursor"] is None
    cursor = get("assets", limit=1)["nextCursor"]
    assert refused("assets", cursor=cursor, page="2") == [("?cursor", "ambiguous")]


def test_page_far_beyond_the_end_is_empty_and_sends_no_query_for_rows(anonymous: Any, django_assert_num_queries: Any) -> None:
    PublishedListingFactory()
    # The catalog's version before and after, and the total.
    with django_assert_num_queries(3):
        answer = anonymous.get("/api/v1/assets", {"page": 1_000_000}).json()
    assert answer == {"total": 1, "page": 1_000_000, "items": [], "nextCursor": None}
