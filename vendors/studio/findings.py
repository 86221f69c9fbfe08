"""What reviewers found, with the place where each field is mended."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from catalog.field_names import field_name

# Where a field is mended, by its name in the API; the address never changes.
_ROUTES = {
    **dict.fromkeys(("title", "categorySlug", "shortDescription", "description", "tags"), "studio-details"),
    **dict.fromkeys(("version", "fileType", "supportedPlatforms", "videoUrl"), "studio-details"),
    **dict.fromkeys(("basePrice", "priceInr", "priceEur", "discountPercent", "taxRatePercent"), "studio-prices"),
    **dict.fromkeys(("allowedLicenseSlugs", "readme"), "studio-licences"),
    **dict.fromkeys(("file", "previews"), "studio-files"),
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
    return [
        FindingRow(field_name(finding["field"]), finding["message"], finding["hint"], _ROUTES.get(finding["field"], ""))
        for finding in findings
    ]
