"""What browsing reads follows from listings and stores, whatever changes them, and its counts are exact."""

from collections import Counter
from decimal import Decimal
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catalog.labels import labels_of, normalised
from catalog.models import Category, LicenseTier, Listing, ListingCount, ListingIndex, ListingLabel, ListingStats, Store
from catalog.pricing import permitted_tiers
from catalog.selectors.taxonomy import active_tiers
from catalog.services import listing_index, taxonomy
from catalog.services.purchase_counts import count_purchases, record_purchase, record_refund
from catalog.services.review import takedown_listing
from catalog.services.submission import unpublish_listing
from catalog.services.taxonomy import save_category, save_license_tier
from catalog.services.visibility import listing_changed, store_edited, store_visibility_changed
from tests.callers import said
from tests.eager import drain
from tests.factories import CategoryFactory, ListingFactory, PublishedListingFactory, StoreFactory, StorePictureFactory, UserFactory

from .cases import published

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def stored_counts() -> Counter[Any]:
    rows = ListingCount.objects.exclude(listings=0)
    return Counter({(row.category_slug, row.tier, row.name, row.value): row.listings for row in rows})


def true_counts() -> Counter[Any]:
    """Count the listings for sale one by one."""
    counter: Counter[Any] = Counter()
    tiers = active_tiers()
    for listing in Listing.objects.filter(status="Published", store__is_open=True).select_related("category", "approved_deliverable"):
        values = {("", ""), *labels_of(listing), *(("license", tier.slug) for tier in permitted_tiers(listing, tiers))}
        # Files of the factory hold one OpenType font, others nothing whose type is known.
        contents = set(listing.approved_deliverable.technical.get("contentsByExtension", ())) if listing.approved_deliverable else set()
        values |= {("fileType", name) for name in ({normalised(listing.file_type)} - {""} or contents & {"otf"})}
        counter.update((listing.category.slug, listing.tier_requirement, name, value) for name, value in values)
    return counter


def change(listing: Listing, **fields: Any) -> None:
    for name, value in fields.items():
        setattr(listing, name, value)
    listing.save()
    listing_changed(listing)


def test_listing_index_has_the_published_listings_of_open_stores() -> None:
    on_sale, copied = published(), published()
    ListingFactory()
    assert set(ListingIndex.objects.values_list("pk", flat=True)) == {on_sale.pk, copied.pk}
    assert stored_counts() == true_counts()
    takedown_listing(listing=copied, reason="Stolen.", actor=UserFactory())
    assert list(ListingIndex.objects.values_list("pk", flat=True)) == [on_sale.pk]
    unpublish_listing(listing=on_sale, actor=on_sale.store.owner)
    assert not ListingIndex.objects.exists()
    assert not ListingLabel.objects.exists()
    assert stored_counts() == Counter()


def test_store_that_closes_takes_its_listings_along_and_brings_them_back() -> None:
    store = StoreFactory()
    for number in range(3):
        PublishedListingFactory(store=store, tier_requirement="pro" if number else "free", purchases=number)
    other = PublishedListingFactory()
    for is_open in (False, True, True):
        store.is_open = is_open
        store.save()
        store_visibility_changed(store)
        assert ListingIndex.objects.count() == (4 if is_open else 1)
        assert stored_counts() == true_counts()
    assert sorted(ListingIndex.objects.exclude(pk=other.pk).values_list("popularity", flat=True)) == [0, 1, 2]


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


@pytest.mark.slow
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(steps=st.lists(edits, min_size=1, max_size=6))
def test_counts_are_exact_after_any_edits(steps: list[dict[str, Any]]) -> None:
    # Of the rows of one example the next sees nothing.
    with transaction.atomic():
        first, second = PublishedListingFactory(), PublishedListingFactory(file_type="OTF")
        for number, fields in enumerate(steps):
            listing = (first, second)[number % 2]
            category = {"category": CategoryFactory(slug=fields["category"])} if "category" in fields else {}
            change(listing, **(fields | category))
            assert stored_counts() == true_counts()
            assert set(ListingIndex.objects.values_list("pk", flat=True)) == set(
                Listing.objects.filter(status="Published").values_list("pk", flat=True)
            )
        assert listing_index.rebuild() == (0, 0)
        transaction.set_rollback(True)


