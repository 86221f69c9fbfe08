"""Categories and licence tiers."""

from datetime import datetime
from typing import NamedTuple

from django.db.models import OuterRef, QuerySet, Sum
from django.db.models.functions import Coalesce

from ..models import Category, LicenseTier, ListingCount, RetiredTerms


def categories_with_counts() -> QuerySet[Category]:
    """Return the active categories, each with the number of listings for sale in it as `asset_count`."""
    counts = ListingCount.objects.filter(name="", category_slug=OuterRef("slug")).values("category_slug").values(n=Sum("listings"))
    return Category.objects.filter(is_active=True).annotate(asset_count=Coalesce(counts, 0)).order_by("sort_order", "slug")


def category_names() -> list[tuple[str, str]]:
    """Return slug and name of each active category, for choosing from."""
    return list(Category.objects.filter(is_active=True).order_by("sort_order", "slug").values_list("slug", "name"))


def active_tiers() -> list[LicenseTier]:
    """Return the active licence tiers in their order."""
    return list(LicenseTier.objects.filter(is_active=True).order_by("sort_order", "slug"))


class TierText(NamedTuple):
    """Name and summary of a licence tier."""

    name: str
    summary: str


TierTexts = dict[str, TierText]
_ACTIVE_TIERS = LicenseTier.objects.filter(is_active=True).values_list("slug", "name", "summary")


def tier_texts() -> TierTexts:
    """Return name and summary of each active licence tier, by slug."""
    return {slug: TierText(name, summary) for slug, name, summary in _ACTIVE_TIERS.all()}


def every_tier() -> list[LicenseTier]:
    """Return all licence tiers in their order, inactive ones included."""
    return list(LicenseTier.objects.order_by("sort_order", "slug"))


class Terms(NamedTuple):
    """The terms of a licence."""

    name: str
    text: str


def terms_at(tier: LicenseTier, moment: datetime) -> Terms:
    """Return the tier's terms at a time: those at the time of the purchase apply to it."""
    retired = RetiredTerms.objects.filter(tier=tier, until__gt=moment).order_by("until").first()
    return Terms(tier.name, tier.text) if retired is None else Terms(retired.name, retired.text)
