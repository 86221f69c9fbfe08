"""The pages that the operator writes, in the admin."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db import models
from django.http import HttpRequest

from marketplace.review.base import EditableAdmin
from marketplace.ui.forms import Prose

from .models import SitePage
from .site_pages import save_site_page


@admin.register(SitePage)
class SitePageAdmin(EditableAdmin):
    """Terms, privacy, refunds and contact."""

    list_display = ("slug", "is_written", "updated_at")
    fields = ("slug", "text")
    saved_by = save_site_page, "page"
    formfield_overrides = {models.TextField: {"form_class": Prose, "widget": forms.Textarea(attrs={"rows": 24})}}

    @admin.display(description="written")
    def is_written(self, page: SitePage) -> str:
        return "yes" if page.text else "no"

    def has_add_permission(self, request: HttpRequest, *_args: Any) -> bool:
        """Return False: every installation begins with all pages."""
        return False
