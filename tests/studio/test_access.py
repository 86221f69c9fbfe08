"""Whose studio is closed; whose listings it shows is in `tests/web/test_others_things.py`."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from catalog.models import Listing
from vendors.models import VendorProfile, VendorStatus

pytestmark = pytest.mark.django_db

Browse = Callable[..., Client]
OF_A_LISTING = [
    f"studio-{name}"
    for name in ("listing", "details", "prices", "licences", "files", "manifest", "reviews", "withdraw", "unpublish", "delete")
]


@pytest.mark.parametrize("status", [VendorStatus.SUSPENDED, VendorStatus.PENDING])
@pytest.mark.parametrize("name", OF_A_LISTING)
def test_listing_pages_redirect_suspended_and_pending_vendors_to_the_studio(
    browse: Browse, vendor: VendorProfile, listing: Listing, name: str, status: VendorStatus
) -> None:
    VendorProfile.objects.filter(pk=vendor.pk).update(status=status)
    client = browse(vendor.user)
    assert client.get(reverse(name, args=[listing.slug]))["Location"] == reverse("studio")
    assert client.get(reverse("studio")).status_code == 200
    assert listing.title not in client.get(reverse("studio")).content.decode()
