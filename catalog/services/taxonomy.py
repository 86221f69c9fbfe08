"""Ends cached answers when an admin edits a category or a licence tier: both are plain forms without a service of their own."""

from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver

from ..models import Category, LicenseTier
from . import generation


@receiver([post_save, post_delete], sender=Category, dispatch_uid="catalog.category_changed")
@receiver([post_save, post_delete], sender=LicenseTier, dispatch_uid="catalog.license_tier_changed")
def taxonomy_changed(**_kwargs: object) -> None:
    """Count the change, in the transaction that makes it."""
    generation.bump()
