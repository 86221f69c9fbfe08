"""The admin of discounts, which vendors add and end; staff can end them too."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from marketplace.core import audit
from marketplace.review.decisions import Decision, service_decision
from marketplace.review.panels import Panel, history_panel
from marketplace.review.service import ServiceAdmin
from marketplace.ui.formatting import badge

from ..models import Discount
from ..models.discounts import DiscountStatus
from ..services.discounts import end_discount_as_staff


@admin.register(Discount)
class DiscountAdmin(ServiceAdmin):
    """All discounts."""

    list_display = ("listing", "percent", "code", "starts_at", "ends_at", "state")
    list_filter = (("code", admin.EmptyFieldListFilter),)
    list_select_related = ("listing",)
    fields = ("listing", "percent", "code", "starts_at", "ends_at", "state")
    readonly_fields = ("state",)
    search_fields = ("listing__slug", "listing__title", "code")
    ordering = ("-id",)
    decision_names = ("end",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Discount]:
        """Return the discounts with the time of the database."""
        rows: QuerySet[Any] = super().get_queryset(request).annotate(now=Now())
        return rows

    def name(self, subject: Discount) -> str:
        return f"{subject.listing}: {subject.percent} %"

    @admin.display(description="Status")
    def state(self, discount: Discount) -> str:
        return badge(discount.status)

    def panels(self, request: HttpRequest, subject: Discount) -> list[Panel]:
        """Return the history of the listing, which tells who added and ended its discounts."""
        return [history_panel(audit.history_of(subject.listing))]

    def after_decision(self, request: HttpRequest, subject: Discount) -> HttpResponse:
        """Return to the list: a discount that had not begun is deleted."""
        return HttpResponseRedirect(reverse("admin:catalog_discount_changelist"))

    end = service_decision(
        Decision(
            "End discount",
            "catalog.end_discount",
            "The discount ends at once; one that has not begun is deleted. Quotes that buyers have keep their price. The vendor gets the "
            "reason by mail.",
            "The discount has ended.",
            available=lambda discount: discount.status != DiscountStatus.ENDED,
            danger=True,
        ),
        end_discount_as_staff,
        "discount",
    )
