"""Licences and download links in the admin: to look at. A licence ends with a refund of its order."""

from django.contrib import admin

from marketplace.review.service import ServiceAdmin

from .models import DownloadLink, Licence


@admin.register(Licence)
class LicenceAdmin(ServiceAdmin):
    """Who owns what."""

    list_display = ("acquired_at", "buyer", "listing", "tier", "revoked_at")
    list_filter = ("tier",)
    list_select_related = ("buyer", "listing", "tier")
    search_fields = ("buyer__email", "listing__slug")
    ordering = ("-id",)
    readonly_fields = ("order_id",)


@admin.register(DownloadLink)
class DownloadLinkAdmin(ServiceAdmin):
    """Who was given what, and through which credential."""

    list_display = ("issued_at", "user", "listing", "version", "app", "credential_kind")
    list_filter = ("credential_kind",)
    list_select_related = ("user", "listing", "app")
    search_fields = ("user__email", "listing__slug", "request_id")
    ordering = ("-id",)
