"""Approvals in the admin: read-only, since only the wallet's owner decides."""

from django.contrib import admin
from django.db.models import Q

from marketplace.review.search import SearchQuery
from marketplace.review.service import ServiceAdmin

from ..models import Approval
from .lists import money_column


@admin.register(Approval)
class ApprovalAdmin(ServiceAdmin):
    """Purchases above a spending limit that wait, or waited, for the wallet's owner."""

    list_display = ("created_at", "owner", "spender_name", "title", "price", "current_status", "expires_at")
    list_filter = ("status",)
    list_select_related = ("owner", "quote__listing")
    search_fields = ("owner__email", "spender_name")
    fields = (
        *("owner", "title", "price", "spender_name", "app", "exceeded_limit", "reason"),
        *("current_status", "created_at", "expires_at", "decided_at", "order"),
    )
    readonly_fields = ("title", "price", "current_status")
    found_title, found_detail = "owner__email", "status"
    price = money_column("Price", "quote.price_minor", "quote.currency")

    def name(self, subject: Approval) -> str:
        return f"{self.title(subject)}, {self.price(subject)}"

    def find(self, query: SearchQuery) -> list[Q]:
        if query.id:
            return [Q(pk=query.id), Q(order=query.id)]
        return [Q(owner__email=query.email)] if query.email else [Q(quote__listing__slug=query.text)]

    @admin.display(description="Asset", ordering="quote__listing__title")
    def title(self, approval: Approval) -> str:
        return approval.quote.listing.title

    @admin.display(description="Status", ordering="status")
    def current_status(self, approval: Approval) -> str:
        return approval.current_status.value
