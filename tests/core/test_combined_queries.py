"""Several lists in one statement: each comes back as its queryset would have read it."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import NotSupportedError, connection
from django.db.models import BigIntegerField, Count, F, JSONField, Value
from django.utils import timezone

from catalog.models import Category, LicenseTier, Listing, ListingReview, Preview
from developers.models import ApiKey, App
from marketplace.core import audit
from marketplace.core.db.combined import count_combined, fetch_combined
from marketplace.core.models import AuditEntry
from tests.admin import subjects
from tests.catalog.cases import open_review, published, rejected, submitted
from tests.factories import AppFactory, UserFactory
from tests.shop import tiers

pytestmark = pytest.mark.django_db


def values_of(row: Any) -> dict[str, tuple[type, str]]:
    # As they are written: True is not 1, nor 2.00 2.
    values = {field.attname: row.__dict__[field.attname] for field in row._meta.concrete_fields if field.attname in row.__dict__}
    return {name: (type(value), str(value)) for name, value in values.items()}


def same(found: Any, expected: Any) -> None:
    assert (type(found), values_of(found)) == (type(expected), values_of(expected))
    # Of the way back, as from an owner to the store, nothing is kept.
    kept = {
        field.name: expected._state.fields_cache[field.name]
        for field in expected._meta.concrete_fields
        if field.name in expected._state.fields_cache
    }
    assert found._state.fields_cache.keys() == kept.keys()
    for name, related in kept.items():
        if related is None:
            assert found._state.fields_cache[name] is None
        else:
            same(found._state.fields_cache[name], related)


def test_nothing_asked_asks_nothing(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        assert fetch_combined({}) == {}


def test_lists_come_as_their_querysets_read_them_in_one_statement(django_assert_num_queries: Any) -> None:
    actor, review = UserFactory(), open_review(submitted())
    listing = rejected()
    tiers()
    Preview.objects.create(
        listing=listing, kind="Gallery", slot=2, object_key="k", content_type="image/png", size=9, sha256="ab", details={"width": 3}
    )
    for number in range(5):
        audit.record("a.b", review, actor=actor if number % 2 else None, reason=f"“{number}” 💥", at={"deep": [1, None, True, "x"]})
    key = subjects.api_key()
    ApiKey.objects.filter(pk=key.pk).update(expires_at=timezone.now() + timedelta(days=1))
    lists: dict[str, Any] = {
        "history": audit.history_of(review)[:3],
        "reviews": ListingReview.objects.select_related("listing__store__owner", "listing__category", "decided_by", "claimed_by").order_by(
            "id"
        ),
        "previews": Preview.objects.all(),
        "tiers": LicenseTier.objects.order_by("-price_factor"),
        "keys": ApiKey.objects.filter(app=key.app).select_related("app__user"),
        "none": App.objects.none(),
        "nothing": AuditEntry.objects.filter(action="no.such"),
        "few": Listing.objects.select_related("store").only("title", "published_at", "store__name").order_by("title", "pk")[:2],
    }
    # Once for a connection, Django asks whether the engine knows JSON.
    assert connection.features.supports_json_field
    with django_assert_num_queries(1):
        found = fetch_combined(lists)
    assert found.keys() == lists.keys()
    for name, rows in lists.items():
        expected = list(rows.all() if not rows.query.is_sliced else rows)
        assert [row.pk for row in found[name]] == [row.pk for row in expected], name
        for mine, theirs in zip(found[name], expected, strict=True):
            same(mine, theirs)
    assert len(found["history"]) == 3
    assert {row.price_factor for row in found["tiers"]} == {Decimal(1), Decimal(2), Decimal(5)}


def test_related_rows_ask_nothing_more_and_what_was_left_out_is_read_when_asked_for(django_assert_num_queries: Any) -> None:
    published(title="Halden")
    found = fetch_combined({"listings": Listing.objects.select_related("store__owner").only("title", "store__owner__email")})["listings"]
    with django_assert_num_queries(0):
        assert found[0].store.owner.email
    with django_assert_num_queries(1):
        assert found[0].slug


def test_order_is_kept_where_rows_are_many(django_assert_num_queries: Any) -> None:
    Category.objects.bulk_create(Category(slug=f"c{number}", name=f"{number * 7 % 31:02}") for number in range(31))
    AppFactory()
    asked = Category.objects.filter(slug__startswith="c", name__lt="99").order_by("-name")
    assert [row.name for row in fetch_combined({"apps": App.objects.all(), "categories": asked})["categories"]] == [
        row.name for row in asked
    ]


JSON: tuple[Any, ...] = ({}, [], "5", "x", "null", '"', 5, 2**60, 1.1, True, None, {"a": [1, None, "\u2028💥\\"]})


@pytest.mark.parametrize("value", JSON, ids=repr)
def test_json_comes_back_as_it_is_kept(value: Any) -> None:
    listing = published()
    Listing.objects.filter(pk=listing.pk).update(tags=Value(value, JSONField()), allowed_license_slugs=None)
    [found] = fetch_combined({"listings": Listing.objects.all()})["listings"]
    same(found, Listing.objects.get())
    assert (found.tags, found.allowed_license_slugs) == (value, None)


def test_computed_columns_fractions_and_large_numbers_come_back_with_their_types() -> None:
    listing = published()
    tiers()
    Listing.objects.filter(pk=listing.pk).update(published_at=datetime(2026, 1, 2, 3, 4, 5, 100, tzinfo=UTC))
    rows = {
        "listings": Listing.objects.annotate(large=Value(2**53 + 1, BigIntegerField())),
        "tiers": LicenseTier.objects.annotate(half=F("price_factor") * Decimal("0.5")),
    }
    found = fetch_combined(rows)
    assert found["listings"][0].is_free is False
    assert found["listings"][0].large == 2**53 + 1
    assert {str(tier.price_factor) for tier in found["tiers"]} == {"1.00", "2.00", "5.00"}
    assert {tier.half for tier in found["tiers"]} == {Decimal("0.5"), Decimal(1), Decimal("2.5")}
    for name, lists in found.items():
        for mine, theirs in zip(lists, rows[name], strict=True):
            same(mine, theirs)


def test_what_a_list_leaves_out_is_left_out() -> None:
    published()
    rows = Listing.objects.select_related("store").defer("description", "tags", "store__name")
    [found] = fetch_combined({"listings": rows})["listings"]
    same(found, rows.get())
    assert {"description", "tags"} == found.get_deferred_fields()
    assert {"name"} == found.store.get_deferred_fields()


REFUSED: dict[str, Callable[[], Any]] = {
    "values": lambda: Listing.objects.values("pk"),
    "values of annotations": lambda: Listing.objects.annotate(one=Value(1)).values("one"),
    "names": lambda: Listing.objects.values_list("title", flat=True),
    "distinct": Listing.objects.distinct,
    "union": lambda: Listing.objects.union(Listing.objects.all()),
    "extra": lambda: Listing.objects.extra(select={"one": "1"}),
    "reverse": lambda: Listing.objects.order_by("title").reverse(),
    "lock": Listing.objects.select_for_update,
    "prefetch": lambda: Listing.objects.prefetch_related("reviews"),
    "related of everything": Listing.objects.select_related,
    "order of another": lambda: Preview.objects.order_by("-listing__category"),
    "times between": lambda: Listing.objects.annotate(took=F("updated_at") - F("created_at")),
}


@pytest.mark.parametrize("rows", REFUSED.values(), ids=REFUSED)
def test_what_would_come_back_otherwise_is_refused(rows: Callable[[], Any], django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0), pytest.raises(NotSupportedError):
        fetch_combined({"rows": rows()})


@pytest.mark.parametrize(
    "rows",
    [
        lambda: Listing.objects.order_by("title")[:3],
        lambda: Listing.objects.filter(reviews__status="Pending").distinct(),
        lambda: Listing.objects.annotate(cases=Count("reviews")),
    ],
    ids=["slice", "distinct", "groups"],
)
def test_what_would_be_counted_otherwise_is_refused(rows: Callable[[], Any]) -> None:
    with pytest.raises(NotSupportedError):
        count_combined(rows=rows())


def test_numbers_are_those_of_each_list_in_one_statement(django_assert_num_queries: Any) -> None:
    published()
    with django_assert_num_queries(1):
        found = count_combined(listings=Listing.objects.all(), none=Listing.objects.none(), drafts=Listing.objects.filter(status="Draft"))
    assert found == {"listings": 1, "none": 0, "drafts": 0}
