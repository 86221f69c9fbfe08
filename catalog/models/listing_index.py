"""The browse index: denormalised data by which listings are shown, filtered, sorted and counted.

`catalog.services.listing_index` updates it in the transaction of every change.
"""

from typing import Any

from django.db import models
from django.db.models import F, Q, Value
from django.db.models.functions import Coalesce

from marketplace.accounts.models import Tier
from marketplace.core import bounds as core_bounds

from .. import bounds
from .listings import AiOrigin, AiTraining, Listing

# Above every price under any licence tier, so that listings without a price in a currency sort last, by their price in dollars.
NO_PRICE = 10**15
LABEL_CHARS = 250


def _sort_key(expression: Any) -> models.GeneratedField:
    return models.GeneratedField(expression=expression, output_field=models.BigIntegerField(), db_persist=True)


class Priced(models.Model):
    """Current prices in minor units; 0 in all currencies if the listing is free, null where the vendor set none.

    The other columns are sort keys. Every order is ascending by its keys and then by the id, so that one row comparison selects
    the listings after a cursor.
    """

    price_usd = models.BigIntegerField()
    price_inr = models.BigIntegerField(null=True)
    price_eur = models.BigIntegerField(null=True)
    usd_descending = _sort_key(-F("price_usd"))
    inr_ascending = _sort_key(Coalesce("price_inr", F("price_usd") + Value(NO_PRICE)))
    inr_descending = _sort_key(Coalesce(-F("price_inr"), Value(NO_PRICE) - F("price_usd")))
    eur_ascending = _sort_key(Coalesce("price_eur", F("price_usd") + Value(NO_PRICE)))
    eur_descending = _sort_key(Coalesce(-F("price_eur"), Value(NO_PRICE) - F("price_usd")))

    class Meta:
        abstract = True


PRICE_KEYS = ("price_usd", "usd_descending", "inr_ascending", "inr_descending", "eur_ascending", "eur_descending")


class ListingIndex(Priced):
    """A listing that is published in an open store. Its prices are those of the first permitted licence tier."""

    listing = models.OneToOneField(Listing, primary_key=True, on_delete=models.CASCADE, related_name="index")
    slug = models.CharField(max_length=core_bounds.SLUG_CHARS)
    title = models.CharField(max_length=bounds.TITLE_CHARS)
    category_slug = models.CharField(max_length=core_bounds.SLUG_CHARS)
    category_name = models.CharField(max_length=core_bounds.NAME_CHARS)
    store_slug = models.CharField(max_length=core_bounds.SLUG_CHARS)
    store_name = models.CharField(max_length=core_bounds.NAME_CHARS)
    # The id of the store's logo; null without one.
    store_logo = models.UUIDField(null=True)
    # The account tier that the listing requires of a buyer.
    tier = models.CharField(max_length=8, choices=Tier.choices)
    ai_training = models.CharField(max_length=10, choices=AiTraining.choices)
    ai_origin = models.CharField(max_length=10, choices=AiOrigin.choices)
    # Normalised by `labels.normalised`.
    file_type = models.CharField(max_length=LABEL_CHARS, blank=True)
    # Vendors' prices before the discount, the discount in basis points, and when it ends if it does.
    list_price_usd = models.BigIntegerField()
    list_price_inr = models.BigIntegerField(null=True)
    list_price_eur = models.BigIntegerField(null=True)
    discount_bp = models.PositiveIntegerField()
    discount_ends_at = models.DateTimeField(null=True)
    # Permitted active licence tiers in their order: [{"slug", "price_usd", "price_inr", "price_eur"}].
    licenses = models.JSONField()
    # The image of gallery slot 0 in the size of a card: {"url", "width", "height"}; null without one.
    thumbnail = models.JSONField(null=True)
    published_at = models.DateTimeField()
    popularity = models.PositiveIntegerField(default=0)
    popular_key = _sort_key(-F("popularity"))
    # `published_at` as a key of the indexes: microseconds since the epoch, negative, so that the newest comes first.
    newest_key = models.BigIntegerField()

    class Meta:
        verbose_name_plural = "listing index"
        constraints = (
            models.CheckConstraint(condition=Q(tier__in=Tier.values), name="listingindex_tier_known"),
            models.CheckConstraint(condition=Q(ai_training__in=AiTraining.values), name="listingindex_ai_training_known"),
            models.CheckConstraint(condition=Q(ai_origin__in=AiOrigin.values), name="listingindex_ai_origin_known"),
        )
        indexes = (
            models.Index(fields=("popular_key", "newest_key", "listing"), name="listingindex_popular"),
            models.Index(fields=("newest_key", "listing"), name="listingindex_newest"),
            models.Index(fields=("category_slug", "popular_key", "newest_key", "listing"), name="listingindex_category_popular"),
            models.Index(fields=("category_slug", "newest_key", "listing"), name="listingindex_category_newest"),
            models.Index(fields=("store_slug", "newest_key", "listing"), name="listingindex_store"),
            models.Index(fields=("file_type", "popular_key", "newest_key", "listing"), name="listingindex_type"),
            models.Index(fields=("ai_training", "popular_key", "newest_key", "listing"), name="listingindex_ai_training"),
            models.Index(fields=("ai_origin", "popular_key", "newest_key", "listing"), name="listingindex_ai_origin"),
            *(models.Index(fields=(key, "listing"), name=f"listingindex_{key}") for key in PRICE_KEYS),
        )

    def __str__(self) -> str:
        return self.title


