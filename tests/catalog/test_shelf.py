"""What browsing reads follows from listings and stores, whatever changes them, and its counts are exact."""

from collections import Counter
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catalog import labels
from catalog.models import Listing, ListingStats, ShelfCount, ShelfItem, ShelfLabels
from catalog.selectors import Matching, Section, find
from catalog.selectors.browse import Sort, ordering, page_on_shelf, places_on_shelf, rows_of
from catalog.services import shelf
from catalog.services.popularity import count_purchases, record_purchase, undo_purchase
from catalog.services.review import takedown_listing, unpublish_listing
from catalog.services.visibility import listing_changed, store_changed
from tests.factories import CategoryFactory, ListingFactory, PublishedListingFactory, StoreFactory, UserFactory

from .cases import published

pytestmark = pytest.mark.django_db


def stored_counts() -> Counter[Any]:
    rows = ShelfCount.objects.exclude(listings=0)
    return Counter({(row.category.slug, row.tier, row.label): row.listings for row in rows.select_related("category")})


def true_counts() -> Counter[Any]:
    """Count the listings for sale one by one."""
    counter: Counter[Any] = Counter()
    for listing in Listing.objects.filter(status="Published", store__is_open=True).select_related("category"):
        counter.update((listing.category.slug, listing.tier_requirement, label) for label in {"", *labels.labels_of(listing)})
    return counter


def change(listing: Listing, **fields: Any) -> None:
    for name, value in fields.items():
        setattr(listing, name, value)
    listing.save()
    listing_changed(listing)


def test_shelf_holds_what_is_published_in_an_open_store() -> None:
    on_sale = published()
    ListingFactory()
    assert list(ShelfItem.objects.values_list("pk", flat=True)) == [on_sale.pk]
    assert stored_counts() == true_counts()
    unpublish_listing(listing=on_sale, actor=on_sale.store.owner)
    assert not ShelfItem.objects.exists()
    assert not ShelfLabels.objects.exists()
    assert stored_counts() == Counter()


def test_listing_that_is_taken_down_leaves_the_shelf() -> None:
    listing = published()
    takedown_listing(listing=listing, reason="Stolen.", actor=UserFactory())
    assert (ShelfItem.objects.count(), stored_counts()) == (0, Counter())


def test_store_that_closes_takes_its_listings_along_and_brings_them_back() -> None:
    store = StoreFactory()
    for number in range(3):
        PublishedListingFactory(store=store, tier_requirement="pro" if number else "free", purchases=number)
    other = PublishedListingFactory()
    for is_open in (False, True, True):
        store.is_open = is_open
        store.save()
        store_changed(store)
        assert ShelfItem.objects.count() == (4 if is_open else 1)
        assert stored_counts() == true_counts()
    assert sorted(ShelfItem.objects.exclude(pk=other.pk).values_list("unpopularity", flat=True)) == [-2, -1, 0]


edits = st.fixed_dictionaries(
    {},
    optional={
        "tier_requirement": st.sampled_from(["free", "go", "pro", "vip"]),
        "file_type": st.sampled_from(["", "OTF", "otf ", "TTF|x", "ΐ" * 200]),
        "allowed_license_slugs": st.sampled_from([None, ["personal"], ["personal", "commercial"], ["gone"]]),
        "category": st.sampled_from(["fonts", "motion"]),
        "tags": st.lists(st.sampled_from(["bold", "a|b", "x"]), max_size=3),
        "status": st.sampled_from(["Published", "Draft"]),
        "price_inr_minor": st.sampled_from([None, 0, 100]),
    },
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(steps=st.lists(edits, min_size=1, max_size=6))
def test_counts_are_exact_after_any_edits(steps: list[dict[str, Any]]) -> None:
    first, second = PublishedListingFactory(), PublishedListingFactory(file_type="OTF")
    for number, fields in enumerate(steps):
        listing = (first, second)[number % 2]
        category = {"category": CategoryFactory(slug=fields["category"])} if "category" in fields else {}
        change(listing, **(fields | category))
        assert stored_counts() == true_counts()
        assert set(ShelfItem.objects.values_list("pk", flat=True)) == set(
            Listing.objects.filter(status="Published").values_list("pk", flat=True)
        )
    assert shelf.rebuild(lambda _done, _total: None) == (0, 0)


def test_an_edit_of_the_text_writes_nothing_of_the_shelf(django_assert_num_queries: Any) -> None:
    listing = PublishedListingFactory()
    Listing.objects.filter(pk=listing.pk).update(title="Another")
    # The listing, its item with the labels.
    with django_assert_num_queries(2):
        shelf.refresh_listings([listing.pk])


def test_purchases_are_counted_on_the_shelf_and_outlast_an_absence() -> None:
    listing = PublishedListingFactory(purchases=2)
    record_purchase(listing_id=listing.pk)
    assert ShelfItem.objects.get().unpopularity == -2
    assert count_purchases() == 1
    assert ShelfItem.objects.get().unpopularity == -3
    change(listing, status="Draft")
    undo_purchase(listing_id=listing.pk)
    count_purchases()
    change(listing, status="Published")
    assert count_purchases() == 0
    assert (ShelfItem.objects.get().unpopularity, ListingStats.objects.get().purchases) == (-2, 2)
    change(listing, tier_requirement="vip")
    assert ShelfItem.objects.get().unpopularity == -2


def test_command_puts_right_what_was_changed_past_the_service() -> None:
    kept, hidden, added = PublishedListingFactory(), PublishedListingFactory(), PublishedListingFactory()
    Listing.objects.filter(pk=kept.pk).update(tier_requirement="vip", file_type="OTF")
    Listing.objects.filter(pk=hidden.pk).update(status="Draft")
    ShelfItem.objects.filter(pk=added.pk).delete()
    ShelfCount.objects.filter(label="").update(listings=7)
    out = StringIO()
    call_command("rebuild_shelf", stdout=out, stderr=StringIO())
    assert out.getvalue().startswith("Corrected 3 listings and ")
    assert stored_counts() == true_counts()
    assert set(ShelfItem.objects.values_list("pk", flat=True)) == {kept.pk, added.pk}
    call_command("rebuild_shelf", stdout=(again := StringIO()), stderr=StringIO())
    assert again.getvalue().startswith("Corrected 0 listings and 0 counts")


def test_counts_cannot_fall_below_nothing() -> None:
    listing = PublishedListingFactory()
    with pytest.raises(Exception, match="shelfcount_not_negative"):
        shelf.count(Counter({(listing.category_id, "free", ""): -2}))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("After Effects 2023+, Figma", {"platform:after effects", "platform:figma"}),
        ("Premiere Pro v24.1 / FIGMA; ", {"platform:premiere pro", "platform:figma"}),
        ("", set()),
        ("a|b", {"platform:a b"}),
    ],
)
def test_platforms_are_labels_without_their_versions(text: str, expected: set[str]) -> None:
    found = labels.labels_of(Listing(supported_platforms=text, allowed_license_slugs=[]))
    assert found == expected
    assert labels.read(labels.written(found)) == found


