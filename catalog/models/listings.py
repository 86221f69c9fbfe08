"""Listings: what a vendor offers, with prices and review status."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from django.db import models
from django.db.models import Q
from django.utils import timezone

from marketplace.accounts.models import Tier
from marketplace.core import bounds as core_bounds
from marketplace.core.ids import new_id

from .. import bounds
from .taxonomy import Category, Store


class ListingStatus(models.TextChoices):
    """The statuses of a listing."""

    DRAFT = "Draft"
    PENDING_REVIEW = "PendingReview"
    PUBLISHED = "Published"
    REJECTED = "Rejected"


class UpdateStatus(models.TextChoices):
    """Whether the candidate file of a published listing is in review."""

    NONE = ""
    PENDING_REVIEW = "PendingReview"


class AiTraining(models.TextChoices):
    """Whether an asset may be used to train AI models."""

    ALLOWED = "allowed", "Allowed"
    FORBIDDEN = "forbidden", "Forbidden"
    BY_LICENCE = "by_licence", "By licence"


class AiOrigin(models.TextChoices):
    """Whether parts of an asset were made with AI, as its vendor declares."""

    UNDECLARED = "undeclared", "Undeclared"
    NONE = "none", "No part of it"
    DECLARED = "declared", "Parts of it"


class Listing(models.Model):
    """An asset for sale. Buyers get `approved_deliverable`, the last approved file."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    store = models.ForeignKey(Store, on_delete=models.PROTECT, related_name="listings")
    title = models.CharField(max_length=bounds.TITLE_CHARS)
    # Its unique constraint is its index.
    slug = models.SlugField(max_length=core_bounds.SLUG_CHARS, db_index=False)
    short_description = models.CharField(max_length=bounds.SHORT_DESCRIPTION_CHARS)
    description = models.TextField(blank=True)
    category = models.ForeignKey(Category, on_delete=models.PROTECT, related_name="listings")
    tags = models.JSONField(default=list, blank=True)

    currency = models.CharField(max_length=3, default="USD", editable=False)
    base_price_minor = models.BigIntegerField()
    price_inr_minor = models.BigIntegerField(null=True, blank=True)
    price_eur_minor = models.BigIntegerField(null=True, blank=True)
    discount_bp = models.PositiveIntegerField(default=0)
    tax_rate_bp = models.PositiveIntegerField(default=0)

    file_type = models.CharField(max_length=bounds.FILE_TYPE_CHARS, blank=True)
    supported_platforms = models.CharField(max_length=bounds.PLATFORMS_CHARS, blank=True)
    version = models.CharField(max_length=bounds.VERSION_CHARS, blank=True)
    video_url = models.URLField(max_length=core_bounds.URL_CHARS, blank=True)
    readme = models.TextField(blank=True)
    # Slugs of licence tiers; None permits every active one.
    allowed_license_slugs = models.JSONField(null=True, blank=True)
    # Without the vendor's statement, nothing is permitted and nothing is declared.
    ai_training = models.CharField(max_length=10, choices=AiTraining.choices, default=AiTraining.FORBIDDEN)
    ai_origin = models.CharField(max_length=10, choices=AiOrigin.choices, default=AiOrigin.UNDECLARED)
    # Which parts were made with AI; empty unless the vendor declares some.
    ai_parts = models.CharField(max_length=bounds.AI_PARTS_CHARS, blank=True)
    tier_requirement = models.CharField(max_length=8, choices=Tier.choices, default=Tier.FREE)

    status = models.CharField(max_length=16, choices=ListingStatus.choices, default=ListingStatus.DRAFT)
    update_status = models.CharField(max_length=16, choices=UpdateStatus.choices, default=UpdateStatus.NONE, blank=True)
    approved_deliverable = models.ForeignKey("catalog.Deliverable", null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    candidate_deliverable = models.ForeignKey("catalog.Deliverable", null=True, blank=True, on_delete=models.PROTECT, related_name="+")

    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now)
    submitted_at = models.DateTimeField(null=True, blank=True)
    # The first publication; publishing again does not move the listing to the top of `newest`.
    published_at = models.DateTimeField(null=True, blank=True)

    # Not a column: the ETags in If-Match, one of which the listing must have to be changed; None for no condition.
    required_etags: Collection[str] | None = None

    class Meta:
        ordering = ("-id",)
        permissions = (
            ("review_listing", "Can approve and reject listings"),
            ("takedown_listing", "Can take published listings down"),
            ("block_deliverable", "Can mark a file as malicious"),
        )
        constraints = (
            models.UniqueConstraint(fields=("slug",), name="listing_slug_taken"),
            models.CheckConstraint(condition=Q(status__in=ListingStatus.values), name="listing_status_known"),
            models.CheckConstraint(
                condition=Q(update_status="") | Q(update_status="PendingReview", status="Published"), name="listing_update_needs_published"
            ),
            models.CheckConstraint(
                condition=~Q(status="Published") | Q(approved_deliverable__isnull=False, published_at__isnull=False),
                name="listing_published_has_file",
            ),
            models.CheckConstraint(condition=Q(tier_requirement__in=Tier.values), name="listing_tier_known"),
            models.CheckConstraint(condition=Q(ai_training__in=AiTraining.values), name="listing_ai_training_known"),
            models.CheckConstraint(condition=Q(ai_origin__in=AiOrigin.values), name="listing_ai_origin_known"),
            models.CheckConstraint(
                condition=Q(~Q(ai_parts=""), ai_origin=AiOrigin.DECLARED) | Q(~Q(ai_origin=AiOrigin.DECLARED), ai_parts=""),
                name="listing_ai_parts_declared",
            ),
            models.CheckConstraint(condition=Q(base_price_minor__range=(0, core_bounds.MAX_PRICE_MINOR)), name="listing_base_price_range"),
            models.CheckConstraint(
                condition=Q(price_inr_minor__isnull=True) | Q(price_inr_minor__range=(0, core_bounds.MAX_PRICE_MINOR)),
                name="listing_inr_price_range",
            ),
            models.CheckConstraint(
                condition=Q(price_eur_minor__isnull=True) | Q(price_eur_minor__range=(0, core_bounds.MAX_PRICE_MINOR)),
                name="listing_eur_price_range",
            ),
            models.CheckConstraint(condition=Q(discount_bp__lte=core_bounds.WHOLE_BP), name="listing_discount_range"),
            models.CheckConstraint(condition=Q(tax_rate_bp__lte=core_bounds.WHOLE_BP), name="listing_tax_range"),
        )

    def __str__(self) -> str:
        return self.title

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Set `updated_at`, which equals `created_at` for a new listing."""
        self.updated_at = self.created_at if self._state.adding else timezone.now()
        if kwargs.get("update_fields") is not None:
            kwargs["update_fields"] = {*kwargs["update_fields"], "updated_at"}
        super().save(*args, **kwargs)

    @property
    def is_on_sale(self) -> bool:
        """Tell whether buyers can see and buy it."""
        return self.status == ListingStatus.PUBLISHED and self.store.is_open

    @property
    def etag(self) -> str:
        """The entity tag, which changes with every save."""
        return f'"{self.updated_at:%Y%m%dT%H%M%S%f}"'

    @property
    def current_discount_bp(self) -> int:
        """The larger of the listing's own discount and the one that runs now, in basis points; they don't add up.

        Only a row that was read by `pricing.with_running_discount` knows the one that runs.
        """
        return max(self.discount_bp, 100 * (getattr(self, "running_percent", None) or 0))

    @property
    def discount_ends_at(self) -> datetime | None:
        """When the current discount ends; None if it is the listing's own, or if there is none."""
        return getattr(self, "running_ends_at", None) if self.current_discount_bp > self.discount_bp else None

    @property
    def was_submitted(self) -> bool:
        """Tell whether it was ever submitted; from then on, reviews, mails and links may refer to it."""
        return self.submitted_at is not None or self.status != ListingStatus.DRAFT


class ListingStats(models.Model):
    """Counters, in a table of their own: updating them in the listing's indexed row costs 70 times as much."""

    listing = models.OneToOneField(Listing, primary_key=True, on_delete=models.CASCADE, related_name="stats")
    purchases = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name_plural = "listing stats"

    def __str__(self) -> str:
        return f"{self.listing_id}: {self.purchases}"


class PurchaseCountChange(models.Model):
    """A purchase or refund that is not counted yet. Sales only insert rows, so that they never wait for each other."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    listing = models.ForeignKey(Listing, on_delete=models.CASCADE, related_name="+")
    change = models.SmallIntegerField()

    class Meta:
        constraints = (models.CheckConstraint(condition=Q(change__in=(1, -1)), name="purchasecountchange_one"),)

    def __str__(self) -> str:
        return f"{self.listing_id}: {self.change:+}"
