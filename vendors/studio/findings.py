"""What reviewers found, with the place where each field is mended."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

# What a finding may be about, by its name in the API: how the page calls it, and where it is.
_PLACES = {
    "title": ("Title", "studio-details"),
    "slug": ("Address", ""),
    "categorySlug": ("Category", "studio-details"),
    "shortDescription": ("In one sentence", "studio-details"),
    "description": ("Description", "studio-details"),
    "tags": ("Tags", "studio-details"),
    "version": ("Version", "studio-details"),
    "fileType": ("File type", "studio-details"),
    "supportedPlatforms": ("Made for", "studio-details"),
    "videoUrl": ("Video", "studio-details"),
    "basePrice": ("Price in US dollars", "studio-prices"),
    "priceInr": ("Price in rupees", "studio-prices"),
    "priceEur": ("Price in euros", "studio-prices"),
    "discountPercent": ("Discount", "studio-prices"),
    "taxRatePercent": ("Tax", "studio-prices"),
    "allowedLicenseSlugs": ("Licences", "studio-licences"),
    "readme": ("Read me", "studio-licences"),
    "file": ("File", "studio-files"),
    "previews": ("Previews", "studio-files"),
}


@dataclass(frozen=True)
class FindingRow:
    """One thing to mend.

    Args:
        field: What it is about; empty for the whole listing.
        message: What is wrong.
        hint: What to do.
        route: The page where that is done; empty where there is none.
    """

    field: str
    message: str
    hint: str
    route: str


def finding_rows(findings: Iterable[Mapping[str, str]]) -> list[FindingRow]:
    """Return a review's findings as pages show them."""
    rows = []
    for finding in findings:
        # Reviewers may name anything in their own words.
        field, route = _PLACES.get(finding["field"], (finding["field"], ""))
        rows.append(FindingRow(field, finding["message"], finding["hint"], route))
    return rows
