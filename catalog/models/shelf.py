"""What browsing reads: a narrow row for each listing for sale, its labels, and how many there are of each kind.

All of it follows from listings and stores; `catalog.services.shelf` keeps it in line, in the transaction of every change.
"""

from django.db import models
from django.db.models import Q

from marketplace.accounts.models import Tier

from .listings import Listing
from .taxonomy import Category, Store


class ShelfItem(models.Model):
    """A listing for sale. It is here exactly while it is published and its store is open.

    Each order of browsing is ascending in numbers and ends in the id, so that one comparison of rows tells what comes after
    a place. The counter of purchases is here and not on the listing: counting then writes a narrow row.
    """

    listing = models.OneToOneField(Listing, primary_key=True, on_delete=models.CASCADE, related_name="shelf_item")
    store = models.ForeignKey(Store, on_delete=models.CASCADE, related_name="shelf_items")
    category = models.ForeignKey(Category, on_delete=models.CASCADE, related_name="+", db_index=False)
    tier = models.CharField(max_length=8, choices=Tier.choices)
    # Less than nothing for each purchase.
    unpopularity = models.BigIntegerField(default=0)
    # Microseconds before the epoch.
    newest = models.BigIntegerField()
    # By INR, those without it last by USD: minor units, and for the last ones more than any price.
    price_up = models.BigIntegerField()
    price_down = models.BigIntegerField()
    # What a buyer pays now, in minor units.
    usd = models.BigIntegerField(db_index=True)
    inr = models.BigIntegerField(null=True)
    eur = models.BigIntegerField(null=True, db_index=True)

    class Meta:
        constraints = (models.CheckConstraint(condition=Q(tier__in=Tier.values), name="shelfitem_tier_known"),)
        # The tier is in each so that a page of one tier is told from the index alone.
        indexes = (
            models.Index(fields=("unpopularity", "newest", "listing", "tier"), name="shelf_popular"),
            models.Index(fields=("newest", "listing", "tier"), name="shelf_newest"),
            models.Index(fields=("price_up", "listing", "tier"), name="shelf_price_up"),
            models.Index(fields=("price_down", "listing", "tier"), name="shelf_price_down"),
            models.Index(fields=("category", "unpopularity", "newest", "listing", "tier"), name="shelf_category_popular"),
            models.Index(fields=("category", "newest", "listing", "tier"), name="shelf_category_newest"),
            models.Index(fields=("category", "price_up", "listing", "tier"), name="shelf_category_price_up"),
            models.Index(fields=("category", "price_down", "listing", "tier"), name="shelf_category_price_down"),
        )

    def __str__(self) -> str:
        return f"{self.listing_id}"


class ShelfLabels(models.Model):
    """What else a listing for sale can be found under: `|tag:bold|license:personal|platform:figma|type:otf|`.

    A row of its own, which counting purchases never writes. PostgreSQL indexes the labels, SQLite looks through them.
    """

    item = models.OneToOneField(ShelfItem, primary_key=True, on_delete=models.CASCADE, related_name="labels")
    labels = models.TextField()

    def __str__(self) -> str:
        return self.labels


class ShelfCount(models.Model):
    """How many listings for sale there are in a category and tier: in all (no label), and of those with a label.

    Written under the catalog's generation, on which changes of the catalog queue anyway.
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
