"""The admin of licences and download links, read-only. A refund of the order revokes a licence."""

from django.contrib import admin

from marketplace.review.service import ServiceAdmin

from .models import DownloadLink, Licence


@admin.register(Licence)
class LicenceAdmin(ServiceAdmin):
    """All licences."""

    list_display = ("acquired_at", "holder", "licensee_email", "listing", "tier", "claimed_at", "replaced_at", "revoked_at")
    list_filter = ("tier",)
    list_select_related = ("holder", "listing", "tier")
    search_fields = ("holder__email", "licensee_email", "listing__slug")
    search_help_text = "A whole email address or slug"
    searches_whole_values = True
    ordering = ("-id",)
    readonly_fields = ("order_id",)
    exclude = ("claim_digest",)


@admin.register(DownloadLink)
class DownloadLinkAdmin(ServiceAdmin):
    """All issued download links, with the credential that requested them."""

    list_display = ("issued_at", "user", "listing", "version", "app", "credential_kind")
    list_filter = ("credential_kind",)
    list_select_related = ("user", "listing", "app")
    search_fields = ("user__email", "listing__slug", "request_id")
    search_help_text = "A whole email address, slug or request id"
    searches_whole_values = True
    ordering = ("-id",)
