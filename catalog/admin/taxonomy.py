"""The admin of categories, licence tiers, synonyms, rejection reasons and stores."""

from django.contrib import admin

from marketplace.review.base import EditableAdmin
from marketplace.review.service import ServiceAdmin

from ..field_names import field_name
from ..models import Category, LicenseTier, RejectionReason, RetiredTerms, SearchSynonym, Store
from ..services.findings import save_rejection_reason
from ..services.taxonomy import save_category, save_license_tier, save_synonym
from .forms import RejectionReasonForm, SynonymForm


@admin.register(Category)
class CategoryAdmin(EditableAdmin):
    """Categories of the catalog."""

    list_display = ("name", "slug", "sort_order", "is_active")
    search_fields = ("name", "slug")
    fields = ("slug", "name", "description", "icon", "sort_order", "metadata", "is_active")
    saved_by = save_category, "category"


@admin.register(LicenseTier)
class LicenseTierAdmin(EditableAdmin):
    """Licences and their price factors."""

    list_display = ("name", "slug", "price_factor", "sort_order", "is_active")
    fields = ("slug", "name", "summary", "text", "price_factor", "sort_order", "is_active")
    saved_by = save_license_tier, "tier"


@admin.register(SearchSynonym)
class SearchSynonymAdmin(EditableAdmin):
    """Synonyms of search words."""

    form = SynonymForm
    list_display = ("word", "synonyms", "is_active")
    list_filter = ("is_active",)
    search_fields = ("word", "synonyms")
    fixed = ("word",)
    saved_by = save_synonym, "synonym"


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
class RejectionReasonAdmin(EditableAdmin):
    """Rejection reasons by field."""

    form = RejectionReasonForm
    list_display = ("code", "about", "message", "is_active")
    list_filter = ("is_active",)
    search_fields = ("code", "field", "message")
    fixed = ("code",)
    saved_by = save_rejection_reason, "reason"

    @admin.display(description="field", ordering="field")
    def about(self, reason: RejectionReason) -> str:
        """Return the label of the field."""
        return field_name(reason.field)
