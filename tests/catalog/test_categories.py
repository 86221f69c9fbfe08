"""GET /api/v1/categories, and the categories and licence tiers that an installation begins with."""

from decimal import Decimal
from typing import Any

import pytest

from catalog.models import Category, LicenseTerms, LicenseTier
from catalog.services.taxonomy import check_terms, save_category
from tests.factories import CategoryFactory, ListingFactory, PublishedListingFactory, UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]


def test_new_installation_has_five_categories_and_three_licence_tiers() -> None:
    assert Category.objects.count() == 5
    assert list(LicenseTier.objects.values_list("slug", "price_factor")) == [
        ("personal", Decimal(1)),
        ("commercial", Decimal(2)),
        ("extended", Decimal(5)),
    ]


def test_seeded_licence_texts_are_complete() -> None:
    for terms in LicenseTerms.objects.all():
        assert terms.text.startswith(terms.name.upper())
        assert len(terms.text) > 1000
        assert "{" not in terms.text
        check_terms(terms)


def test_every_active_category_is_listed_in_order(get: Any) -> None:
    CategoryFactory(slug="hidden", name="Hidden", is_active=False)
    PublishedListingFactory()
    PublishedListingFactory(store__is_open=False)
    ListingFactory()
    answer = get("categories")
    assert answer["total"] == 5
    assert [item["slug"] for item in answer["items"]] == ["fonts", "motion", "templates", "presets", "ai-skills"]
    assert [item["assetCount"] for item in answer["items"]] == [1, 0, 0, 0, 0]


def test_edit_in_the_admin_is_seen_at_once(get: Any) -> None:
    category = CategoryFactory(slug="fonts")
    get("categories")
    category.name = "Typefaces"
    save_category(category=category, changed=["name"], actor=UserFactory(is_staff=True))
    assert "Typefaces" in [item["name"] for item in get("categories")["items"]]
