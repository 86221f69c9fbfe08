"""The admin of the editors' list for the start page."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from marketplace.core import bounds
from marketplace.core.errors import NotFound
from marketplace.review.base import EditableAdmin, ModelAdmin, ModelForm
from marketplace.review.service import staff_of
from marketplace.ui.formatting import badge

from ..models import FeaturedListing, Listing
from ..selectors.listings import listing_on_sale
from ..services.featured import remove_featured_listing, save_featured_listing


class FeaturedListingForm(ModelForm):
    """A listing by its slug, and its position."""

    listing = forms.CharField(
        max_length=bounds.SLUG_CHARS, help_text="The slug of a listing on sale: the last part of its address, such as hanken-grotesk."
    )

    class Meta:
        model = FeaturedListing
        fields = ("listing", "position")

    def clean_listing(self) -> Listing:
        try:
            listing = listing_on_sale(self.cleaned_data["listing"].lower())
        except NotFound as problem:
            raise forms.ValidationError("No listing on sale has this slug.", code="not_on_sale") from problem
        return listing


@admin.register(FeaturedListing)
class FeaturedListingAdmin(EditableAdmin):
    """The editors' list for the start page; listings that are not on sale are left out there."""

    form = FeaturedListingForm
    list_display = ("listing", "store", "status", "position", "added_at")
    list_select_related = ("listing__store",)
    list_filter = ("listing__status",)
    search_fields = ("listing__title", "listing__slug")
    fixed_fields = ("listing",)
    saved_by = save_featured_listing, "featured"

    @admin.display(description="store")
    def store(self, featured: FeaturedListing) -> str:
        return featured.listing.store.name

    @admin.display(description="status")
    def status(self, featured: FeaturedListing) -> str:
        return badge(featured.listing.status)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Allow staff with the permission: taking a listing off the list deletes nothing else."""
        return ModelAdmin.has_delete_permission(self, request, obj)

    def delete_model(self, request: HttpRequest, obj: FeaturedListing) -> None:
        remove_featured_listing(featured=obj, actor=staff_of(request))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[FeaturedListing]) -> None:
        for featured in queryset.select_related("listing"):
            remove_featured_listing(featured=featured, actor=staff_of(request))
