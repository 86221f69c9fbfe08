"""Who gets into the studio, and who does not."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from catalog.models import Listing
from tests.factories import UserFactory
from tests.vendors.cases import make_vendor
from vendors.models import VendorProfile, VendorStatus

pytestmark = pytest.mark.django_db

Browse = Callable[..., Client]
OF_A_LISTING = [
    f"studio-{name}"
    for name in ("listing", "details", "prices", "licences", "files", "manifest", "reviews", "withdraw", "unpublish", "delete")
]


@pytest.mark.parametrize("name", OF_A_LISTING)
def test_anonymous_is_sent_to_sign_in(listing: Listing, name: str) -> None:
    address = reverse(name, args=[listing.slug])
    assert Client().get(address)["Location"] == f"{reverse('account_login')}?next={address}"


@pytest.mark.parametrize("name", OF_A_LISTING)
def test_another_vendors_listing_is_not_found(browse: Browse, listing: Listing, name: str) -> None:
    for stranger in (make_vendor().user, UserFactory(is_staff=True, is_superuser=True), UserFactory()):
        assert browse(stranger).get(reverse(name, args=[listing.slug])).status_code == 404
    assert browse(listing.store.owner).get(reverse(name, args=["nothing"])).status_code == 404


@pytest.mark.parametrize("status", [VendorStatus.SUSPENDED, VendorStatus.PENDING])
@pytest.mark.parametrize("name", OF_A_LISTING)
def test_vendor_who_may_not_sell_is_led_to_where_the_store_stands(
    browse: Browse, vendor: VendorProfile, listing: Listing, name: str, status: VendorStatus
) -> None:
    VendorProfile.objects.filter(pk=vendor.pk).update(status=status)
    client = browse(vendor.user)
    assert client.get(reverse(name, args=[listing.slug]))["Location"] == reverse("studio")
    assert client.get(reverse("studio")).status_code == 200
    assert listing.title not in client.get(reverse("studio")).content.decode()
