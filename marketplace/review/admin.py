"""The audit log, the saved replies and the appeals in the admin, and the decision form that offers saved replies."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from django import forms
from django.apps import apps
from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from marketplace.core.errors import InvalidInput
from marketplace.core.models import AuditEntry
from marketplace.core.texts import clean_line

from .appeals import APPEAL_TRANSITIONS, WAITING, may_decide, overturn_decision, uphold_decision, without_own_decisions
from .base import EditableAdmin, ModelForm
from .decisions import CLAIMING, Decision, ReasonForm, claiming, service_decision
from .models import Appeal, SavedReply, SavedReplyUse
from .panels import Panel, history_panel
from .queues import QueueAdmin
from .saved_replies import REPLY_CHARS, active_replies, save_reply
from .search import SearchQuery
from .service import ServiceAdmin
from .subjects import action_label, add_subjects, kind_label, outcome


class SavedReplyReasonForm(ReasonForm):
    """A saved reply, a custom reason, or both."""

    use: SavedReplyUse
    # One of the two fields is needed, so neither is marked as optional.
    hide_optional = True
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
        reply = self.offered.get(cleaned.pop("reply", ""), "")
        cleaned["reason"] = "\n\n".join(filter(None, (reply, cleaned.get("reason", "").strip())))
        if not cleaned["reason"] and "reason" not in self.errors:
            self.add_error("reason", "Choose a saved reply, or write your own.")
        return cleaned


def saved_reply_form(use: SavedReplyUse, base: type[ReasonForm] = ReasonForm) -> type[ReasonForm]:
    """Return a decision form that adds saved replies of a decision to `base`."""
    return type("SavedReplyReasonForm", (SavedReplyReasonForm, base), {"use": use})


class SavedReplyForm(ModelForm):
    """A saved reply; its text is one line."""

    class Meta:
        model = SavedReply
        fields = ("use", "text", "is_active")

    def clean_text(self) -> str:
        try:
            return clean_line(self.cleaned_data["text"], "text", maximum=REPLY_CHARS)
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
    fixed_fields = ()


class LabelledFilter(admin.AllValuesFieldListFilter):
    """Filters by the kind of subject or by the action, with labels instead of the stored names."""

    def choices(self, changelist: Any) -> Iterator[Any]:
        """Yield Django's choices with our labels."""
        label = kind_label if self.field_path == "subject_type" else action_label
        all_choice, *others = super().choices(changelist)
        yield all_choice
        yield from ({**choice, "display": label(str(choice["display"]))} for choice in others)


@admin.register(AuditEntry)
class AuditEntryAdmin(ServiceAdmin):
    """The audit log, read-only."""

    list_display = ("at", "what", "subject", "who", "outcome", "reason")
    list_filter = (("subject_type", LabelledFilter), ("action", LabelledFilter))
    list_select_related = ("actor",)
    fields = ("at", "what", "subject", "who", "outcome", "reason", "data", "request_id")
    readonly_fields = fields
    search_fields = ("subject_id", "request_id", "actor__email")
    ordering = ("-id",)
    has_history = False
    found_title, found_detail = "action", "request_id"

    @admin.display(description="What", ordering="action")
    def what(self, entry: AuditEntry) -> str:
        return action_label(entry.action)

    @admin.display(description="Subject", ordering="subject_type")
    def subject(self, entry: Any) -> Any:
        return entry.subject.link

    @admin.display(description="Who", ordering="actor__email")
    def who(self, entry: AuditEntry) -> str:
        return str(entry.actor or "the service")

    @admin.display(description="Outcome", ordering="to_state")
    def outcome(self, entry: AuditEntry) -> Any:
        return outcome(entry) or "-"

    def name(self, subject: Any) -> str:
        return f"{action_label(subject.action)}, {subject.subject}"

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """Return the entry with the name of its subject."""
        entry = super().get_object(request, object_id, from_field)
        add_subjects([entry] if entry else [], self.admin_site, request)
        return entry

    def list_context(self, request: HttpRequest, changelist: Any) -> dict[str, Any]:
        """Look up the names of the subjects."""
        add_subjects(changelist.result_list, self.admin_site, request)
        return super().list_context(request, changelist)

    def find(self, query: SearchQuery) -> list[Q]:
        if not query.id:
            return [Q(request_id=query.text)]
        # The index of subjects begins with the type.
        types = [model._meta.label_lower for model in apps.get_models()]
        return [Q(pk=query.id), Q(request_id=query.text), Q(subject_type__in=types, subject_id=str(query.id))]


