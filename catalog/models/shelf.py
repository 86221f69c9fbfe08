"""The shelf, a read model for browsing: a narrow row for each listing for sale, its labels, and counts of both.

All of it is derived from listings and stores; `catalog.services.shelf` updates it in the transaction of every change.
"""

from django.db import models
from django.db.models import Q

from marketplace.accounts.models import Tier

from .listings import Listing
from .taxonomy import Category, Store

# Beyond every price: listings without an INR price come after all that have one.
NO_INR = 10**9


class ShelfItem(models.Model):
    """A listing for sale. It is here exactly while it is published and its store is open.

    Every sort order is ascending over integers and ends in the id, so that one row comparison selects what follows a cursor. Popularity
    and publication time are therefore stored as negative numbers. Purchases are counted here and not on the listing, so that counting
    rewrites a narrow row.
    """

    listing = models.OneToOneField(Listing, primary_key=True, on_delete=models.CASCADE, related_name="shelf_item")
    store = models.ForeignKey(Store, on_delete=models.CASCADE, related_name="shelf_items")
    category = models.ForeignKey(Category, on_delete=models.CASCADE, related_name="+", db_index=False)
    tier = models.CharField(max_length=8, choices=Tier.choices)
    # The number of purchases, negative.
    unpopularity = models.BigIntegerField(default=0)
    # The time of publication in microseconds since the epoch, negative.
    newest = models.BigIntegerField()
    # Minor units of INR; listings without an INR price come last, by USD (`catalog.services.shelf.NO_INR`).
    price_up = models.BigIntegerField()
    price_down = models.BigIntegerField()
    # What a buyer pays now, in minor units.
    usd = models.BigIntegerField()
    inr = models.BigIntegerField(null=True)
    eur = models.BigIntegerField(null=True, db_index=True)

    class Meta:
        constraints = (models.CheckConstraint(condition=Q(tier__in=Tier.values), name="shelfitem_tier_known"),)
        # Each ends with the tier, so that a page of one tier needs the index only.
        indexes = (
            models.Index(fields=("unpopularity", "newest", "listing", "tier"), name="shelf_popular"),
            models.Index(fields=("newest", "listing", "tier"), name="shelf_newest"),
            models.Index(fields=("price_up", "listing", "tier"), name="shelf_price_up"),
            models.Index(fields=("price_down", "listing", "tier"), name="shelf_price_down"),
            models.Index(fields=("usd", "listing", "tier"), name="shelf_usd"),
            models.Index(fields=("category", "unpopularity", "newest", "listing", "tier"), name="shelf_category_popular"),
            models.Index(fields=("category", "newest", "listing", "tier"), name="shelf_category_newest"),
            models.Index(fields=("category", "price_up", "listing", "tier"), name="shelf_category_price_up"),
            models.Index(fields=("category", "price_down", "listing", "tier"), name="shelf_category_price_down"),
            models.Index(fields=("category", "usd", "listing", "tier"), name="shelf_category_usd"),
        )

    def __str__(self) -> str:
        return f"{self.listing_id}"


class ShelfLabels(models.Model):
    """What else a listing for sale can be filtered by: `|tag:bold|license:personal|platform:figma|type:otf|`.

    A row of its own, so that counting purchases never rewrites it. PostgreSQL has a GIN index on the labels; on SQLite triggers keep
    a table with a row for each label.
    """

    item = models.OneToOneField(ShelfItem, primary_key=True, on_delete=models.CASCADE, related_name="labels")
    labels = models.TextField()

    def __str__(self) -> str:
        return self.labels


class ShelfCount(models.Model):
    """How many listings for sale there are in a category and tier: in all (no label), and of those with a label.

    Written under the lock of the catalog's version, on which changes of the catalog queue anyway.
    """

    id = models.BigAutoField(primary_key=True)
    category = models.ForeignKey(Category, on_delete=models.CASCADE, related_name="shelf_counts", db_index=False)
    tier = models.CharField(max_length=8, choices=Tier.choices)
    label = models.CharField(max_length=250, blank=True)
    listings = models.BigIntegerField(default=0)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("category", "tier", "label"), name="shelfcount_once"),
            models.CheckConstraint(condition=Q(tier__in=Tier.values), name="shelfcount_tier_known"),
            models.CheckConstraint(condition=Q(listings__gte=0), name="shelfcount_not_negative"),
        )
        indexes = (models.Index(fields=("label",), name="shelfcount_label"),)

    def __str__(self) -> str:
        return f"{self.category_id} {self.tier} {self.label}: {self.listings}"
