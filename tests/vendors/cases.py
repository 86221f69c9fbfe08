"""Bodies, operations and small steps that the vendor tests share."""

from typing import Any

from django.utils import timezone

from catalog.models import Listing
from catalog.models.files import Deliverable
from catalog.services.visibility import listing_changed
from tests.factories import StoreFactory
from vendors.models import VendorProfile, VendorStatus

ASSETS = "/api/v1/vendor/assets"
CREATE = {
    "title": "Aurora Sans",
    "slug": "aurora-sans",
    "shortDescription": "A warm grotesque.",
    "categorySlug": "fonts",
    "basePrice": 19.99,
}
PATCH = {
    "title": "Aurora Sans",
    "shortDescription": "A warm grotesque.",
    "description": "# Aurora",
    "categorySlug": "fonts",
    "basePrice": 19.99,
}


def make_vendor(status: VendorStatus = VendorStatus.APPROVED) -> VendorProfile:
    """Make a vendor with an open or a closed store."""
    store = StoreFactory(is_open=status == VendorStatus.APPROVED)
    return VendorProfile.objects.create(user=store.owner, store=store, status=status)


def problem(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def pointers(answer: Any) -> list[tuple[str, str]]:
    """Return pointer and code of each error."""
    assert problem(answer) == (400, "invalid_input")
    return [(error["pointer"], error["code"]) for error in answer.json()["errors"]]


def publish(listing: Listing) -> None:
    """Put a listing up for sale without a review."""
    listing.approved_deliverable = Deliverable.objects.create(
        listing=listing, object_key=f"deliverables/{listing.pk}", original_filename="a.zip", file_size=1, sha256="0" * 64, crc32=0
    )
    listing.status, listing.published_at = "Published", timezone.now()
    listing.save()
    listing_changed(listing)