class LabelKind(models.TextChoices):
    """The kinds of label."""

    TAG = "tag"
    PLATFORM = "platform"


class ListingLabel(models.Model):
    """A normalised tag or supported platform of a listing on sale."""

    pk = models.CompositePrimaryKey("listing_id", "kind", "value")
    listing = models.ForeignKey(ListingIndex, on_delete=models.CASCADE, related_name="labels", db_index=False)
    kind = models.CharField(max_length=20, choices=LabelKind.choices)
    value = models.CharField(max_length=LABEL_CHARS)

    class Meta:
        constraints = (models.CheckConstraint(condition=Q(kind__in=LabelKind.values), name="listinglabel_kind_known"),)
        indexes = (models.Index(fields=("kind", "value", "listing"), name="listinglabel_value"),)

    def __str__(self) -> str:
        return f"{self.kind}: {self.value}"


class ListingPrice(Priced):
    """The prices of a listing on sale under one of its permitted active licence tiers."""

    pk = models.CompositePrimaryKey("listing_id", "license")
    listing = models.ForeignKey(ListingIndex, on_delete=models.CASCADE, related_name="prices", db_index=False)
    license = models.CharField(max_length=40)

    class Meta:
        indexes = tuple(models.Index(fields=("license", key, "listing"), name=f"listingprice_{key}") for key in PRICE_KEYS)

    def __str__(self) -> str:
        return self.license


class ListingCount(models.Model):
    """The number of listings on sale by category, required account tier and value of a filter.

    Counting a large part of the catalog would take longer than the rest of a response.
    """

    id = models.BigAutoField(primary_key=True)
    category_slug = models.CharField(max_length=core_bounds.SLUG_CHARS)
    # The account tier that the listing requires of a buyer.
    tier = models.CharField(max_length=8, choices=Tier.choices)
    # The filter's parameter and its value; both empty for all listings.
    name = models.CharField(max_length=20, blank=True)
    value = models.CharField(max_length=LABEL_CHARS, blank=True)
    listings = models.BigIntegerField(default=0)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("name", "value", "category_slug", "tier"), name="listingcount_once"),
            models.CheckConstraint(condition=Q(tier__in=Tier.values), name="listingcount_tier_known"),
            models.CheckConstraint(condition=Q(listings__gte=0), name="listingcount_not_negative"),
        )

    def __str__(self) -> str:
        return f"{self.category_slug} {self.tier} {self.name} {self.value}: {self.listings}"
