"""What a listing looked like when it was submitted, and what is different now."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from marketplace.core import money

from ..models import Listing, ListingReview
from ..models.reviews import ReviewStatus


@dataclass(frozen=True)
class Change:
    """One field that differs.

    Args:
        field: The reference's name of the field.
        before: As it was approved.
        after: As it is now.
    """

    field: str
    before: Any
    after: Any


def snapshot_of(listing: Listing) -> dict[str, Any]:
    """Return the listing's fields, file and previews as JSON values, under the reference's names."""
    deliverable = listing.candidate_deliverable or listing.live_deliverable
    file = deliverable and {
        "id": str(deliverable.pk),
        "originalFilename": deliverable.original_filename,
        "fileSize": deliverable.file_size,
        "checksum": deliverable.sha256,
    }
    previews = listing.previews.order_by("kind", "slot")
    return {
        "title": listing.title,
        "slug": listing.slug,
        "shortDescription": listing.short_description,
        "description": listing.description,
        "categorySlug": listing.category.slug,
        "tags": listing.tags,
        "basePrice": money.to_number(listing.base_price_minor),
        "priceInr": money.to_number_or_none(listing.price_inr_minor),
        "priceEur": money.to_number_or_none(listing.price_eur_minor),
        "discountPercent": listing.discount_bp / 100,
        "taxRatePercent": listing.tax_rate_bp / 100,
        "fileType": listing.file_type,
        "supportedPlatforms": listing.supported_platforms,
        "version": listing.version,
        "videoUrl": listing.video_url,
        "readme": listing.readme,
        "allowedLicenseSlugs": listing.allowed_license_slugs,
        "file": file,
        "previews": [{"kind": preview.kind, "slot": preview.slot, "checksum": preview.sha256} for preview in previews],
    }


def last_approved_snapshot(listing: Listing) -> dict[str, Any] | None:
    """Return what a reviewer last approved; None for a listing that never was."""
    approved = ListingReview.objects.filter(listing=listing, status=ReviewStatus.APPROVED)
    return approved.order_by("-decided_at", "-id").values_list("snapshot", flat=True).first()


def changes_between(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """Return each field whose value differs, in the order of the newer snapshot."""
    return [Change(field, before.get(field), value) for field, value in after.items() if before.get(field) != value]
