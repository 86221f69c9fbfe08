"""The admin of listings, with the decision to take one down."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import SEARCH_VAR
from django.db.models import Q
from django.http import HttpRequest

from marketplace.review.decisions import service_decision
from marketplace.review.panels import Panel
from marketplace.review.search import SearchQuery
from marketplace.review.service import ServiceAdmin
from marketplace.ui.formatting import badge, money

from ..models import Listing, ListingReview
from ..search import search
from ..services import review as services
from .filters import EditedFilter
from .takedowns import takedown_decision
from .values import changes_since_approval

CELL_CHARS = 500
# Results taken from the catalog's search.
MAX_HITS = 50


@admin.register(Listing)
class ListingAdmin(ServiceAdmin):
    """All listings, with the changes since the last approval."""

    list_display = ("title", "store", "category", "price", "status", "update_status", "tier_requirement", "published_at", "updated_at")
    list_filter = (EditedFilter, "status", "update_status", "category", "tier_requirement")
    list_select_related = ("store", "category")
    search_fields = ("title", "slug", "store__name")
    ordering = ("-id",)
    decision_names = ("takedown",)
    found_title, found_detail = "title", "status"

    @admin.display(description="Price", ordering="base_price_minor")
    def price(self, listing: Listing) -> str:
        return money(listing.base_price_minor, "USD")

    def get_list_filter(self, request: HttpRequest) -> Any:
        """Leave out the category filter in a search that does not use it: its choices cost a query."""
        filters = super().get_list_filter(request)
        unused = request.GET.get(SEARCH_VAR) and "category__id__exact" not in request.GET
        return [each for each in filters if each != "category"] if unused else filters

    def find(self, query: SearchQuery) -> list[Q]:
        """Return conditions for an id, a vendor's email address, a slug, a store, or the hits of the catalog's search."""
        if query.id:
            return [Q(pk=query.id)]
        if query.email:
            return [Q(store__owner__email=query.email)]
        hits = [hit.id for hit in search(query.text, limit=MAX_HITS).hits]
        slug = query.text.lower()
        return [Q(slug=slug), Q(pk__in=hits), Q(store__slug=slug)]

    def panels(self, request: HttpRequest, subject: Listing) -> list[Panel]:
        found = ListingReview.objects.filter(listing=subject).select_related("decided_by").order_by("-id")
        reviews = [
            (
                f"{review.submitted_at:%Y-%m-%d %H:%M}",
                review.kind,
                badge(review.status),
                review.decided_by,
                ", ".join(finding["code"] for finding in review.findings),
            )
            for review in found.only("submitted_at", "kind", "status", "findings", "decided_by__email")
        ]
        return [
            Panel("Reviews", ("Submitted (UTC)", "Kind", "Outcome", "By", "Findings"), reviews),
            Panel(
                "Changed since the last approval",
                ("Field", "Approved", "Now"),
                [tuple(cell[:CELL_CHARS] for cell in change) for change in changes_since_approval(subject)],
                "Nothing, or it was never approved.",
            ),
            *super().panels(request, subject),
        ]

    takedown = service_decision(takedown_decision(lambda listing: listing), services.takedown_listing, "listing")
