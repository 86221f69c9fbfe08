"""Every page of the studio: well made, and asking little of the database."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from django.test import Client
from django.urls import reverse

from catalog.models import Listing
from tests.factories import DeliverableFactory, ListingFactory
from tests.web.markup import faults_of
from vendors.models import VendorProfile
from vendors.services.manifests import generate_manifest

pytestmark = pytest.mark.django_db

Queries = Callable[[int], AbstractContextManager[object]]
OF_A_LISTING = [
    "studio-listing",
    "studio-details",
    "studio-prices",
    "studio-discounts",
    "studio-licences",
    "studio-files",
    "studio-manifest",
    "studio-reviews",
]


@pytest.mark.slow
def test_studio_pages_have_valid_markup_and_few_queries_with_a_thousand_listings(
    client: Client, vendor: VendorProfile, listing: Listing, django_assert_max_num_queries: Queries
) -> None:
    Listing.objects.bulk_create(ListingFactory.build_batch(1_000, store=vendor.store, category=listing.category))
    listing.candidate_deliverable = DeliverableFactory(listing=listing, approved_at=None)
    listing.save()
    generate_manifest(listing=listing, actor=vendor.user)
    addresses = [reverse(name) for name in ("studio", "studio-create", "studio-store")]
    addresses += [f"{reverse('studio')}?q=list&status=Draft", *(reverse(name, args=[listing.slug]) for name in OF_A_LISTING)]
    for address in addresses:
        with django_assert_max_num_queries(8):
            page = client.get(address)
        assert page.status_code == 200, address
        assert faults_of(page.content) == [], address
        # A third of a page's weight, only where something is told while one types.
        assert (b"htmx-" in page.content) == (b"hx-trigger" in page.content), address
