"""Listings: look at all of them, take down what must go."""

from collections.abc import Mapping
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from unfold.enums import ActionVariant

from marketplace.accounts.models import User
from marketplace.core.admin import Decision, Panel, ServiceAdmin, decision

from ..models import Listing
from ..models.listings import ListingStatus
from ..services import review as services
from .filters import EditedFilter
from .reviews import TAKEDOWN
from .words import changes_in_words

CELL_CHARS = 500


@admin.register(Listing)
class ListingAdmin(ServiceAdmin):
    """Every listing as it stands, with what its vendor changed since the last approval."""

    list_display = ("title", "store", "category", "status", "update_status", "tier_requirement", "published_at", "updated_at")
    list_filter = (EditedFilter, "status", "update_status", "category", "tier_requirement")
    list_select_related = ("store", "category")
    search_fields = ("title", "slug", "store__name")
    ordering = ("-id",)
    actions_detail = ("takedown",)

    def panels(self, request: HttpRequest, subject: Listing) -> list[Panel]:
        """Return the reviews, the changes since the last approval and the history."""
        reviews = [
            (
                f"{review.submitted_at:%Y-%m-%d %H:%M}",
                review.kind,
                review.status,
                review.decided_by,
                ", ".join(f["code"] for f in review.findings),
            )
            for review in subject.reviews.select_related("decided_by").order_by("-id")
        ]
        return [
            Panel("Reviews", ("Submitted (UTC)", "Kind", "Outcome", "By", "Findings"), reviews),
            Panel(
                "Changed since the last approval",
                ("Field", "Approved", "Now"),
                [tuple(cell[:CELL_CHARS] for cell in change) for change in changes_in_words(subject)],
                "Nothing, or it was never approved.",
            ),
            *super().panels(request, subject),
        ]

    @decision(
        Decision(
            "Take down",
            TAKEDOWN,
            "The listing leaves the catalog at once. Who bought it can still download it. The vendor gets the reason by mail.",
            "The listing is taken down.",
            available=lambda listing: listing.status == ListingStatus.PUBLISHED,
            variant=ActionVariant.DANGER,
        )
    )
    def takedown(self, listing: Listing, actor: User, answers: Mapping[str, Any]) -> None:
        """Take the listing off sale."""
        services.takedown_listing(listing=listing, reason=answers["reason"], actor=actor)
