"""Bodies, operations and small steps that the vendor tests share."""

from typing import Any

from django.utils import timezone
from rest_framework.test import APIClient

from catalog.models import Listing
from catalog.models.files import Deliverable
from catalog.services.visibility import listing_changed
from tests.factories import StoreFactory
from vendors.models import VendorProfile, VendorStatus

ASSETS = "/api/v1/vendor/assets"
OPERATIONS = [
    ("get", ""),
    ("post", ""),
    ("get", "/aurora-sans"),
    ("patch", "/aurora-sans"),
    ("delete", "/aurora-sans"),
    ("patch", "/aurora-sans/regional-prices"),
    ("patch", "/aurora-sans/licensing"),
    ("get", "/aurora-sans/reviews"),
    ("get", "/aurora-sans/files"),
    ("post", "/aurora-sans/manifest/generate"),
    ("post", "/aurora-sans/preflight"),
    ("post", "/aurora-sans/submit"),
    ("post", "/aurora-sans/withdraw"),
    ("post", "/aurora-sans/unpublish"),
    ("post", "/aurora-sans/file"),
    ("post", "/aurora-sans/font-specimen"),
    ("post", "/aurora-sans/gallery-image?slot=0"),
    ("post", "/aurora-sans/audio-preview"),
    ("delete", "/aurora-sans/file"),
    ("patch", "/aurora-sans/previews/01900000-0000-7000-8000-000000000000"),
    ("delete", "/aurora-sans/previews/01900000-0000-7000-8000-000000000000"),
]
ON_ONE_LISTING = [(method, path) for method, path in OPERATIONS if path]
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


def call(client: APIClient, method: str, path: str) -> Any:
    """Send an empty JSON body where the method has one."""
    return getattr(client, method)(ASSETS + path, *(() if method == "get" else ({},)), format="json")


def problem(answer: Any) -> tuple[int, str]:
    """Return status and code."""
    return answer.status_code, answer.json()["code"]


def pointers(answer: Any) -> list[tuple[str, str]]:
    """Return pointer and code of each error."""
    assert problem(answer) == (400, "invalid_input")
    return [(error["pointer"], error["code"]) for error in answer.json()["errors"]]


def publish(listing: Listing) -> None:
    """Put a listing up for sale without a review."""
    listing.live_deliverable = Deliverable.objects.create(
        listing=listing, object_key=f"deliverables/{listing.pk}", original_filename="a.zip", file_size=1, sha256="0" * 64, crc32=0
    )
    listing.status, listing.published_at = "Published", timezone.now()
    listing.save()
    listing_changed(listing)
