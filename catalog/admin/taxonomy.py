"""The admin of categories, licence tiers, synonyms, rejection reasons and stores."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from marketplace.review.base import Base
from marketplace.review.service import ServiceAdmin, staff_of

from ..models import Category, LicenseTier, RejectionReason, RetiredTerms, SearchSynonym, Store
from ..services.findings import save_rejection_reason
from ..services.taxonomy import save_category, save_license_tier, save_synonym
from .forms import ReasonForm, SynonymForm


class EditedAdmin(Base):
    """Base for rows that staff edit; they are deactivated, not deleted."""

    # Fields that are read-only once the row exists, because other data refers to them.
    fixed: tuple[str, ...] = ("slug",)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: listings and sold licences refer to these rows."""
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Return the fixed fields of an existing row."""
        return self.fixed if obj is not None else ()


@admin.register(Category)
class CategoryAdmin(EditedAdmin):
    """Categories of the catalog."""

    list_display = ("name", "slug", "sort_order", "is_active")
    search_fields = ("name", "slug")
    fields = ("slug", "name", "description", "icon", "sort_order", "metadata", "is_active")

    def save_model(self, request: HttpRequest, obj: Category, form: "forms.ModelForm[Category]", change: bool) -> None:  # noqa: FBT001 - Django's signature
        """Save the category through its service."""
        save_category(category=obj, changed=form.changed_data, actor=staff_of(request))


@admin.register(LicenseTier)
class LicenseTierAdmin(EditedAdmin):
    """Licences and their price factors."""

    list_display = ("name", "slug", "price_factor", "sort_order", "is_active")
    fields = ("slug", "name", "summary", "text", "price_factor", "sort_order", "is_active")

    def save_model(self, request: HttpRequest, obj: LicenseTier, form: "forms.ModelForm[LicenseTier]", change: bool) -> None:  # noqa: FBT001 - Django's signature
        """Save the licence tier through its service."""
        save_license_tier(tier=obj, changed=form.changed_data, actor=staff_of(request))


@admin.register(SearchSynonym)
class SearchSynonymAdmin(EditedAdmin):
    """Synonyms of search words."""

    form = SynonymForm
    list_display = ("word", "synonyms", "is_active")
    list_filter = ("is_active",)
    search_fields = ("word", "synonyms")
    fixed = ("word",)

    def save_model(self, request: HttpRequest, obj: SearchSynonym, form: "forms.ModelForm[SearchSynonym]", change: bool) -> None:  # noqa: FBT001 - Django's signature
        """Save the entry through its service."""
        save_synonym(synonym=obj, changed=form.changed_data, actor=staff_of(request))


@admin.register(RetiredTerms)
class RetiredTermsAdmin(ServiceAdmin):
    """Former terms of licence tiers, which still apply to earlier purchases."""

    list_display = ("tier", "name", "until")
    list_filter = ("tier",)
    list_select_related = ("tier",)
    ordering = ("-until",)


@admin.register(Store)
class StoreAdmin(ServiceAdmin):
    """Vendors' stores; approving or suspending the vendor opens or closes them."""

    list_display = ("name", "slug", "owner", "is_open")
    list_filter = ("is_open",)
    list_select_related = ("owner",)
    search_fields = ("name", "slug", "owner__email")
    ordering = ("name",)


@admin.register(RejectionReason)
class RejectionReasonAdmin(EditedAdmin):
    """Rejection reasons by field; they are deactivated rather than deleted, because findings refer to them."""

    form = ReasonForm
    list_display = ("code", "field", "message", "is_active")
    list_filter = ("is_active",)
    search_fields = ("code", "field", "message")
    fixed = ("code",)

    def save_model(self, request: HttpRequest, obj: RejectionReason, form: "forms.ModelForm[RejectionReason]", change: bool) -> None:  # noqa: FBT001 - Django's signature
        """Save the reason through its service."""
        save_rejection_reason(reason=obj, changed=form.changed_data, actor=staff_of(request))
