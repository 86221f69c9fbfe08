"""The catalogue of reasons to reject with: staff write it, reviewers tick it."""

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from marketplace.core.admin import staff_of

from ..models import RejectionReason
from ..services.findings import save_rejection_reason
from .forms import ReasonForm
from .taxonomy import EditedAdmin


@admin.register(RejectionReason)
class RejectionReasonAdmin(EditedAdmin):
    """Reasons by field; one that is no longer wanted is put out of use, since findings name it."""

    form = ReasonForm
    list_display = ("code", "field", "message", "is_active")
    list_filter = ("is_active",)
    search_fields = ("code", "field", "message")
    fixed = ("code",)

    def save_model(self, request: HttpRequest, obj: RejectionReason, form: "forms.ModelForm[RejectionReason]", change: bool) -> None:  # noqa: FBT001 - Django's signature
        """Keep the reason through its service."""
        save_rejection_reason(reason=obj, changed=form.changed_data, actor=staff_of(request))