def test_edit_of_a_field_outside_of_lists_does_not_write_the_index(django_assert_max_num_queries: Any) -> None:
    listing = PublishedListingFactory()
    Listing.objects.filter(pk=listing.pk).update(description="Another")
    # The licence tiers, the listing, its thumbnail, its row, its labels; nothing to delete in three tables.
    with django_assert_max_num_queries(5):
        listing_index.refresh_listings([listing.pk])


def test_popularity_in_the_index_survives_unpublishing() -> None:
    listing = PublishedListingFactory(purchases=2)
    record_purchase(listing_id=listing.pk)
    assert ListingIndex.objects.get().popularity == 2
    assert count_purchases() == 1
    assert ListingIndex.objects.get().popularity == 3
    change(listing, status="Draft")
    record_refund(listing_id=listing.pk)
    count_purchases()
    change(listing, status="Published")
    assert count_purchases() == 0
    assert (ListingIndex.objects.get().popularity, ListingStats.objects.get().purchases) == (2, 2)
    change(listing, tier_requirement="vip")
    assert ListingIndex.objects.get().popularity == 2


def test_rebuild_listing_index_repairs_rows_changed_without_the_service() -> None:
    kept, hidden, added = PublishedListingFactory(), PublishedListingFactory(), PublishedListingFactory()
    Listing.objects.filter(pk=kept.pk).update(tier_requirement="vip", file_type="OTF")
    Listing.objects.filter(pk=hidden.pk).update(status="Draft")
    ListingIndex.objects.filter(pk=added.pk).delete()
    ListingCount.objects.filter(name="").update(listings=7)
    assert said("rebuild_listing_index").startswith("Corrected 3 listings and ")
    assert stored_counts() == true_counts()
    assert set(ListingIndex.objects.values_list("pk", flat=True)) == {kept.pk, added.pk}
    assert said("rebuild_listing_index").startswith("Corrected 0 listings and 0 counts")


def test_listing_counts_cannot_become_negative() -> None:
    PublishedListingFactory()
    with pytest.raises(Exception, match="listingcount_not_negative"):
        listing_index.add_to_counts(Counter({("fonts", "free", "", ""): -2}))


def test_platforms_are_labels_without_their_versions() -> None:
    for text, expected in (
        ("After Effects 2023+, Figma", {"after effects", "figma"}),
        ("Premiere Pro v24.1 / FIGMA; ", {"premiere pro", "figma"}),
        ("Photoshop、Illustrator\uff0cFigma، XD", {"photoshop", "illustrator", "figma", "xd"}),
        ("", set()),
    ):
        assert labels_of(Listing(supported_platforms=text)) == {("platform", name) for name in expected}


def test_renamed_store_and_category_are_renamed_in_lists(get: Any) -> None:
    other, listing = PublishedListingFactory(category=CategoryFactory(slug="motion", name="Motion")), PublishedListingFactory()
    StorePictureFactory(store=other.store)
    store_edited(other.store)
    Store.objects.filter(pk=listing.store_id).update(name="Foundry")
    store_visibility_changed(Store.objects.get(pk=listing.store_id))
    listing.category.name = "Typefaces"
    save_category(category=listing.category, changed=["name"], actor=UserFactory(is_staff=True))
    assert get("assets", category="fonts")["items"][0]["vendor"]["storeName"] == "Foundry"
    kept = Category.objects.get(pk=other.category_id).name
    assert dict(ListingIndex.objects.values_list("pk", "category_name")) == {listing.pk: "Typefaces", other.pk: kept}
    assert listing_index.rebuild() == (0, 0)


def test_changed_price_factor_updates_a_large_catalog_by_a_job(get: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(taxonomy, "REPRICED_AT_ONCE", 1)
    for _ in range(2):
        PublishedListingFactory(price_inr_minor=10_000)
    tier = LicenseTier.objects.get(slug="commercial")
    tier.price_factor = Decimal(3)
    save_license_tier(tier=tier, changed=["price_factor"], actor=UserFactory(is_staff=True))
    assert get("assets", license="commercial", maxPrice="200")["total"] == 2
    drain()
    assert get("assets", license="commercial", maxPrice="200")["total"] == 0
