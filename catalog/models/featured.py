"""The editors' list of listings for the start page."""

from django.db import models

from marketplace.core.ids import new_id

from .listings import Listing


class FeaturedListing(models.Model):
    """A listing that editors show on the start page while it is on sale; the lowest position comes first."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    listing = models.OneToOneField(Listing, on_delete=models.CASCADE, related_name="featured")
    position = models.PositiveSmallIntegerField(default=0, help_text="The lowest comes first.")
    added_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("position", "id")

    def __str__(self) -> str:
        return self.listing.title
