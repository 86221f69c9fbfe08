"""The admin of categories, licence tiers and their terms, synonyms, rejection reasons and stores."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from marketplace.core.ids import parse_id
from marketplace.review.base import EditableAdmin, json_text
from marketplace.review.service import ServiceAdmin

from ..field_labels import field_label
from ..models import Category, LicenseTerms, LicenseTier, RejectionReason, SearchSynonym, Store
from ..selectors.taxonomy import current_terms
from ..services.findings import save_rejection_reason
from ..services.taxonomy import publish_terms, save_category, save_license_tier, save_synonym
from ..uses import Use, UseTerms
from .forms import CategoryForm, RejectionReasonForm, SynonymForm
from .terms import LicenseTermsForm, LicenseTierForm


@admin.register(Category)
class CategoryAdmin(EditableAdmin):
    """Categories of the catalog."""

    form = CategoryForm
    # Otherwise the slug, which is read-only later, would be the last one.
    fields = CategoryForm.Meta.fields
    list_display = ("name", "slug", "sort_order", "is_active")
    list_filter = ("is_active",)
    search_fields = ("name", "slug")
    saved_by = save_category, "category"


@admin.register(LicenseTier)
class LicenseTierAdmin(EditableAdmin):
    """Licence tiers and their price factors."""

    form = LicenseTierForm
    list_display = ("name", "slug", "price_factor", "sort_order", "is_active", "new_terms")
    saved_by = save_license_tier, "tier"

    @admin.display(description="terms")
    def new_terms(self, tier: LicenseTier) -> str:
        return format_html('<a href="{}?tier={}">Publish new terms</a>', reverse("admin:catalog_licenseterms_add"), tier.pk)


@admin.register(SearchSynonym)
class SearchSynonymAdmin(EditableAdmin):
    """Synonyms of search words."""

    form = SynonymForm
    list_display = ("word", "synonyms", "is_active")
    list_filter = ("is_active",)
    search_fields = ("word", "synonyms")
    fixed_fields = ("word",)
    saved_by = save_synonym, "synonym"


@admin.register(LicenseTerms)
class LicenseTermsAdmin(EditableAdmin):
    """The versions of licence terms. New terms are added as the next version; no version is changed."""

    form = LicenseTermsForm
    list_display = ("__str__", "tier", "published_at")
    list_filter = ("tier",)
    search_fields = ("tier__name", "text")
    list_select_related = ("tier",)
    ordering = ("tier__sort_order", "-version")
    saved_by = publish_terms, "terms"

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: a change is a new version."""
        return False

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:  # noqa: FBT001, FBT002 - Django's signature
        """Return the form, which makes its own fields."""
        return self.form

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Return the fields of a version, or a new version's fields, by use."""
        if obj is not None:
            return [(None, {"fields": ["tier", "version", "name", "published_at", "sha256", "uses", "text"]})]
        return [(None, {"fields": ["tier", "text"]}), *((use.label, {"fields": self.form.field_names_of(use)}) for use in Use)]

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Return the newest terms of the tier that the address names."""
        tier_id = parse_id(request.GET.get("tier", ""))
        terms = current_terms().get(tier_id) if tier_id else None
        return {"tier": tier_id} if terms is None else self.form.initial_of(terms)

    @admin.display(description="uses")
    def uses(self, terms: LicenseTerms) -> str:
        return json_text({use.label: UseTerms.of(terms.permissions, use).summary for use in Use})


@admin.register(Store)
class StoreAdmin(ServiceAdmin):
    """Vendors' stores; approving or suspending the vendor opens or closes them."""

    list_display = ("name", "slug", "owner", "is_open")
    list_filter = ("is_open",)
    list_select_related = ("owner",)
    search_fields = ("name", "slug", "owner__email")
    ordering = ("name",)


@admin.register(RejectionReason)
class RejectionReasonAdmin(EditableAdmin):
    """The reasons that reviewers choose from when they reject a submission."""

    form = RejectionReasonForm
    list_display = ("code", "about", "message", "is_active")
    list_filter = ("is_active",)
    search_fields = ("code", "field", "message")
    fixed_fields = ("code",)
    saved_by = save_rejection_reason, "reason"

    @admin.display(description="field", ordering="field")
    def about(self, reason: RejectionReason) -> str:
        return field_label(reason.field)
