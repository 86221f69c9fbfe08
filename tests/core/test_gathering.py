"""Several lists in one statement: each comes back as its queryset would have read it."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from catalog.models import Category, LicenseTier, Listing, ListingReview, Preview
from developers.models import ApiKey, App
from marketplace.core import audit
from marketplace.core.gathering import gather
from marketplace.core.models import AuditEntry
from tests.admin import subjects
from tests.catalog.cases import open_review, published, rejected, submitted
from tests.factories import AppFactory, UserFactory
from tests.shop import tiers

pytestmark = pytest.mark.django_db


def values_of(row: Any) -> dict[str, Any]:
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields if field.attname in row.__dict__}


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
        assert gather({}) == {}


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
        found = gather(lists)
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
    found = gather({"listings": Listing.objects.select_related("store__owner").only("title", "store__owner__email")})["listings"]
    with django_assert_num_queries(0):
        assert found[0].store.owner.email
    with django_assert_num_queries(1):
        assert found[0].slug


def test_order_is_kept_where_rows_are_many(django_assert_num_queries: Any) -> None:
    Category.objects.bulk_create(Category(slug=f"c{number}", name=f"{number * 7 % 31:02}") for number in range(31))
    AppFactory()
    asked = Category.objects.filter(slug__startswith="c", name__lt="99").order_by("-name")
    assert [row.name for row in gather({"apps": App.objects.all(), "categories": asked})["categories"]] == [row.name for row in asked]