@pytest.mark.parametrize("sort", [Sort.USD_ASC, Sort.USD_DESC])
@pytest.mark.parametrize("in_category", [False, True])
def test_orders_by_dollars_are_whole_by_number_by_place_and_by_leaps(sort: Sort, in_category: bool) -> None:  # noqa: FBT001 - a case
    category = CategoryFactory(slug="fonts")
    for usd in (300, 100, 200, 100, 300, 0, 200):
        PublishedListingFactory(category=category, base_price_minor=usd)
    everything = [(item.usd, item.pk) for item in ShelfItem.objects.all()]
    expected = sorted(everything, reverse=sort == Sort.USD_DESC)
    shelf, after, by_place = Section("fonts" if in_category else None), None, []
    while rows := rows_of(page_on_shelf(shelf, sort=sort, start=0, limit=2, after=after), sort):
        after = rows[-1].place
        by_place += [row.place for row in rows]
    assert by_place == expected
    by_number = [rows_of(page_on_shelf(shelf, sort=sort, start=start, limit=2), sort) for start in range(0, 7, 2)]
    assert [row.place for rows in by_number for row in rows] == expected
    assert places_on_shelf(shelf, sort=sort, every=2, many=3)[0] == expected[1:6:2]
    assert [
        row.place for row in find(Matching.of(ShelfItem.objects.all()), sort=sort, start=0, limit=3, after=expected[2]).rows
    ] == expected[3:6]


@pytest.mark.skipif(connection.vendor != "sqlite", reason="on tables this small PostgreSQL reads everything")
@pytest.mark.parametrize("sort", list(Sort))
@pytest.mark.parametrize("in_category", [False, True])
def test_page_is_read_in_the_order_of_an_index_that_covers_it(sort: Sort, in_category: bool) -> None:  # noqa: FBT001 - a case
    items = ShelfItem.objects.filter(tier="free", **({"category_id": CategoryFactory().pk} if in_category else {}))
    plan = items.order_by(*ordering(sort)).values("pk")[:20].explain()
    kind = "category_" if in_category else ""
    name = {"price_asc": "price_up", "price_desc": "price_down", "usd_asc": "usd", "usd_desc": "usd"}.get(sort, sort)
    assert f"COVERING INDEX shelf_{kind}{name}" in plan
    assert "TEMP B-TREE" not in plan


@pytest.mark.skipif(connection.vendor != "postgresql", reason="an index of PostgreSQL")
def test_new_entries_of_the_word_and_label_indexes_go_straight_in() -> None:
    # A list of those still to be put there would be looked through by each who asks.
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname, coalesce(reloptions, '{}') FROM pg_class JOIN pg_am ON pg_am.oid = relam WHERE amname = 'gin' "
            "AND (relname LIKE 'shelflabels%' OR relname LIKE 'searchdocument%')"
        )
        options = dict(cursor.fetchall())
    assert "shelflabels_labels" in options
    assert {name: found for name, found in options.items() if "fastupdate=off" not in found} == {}
