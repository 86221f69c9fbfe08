"""Snapshots of listings at submission."""

from collections.abc import Iterable, Mapping
from typing import Any

from marketplace.core import money

from ..manifests.generate import build
from ..manifests.sources import sources_of
from ..models import Deliverable, Listing, Preview
from ..selectors.taxonomy import active_tiers


def snapshot_of(
    listing: Listing,
    previews: Iterable[Preview] | None = None,
    *,
    manifest: Mapping[str, Any] | None = None,
    file: Deliverable | None = None,
) -> dict[str, Any]:
    """Return the listing's fields, manifest, file and previews as JSON values, by their names in the API.

    Previews that are not given are read, a manifest that is not given is generated, and the file is the newest one by default.
    """
    file = file or listing.candidate_deliverable or listing.approved_deliverable
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
        "aiTraining": listing.ai_training,
        "aiOrigin": listing.ai_origin,
        "aiParts": listing.ai_parts,
        "readme": listing.readme,
        "allowedLicenseSlugs": listing.allowed_license_slugs,
        "manifest": manifest or build(sources_of(listing, active_tiers())),
        "file": file
        and {"id": str(file.pk), "originalFilename": file.original_filename, "fileSize": file.file_size, "checksum": file.sha256},
        "previews": [_preview(preview) for preview in (listing.previews.all() if previews is None else previews)],
    }


def _preview(preview: Preview) -> dict[str, Any]:
    known = {"kind": preview.kind, "slot": preview.slot, "checksum": preview.sha256}
    # Left out if empty, as in older snapshots.
    return known | {"altText": preview.alt_text} if preview.alt_text else known
