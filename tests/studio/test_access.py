"""Whose studio is closed; whose listings it shows is in `tests/web/test_others_things.py`."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from catalog.models import Listing
from vendors.models import VendorProfile, VendorStatus

pytestmark = pytest.mark.django_db

OF_A_LISTING = ("listing", "details", "prices", "licences", "files", "manifest", "reviews", "withdraw", "unpublish", "delete")


@pytest.mark.parametrize("status", [VendorStatus.SUSPENDED, VendorStatus.PENDING])
def test_listing_pages_redirect_suspended_and_pending_vendors_to_the_studio(
    browse: Callable[..., Client], vendor: VendorProfile, listing: Listing, status: VendorStatus
) -> None:
    VendorProfile.objects.filter(pk=vendor.pk).update(status=status)
    client = browse(vendor.user)
    for name in OF_A_LISTING:
        assert client.get(reverse(f"studio-{name}", args=[listing.slug]))["Location"] == reverse("studio"), name
    page = client.get(reverse("studio"))
    assert page.status_code == 200
    assert listing.title not in page.content.decode()
