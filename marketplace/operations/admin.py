"""The admin of the operator's pages."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from marketplace.review.base import EditedAdmin

from .models import SitePage
from .site_pages import save_site_page


@admin.register(SitePage)
class SitePageAdmin(EditedAdmin):
    """Terms, privacy, refunds and contact."""

    list_display = ("slug", "is_written", "updated_at")
    fields = ("slug", "text")
    fixed = ("slug",)
    saved_by = save_site_page, "page"

    @admin.display(description="written", boolean=True)
    def is_written(self, page: SitePage) -> bool:
        """Tell whether the operator has written the page."""
        return bool(page.text)

    def has_add_permission(self, request: HttpRequest, *_args: Any) -> bool:
        """Return False: every installation begins with all pages."""
        return False
