"""The audit log and the saved replies in the admin, and the decision form that offers saved replies."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.db.models import Q

from marketplace.core.errors import InvalidInput
from marketplace.core.models import AuditEntry
from marketplace.core.texts import line

from .base import EditableAdmin
from .decisions import ReasonForm
from .models import SavedReply, SavedReplyUse
from .saved_replies import REPLY_CHARS, active_replies, save_reply
from .search import SearchQuery
from .service import ServiceAdmin

if TYPE_CHECKING:
    SavedReplyModelForm = forms.ModelForm[SavedReply]
else:
    SavedReplyModelForm = forms.ModelForm


class RepliedReasonForm(ReasonForm):
    """A saved reply, a custom reason, or both."""

    use: SavedReplyUse
    reply = forms.ChoiceField(label="Saved reply", required=False)
    field_order = ("reply", "reason")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.offered = {str(reply.pk): reply.text for reply in active_replies(self.use)}
        self.fields["reply"].choices = [("", "None (use my own text)"), *self.offered.items()]  # type: ignore[attr-defined]  # it is a choice field
        self.fields["reason"].required = False
        if not self.offered:
            del self.fields["reply"]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        reply = self.offered.get(cleaned.get("reply", ""), "")
        cleaned["reason"] = "\n\n".join(filter(None, (reply, cleaned.get("reason", "").strip())))
        if not cleaned["reason"] and "reason" not in self.errors:
            self.add_error("reason", "Choose a saved reply, or write your own.")
        return cleaned


def saved_reply_form(use: SavedReplyUse, base: type[ReasonForm] = ReasonForm) -> type[ReasonForm]:
    """Return a decision form that extends `base` by the saved replies of a decision."""
    return type("SavedReplyReasonForm", (RepliedReasonForm, base) if base is not ReasonForm else (RepliedReasonForm,), {"use": use})


class SavedReplyForm(SavedReplyModelForm):
    """A saved reply; its text is one line."""

    class Meta:
        model = SavedReply
        fields = ("use", "text", "is_active")

    def clean_text(self) -> str:
        try:
            return line(self.cleaned_data["text"], "text", maximum=REPLY_CHARS)
        except InvalidInput as problem:
            raise forms.ValidationError(problem.message) from problem


@admin.register(SavedReply)
class SavedReplyAdmin(EditableAdmin):
    """Saved replies by decision."""

    form = SavedReplyForm
    saved_by = save_reply, "reply"
    list_display = ("text", "use", "is_active")
    list_filter = ("use", "is_active")
    search_fields = ("text",)
    fixed = ()


@admin.register(AuditEntry)
class AuditEntryAdmin(ServiceAdmin):
    """The audit log of decisions and credentials, read-only."""

    list_display = ("at", "action", "actor", "subject_type", "from_state", "to_state", "reason")
    list_filter = ("subject_type", "action")
    list_select_related = ("actor",)
    search_fields = ("subject_id", "request_id", "actor__email")
    ordering = ("-id",)
    found_title, found_detail = "action", "request_id"

    def find(self, query: SearchQuery) -> list[Q]:
        return [Q(request_id=query.text), *([Q(pk=query.id)] if query.id else [])]
