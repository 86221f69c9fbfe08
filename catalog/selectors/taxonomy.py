"""Categories, licence tiers and their terms."""

import uuid

from django.db.models import OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from marketplace.core.errors import NotFound

from ..models import Category, LicenseTerms, LicenseTier, ListingCount


def categories_with_counts() -> QuerySet[Category]:
    """Return the active categories, each with the number of listings on sale in it as `asset_count`."""
    counts = ListingCount.objects.filter(name="", category_slug=OuterRef("slug")).values("category_slug").values(n=Sum("listings"))
    return Category.objects.filter(is_active=True).annotate(asset_count=Coalesce(counts, 0)).order_by("sort_order", "slug")


def category_names() -> list[tuple[str, str]]:
    """Return slug and name of each active category, for choosing from."""
    return list(Category.objects.filter(is_active=True).order_by("sort_order", "slug").values_list("slug", "name"))


def active_tiers() -> list[LicenseTier]:
    """Return the active licence tiers in their order."""
    return list(LicenseTier.objects.filter(is_active=True).order_by("sort_order", "slug"))


TierTexts = dict[str, dict[str, str]]
_ACTIVE_TIERS = LicenseTier.objects.filter(is_active=True).values_list("slug", "name", "summary")


def tier_texts() -> TierTexts:
    """Return name and summary of each active licence tier, by slug."""
    return {slug: {"name": name, "summary": summary} for slug, name, summary in _ACTIVE_TIERS.all()}


def every_tier() -> list[LicenseTier]:
    """Return all licence tiers in their order, inactive ones included."""
    return list(LicenseTier.objects.order_by("sort_order", "slug"))


def current_terms() -> dict[uuid.UUID, LicenseTerms]:
    """Return the newest terms of each licence tier, by the tier's id, with the tier."""
    newest = LicenseTerms.objects.filter(tier=OuterRef("tier")).order_by("-version").values("version")[:1]
    return {terms.tier_id: terms for terms in LicenseTerms.objects.select_related("tier").filter(version=Subquery(newest))}


def terms_version(license_slug: str, version: int) -> LicenseTerms:
    """Return a version of a tier's terms, with the tier.

    Raises:
        NotFound: there is none.
    """
    terms = LicenseTerms.objects.select_related("tier").filter(tier__slug=license_slug, version=version).first()
    if terms is None:
        raise NotFound
    return terms
