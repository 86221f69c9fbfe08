"""The admin of discounts, read-only: vendors add and end them."""

from django.contrib import admin

from marketplace.review.service import ServiceAdmin

from ..models import Discount


@admin.register(Discount)
class DiscountAdmin(ServiceAdmin):
    """All discounts."""

    list_display = ("listing", "percent", "code", "starts_at", "ends_at")
    list_filter = (("code", admin.EmptyFieldListFilter),)
    list_select_related = ("listing",)
    search_fields = ("listing__slug", "listing__title", "code")
    ordering = ("-id",)
