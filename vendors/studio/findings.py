"""Reviewers' findings as pages show them, with a link to the page where each field is edited."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from catalog.field_names import field_name

# The page where a field is edited, by its name in the API; the slug cannot be edited.
_ROUTES = {
    **dict.fromkeys(("title", "categorySlug", "shortDescription", "description", "tags"), "studio-details"),
    **dict.fromkeys(("version", "fileType", "supportedPlatforms", "videoUrl"), "studio-details"),
    **dict.fromkeys(("basePrice", "priceInr", "priceEur", "discountPercent", "taxRatePercent"), "studio-prices"),
    **dict.fromkeys(("allowedLicenseSlugs", "readme"), "studio-licences"),
    **dict.fromkeys(("file", "previews"), "studio-files"),
}


@dataclass(frozen=True)
class FindingRow:
    """One finding.

    Args:
        field: The field's name in the API; empty for the whole listing.
        message: What is wrong.
        hint: How to fix it.
        route: The page where it is fixed; empty where there is none.
    """

    field: str
    message: str
    hint: str
    route: str


def finding_rows(findings: Iterable[Mapping[str, str]]) -> list[FindingRow]:
    """Return the rows of a review's findings."""
    return [
        FindingRow(field_name(finding["field"]), finding["message"], finding["hint"], _ROUTES.get(finding["field"], ""))
        for finding in findings
    ]
