"""Categories and licence tiers, which staff set up."""

from typing import TypeVar

from django.db import transaction
from django.utils import timezone

from marketplace.accounts.models import User
from marketplace.core import audit

from ..models import Category, LicenseTier, RetiredTerms
from .catalog_version import change_version
from .listing_index import refresh_category, refresh_prices

T = TypeVar("T", Category, LicenseTier)


@transaction.atomic
def save_category(*, category: Category, changed: list[str], actor: User) -> Category:
    """Keep a new or changed category; cached answers end."""
    _save(category, "category", changed, actor)
    refresh_category(category)
    return category


@transaction.atomic
def save_license_tier(*, tier: LicenseTier, changed: list[str], actor: User) -> LicenseTier:
    """Keep a new or changed licence tier; prices that follow from its factor change at once.

    Words that change are kept for those who bought under them.
    """
    before = LicenseTier.objects.select_for_update().filter(pk=tier.pk).first()
    if before and (before.name, before.text) != (tier.name, tier.text):
        RetiredTerms.objects.create(tier=before, name=before.name, text=before.text, until=timezone.now())
    _save(tier, "licensetier", changed, actor)
    if before is None or (before.price_factor, before.sort_order, before.is_active) != (tier.price_factor, tier.sort_order, tier.is_active):
        refresh_prices()
    return tier


def _save(row: T, noun: str, changed: list[str], actor: User) -> None:
    verb = "create" if row._state.adding else "update"
    row.save()
    audit.record(f"{noun}.{verb}", row, actor=actor, changed=changed)
    change_version()