DECIDE_APPEAL = "review.decide_appeal"


def _is_open(appeal: Any) -> bool:
    return APPEAL_TRANSITIONS.allows(appeal, "dismiss")


@admin.register(Appeal)
class AppealAdmin(QueueAdmin):
    """Appeals against rejections, takedowns, suspensions and withdrawn approvals.

    Whoever took the decision does not decide on its appeal, except for a superuser where nobody else can.
    """

    waiting = WAITING
    list_display = ("submitted_at", "what", "subject", "appellant", "status", "waiting_time", "claim_mark", "decided_by")
    list_filter = ("status",)
    list_select_related = ("decision__actor", "appellant", "claimed_by", "decided_by")
    search_fields = ("appellant__email",)
    fields = (
        *("what", "subject", "decision_reason", "taken_by", "taken_at", "appellant", "text", "status", "submitted_at"),
        *("answer", "decided_at", "decided_by"),
    )
    readonly_fields = ("what", "subject", "decision_reason", "taken_by", "taken_at")
    decision_names = ("overturn", "uphold", *CLAIMING)
    owner, noun, review_permission = "appellant", "appeal", DECIDE_APPEAL
    page_decisions = {"overturn": "a", "uphold": "r"}
    claim, take_over, release = claiming(DECIDE_APPEAL, _is_open)
    found_title, found_detail = "appellant__email", "status"

    def name(self, subject: Appeal) -> str:
        return f"{action_label(subject.decision.action)}, appealed by {subject.appellant}"

    def find(self, query: SearchQuery) -> list[Q]:
        return [Q(pk=query.id)] if query.id else [Q(appellant__email=query.email or query.text)]

    def open_to(self, viewer: Any) -> QuerySet[Any]:
        """Leave out what the viewer decided, except for a superuser where nobody else can decide."""
        return without_own_decisions(super().open_to(viewer), viewer)

    def is_own(self, row: Appeal, viewer: Any) -> bool:
        """Tell whether the viewer is the appellant, or took the decision, except for a superuser where nobody else can decide."""
        return not may_decide(row, viewer)

    @admin.display(description="Decision", ordering="decision__action")
    def what(self, appeal: Appeal) -> str:
        return action_label(appeal.decision.action)

    @admin.display(description="About")
    def subject(self, appeal: Any) -> Any:
        return appeal.decision.subject.link

    @admin.display(description="Its reason")
    def decision_reason(self, appeal: Appeal) -> str:
        findings = [finding["message"] for finding in appeal.decision.data.get("findings", ())]
        return "\n".join(filter(None, [appeal.decision.reason, *findings])) or "-"

    @admin.display(description="Decision taken by")
    def taken_by(self, appeal: Appeal) -> str:
        return str(appeal.decision.actor or "the service")

    @admin.display(description="Decision taken at")
    def taken_at(self, appeal: Appeal) -> Any:
        return appeal.decision.at

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """Return the appeal with the name of what it is about."""
        appeal = super().get_object(request, object_id, from_field)
        add_subjects([appeal.decision] if appeal else [], self.admin_site, request)
        return appeal

    def list_context(self, request: HttpRequest, changelist: Any) -> dict[str, Any]:
        """Look up the names of what the appeals are about."""
        add_subjects([appeal.decision for appeal in changelist.result_list], self.admin_site, request)
        return super().list_context(request, changelist)

    def panels(self, request: HttpRequest, subject: Appeal) -> list[Panel]:
        """Return the history of what the decision is about, and of the appeal."""
        about = AuditEntry.objects.filter(subject_type=subject.decision.subject_type, subject_id=subject.decision.subject_id)
        decision: Any = subject.decision
        panel = replace(history_panel(about.select_related("actor")), title=f"History of {decision.subject}")
        return [panel, *super().panels(request, subject)]

    overturn = service_decision(
        Decision(
            "Overturn the decision",
            DECIDE_APPEAL,
            "What the decision is about is restored: a listing that was on sale is on sale again with the same file; other listings and rejected apps "
            "go back to review; stores and developers are approved; a suspended app works again. The owner gets an email with the reason.",
            "The decision was overturned.",
            available=_is_open,
        ),
        overturn_decision,
        "appeal",
    )

    uphold = service_decision(
        Decision(
            "Let the decision stand",
            DECIDE_APPEAL,
            "The decision is final. The owner gets an email with the reason.",
            "The decision stands.",
            available=_is_open,
            danger=True,
        ),
        uphold_decision,
        "appeal",
    )
