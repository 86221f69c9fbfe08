"""Shelves and licences: what staff set up."""

from typing import TypeVar

from django.db import transaction

from marketplace.accounts.models import User
from marketplace.core import audit

from ..models import Category, LicenseTier
from . import generation

T = TypeVar("T", Category, LicenseTier)


@transaction.atomic
def save_category(*, category: Category, changed: list[str], actor: User) -> Category:
    """Keep a new or changed category; cached answers end."""
    return _save(category, "category", changed, actor)


@transaction.atomic
def save_license_tier(*, tier: LicenseTier, changed: list[str], actor: User) -> LicenseTier:
    """Keep a new or changed licence tier; prices that follow from its factor change at once."""
    return _save(tier, "licensetier", changed, actor)


def _save(row: T, noun: str, changed: list[str], actor: User) -> T:
    verb = "create" if row._state.adding else "update"
    row.save()
    audit.record(f"{noun}.{verb}", row, actor=actor, changed=changed)
    generation.bump()
    return row
